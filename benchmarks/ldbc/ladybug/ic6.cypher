// Tags that stand beside a given one on posts of friends and their friends.
MATCH (person:Person {id: $personId})-[:KNOWS*1..2]-(friend:Person)
WHERE person <> friend
WITH DISTINCT friend
MATCH (friend)<-[:HAS_CREATOR]-(post:Post)-[:HAS_TAG]->(known:Tag {name: $tagName})
MATCH (post)-[:HAS_TAG]->(beside:Tag)
WHERE beside <> known
RETURN beside.name AS tagName, count(DISTINCT post) AS posts
ORDER BY posts DESC, tagName
LIMIT 10
