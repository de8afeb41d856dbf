// Friends and their friends who wrote from both of two countries, in neither of which they live, within some time.
MATCH (person:Person {id: $personId})-[:KNOWS*1..2]-(friend:Person)<-[:HAS_CREATOR]-(x:Post:Comment),
      (x)-[:IS_LOCATED_IN]->(countryX:Country {name: $countryX})
WHERE person <> friend AND NOT (friend)-[:IS_LOCATED_IN]->(:City)-[:IS_PART_OF]->(countryX)
    AND x.creationDate >= $startDate AND x.creationDate < $endDate
WITH friend, count(DISTINCT x) AS xCount
MATCH (friend)<-[:HAS_CREATOR]-(y:Post:Comment)-[:IS_LOCATED_IN]->(countryY:Country {name: $countryY})
WHERE NOT (friend)-[:IS_LOCATED_IN]->(:City)-[:IS_PART_OF]->(countryY)
    AND y.creationDate >= $startDate AND y.creationDate < $endDate
WITH friend.id AS personId, friend.firstName AS firstName, friend.lastName AS lastName, xCount,
    count(DISTINCT y) AS yCount
RETURN personId, firstName, lastName, xCount, yCount, xCount + yCount AS messages
ORDER BY messages DESC, personId
LIMIT 20
