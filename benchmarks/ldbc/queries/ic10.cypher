// Friends of friends born in a month's sign, by how many more of their posts have a tag of interest than have none.
MATCH (person:Person {id: $personId})-[:KNOWS*2..2]-(friend:Person)-[:IS_LOCATED_IN]->(city:City)
WHERE friend <> person AND NOT (friend)-[:KNOWS]-(person)
    AND (friend.birthday.month = $month AND friend.birthday.day >= 21
        OR friend.birthday.month = $month % 12 + 1 AND friend.birthday.day < 22)
WITH DISTINCT friend, city, person
OPTIONAL MATCH (friend)<-[:HAS_CREATOR]-(post:Post)
WITH friend, city, post, CASE WHEN EXISTS { (post)-[:HAS_TAG]->(:Tag)<-[:HAS_INTEREST]-(person) } THEN 1
    ELSE 0 END AS common
WITH friend, city, count(post) AS posts, sum(common) AS shared
RETURN friend.id AS personId, friend.firstName AS firstName, friend.lastName AS lastName,
    shared - (posts - shared) AS score, friend.gender AS gender, city.name AS cityName
ORDER BY score DESC, personId
LIMIT 10
