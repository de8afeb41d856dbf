// Forums that friends and their friends joined after a date, by how many posts these wrote in them.
MATCH (person:Person {id: $personId})-[:KNOWS*1..2]-(friend:Person)<-[membership:HAS_MEMBER]-(forum:Forum)
WHERE membership.joinDate > $minDate AND person <> friend
WITH DISTINCT friend, forum
OPTIONAL MATCH (friend)<-[:HAS_CREATOR]-(post:Post)<-[:CONTAINER_OF]-(forum)
WITH forum, count(post) AS posts
RETURN forum.title AS title, posts, forum.id AS forumId
ORDER BY posts DESC, forumId
LIMIT 20
