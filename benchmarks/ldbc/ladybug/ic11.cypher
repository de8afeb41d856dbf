// Friends and their friends who began to work in a country before a year.
MATCH (person:Person {id: $personId})-[:KNOWS*1..2]-(friend:Person)
WHERE person <> friend
WITH DISTINCT friend
MATCH (friend)-[works:WORK_AT]->(company:Company)-[:IS_LOCATED_IN]->(:Country {name: $countryName})
WHERE works.workFrom < $workFromYear
RETURN friend.id AS personId, friend.firstName AS firstName, friend.lastName AS lastName, company.name AS companyName,
    works.workFrom AS workFrom
ORDER BY workFrom, personId, companyName DESC
LIMIT 10
