// Friends of friends of friends with a given first name, nearest first, with where they live, studied and work.
MATCH (p:Person {id: $personId}), (friend:Person {firstName: $firstName})
WHERE p <> friend
MATCH path = (p)-[:KNOWS* SHORTEST 1..3]-(friend)
WITH friend, length(path) AS distance
ORDER BY distance, friend.lastName, friend.id
LIMIT 20
MATCH (friend)-[:IS_LOCATED_IN]->(city:City)
OPTIONAL MATCH (friend)-[studied:STUDY_AT]->(uni:University)-[:IS_LOCATED_IN]->(uniCity:City)
WITH friend, distance, city, collect(CASE WHEN uni.id IS NULL THEN null
    ELSE uni.name + ', ' + CAST(studied.classYear, "STRING") + ', ' + uniCity.name END) AS universities
OPTIONAL MATCH (friend)-[works:WORK_AT]->(company:Company)-[:IS_LOCATED_IN]->(country:Country)
WITH friend, distance, city, universities, collect(CASE WHEN company.id IS NULL THEN null
    ELSE company.name + ', ' + CAST(works.workFrom, "STRING") + ', ' + country.name END) AS companies
RETURN friend.id AS friendId, friend.lastName AS lastName, distance, friend.birthday AS birthday,
    friend.creationDate AS created, friend.gender AS gender, friend.browserUsed AS browser,
    friend.locationIP AS locationIP, city.name AS cityName, universities, companies
ORDER BY distance, lastName, friendId
