// Tags of posts that friends wrote within some time, and of none that they wrote before.
MATCH (:Person {id: $personId})-[:KNOWS]-(friend:Person)<-[:HAS_CREATOR]-(post:Post)-[:HAS_TAG]->(tag:Tag)
WITH DISTINCT tag, post
WITH tag, CASE WHEN $startDate <= post.creationDate AND post.creationDate < $endDate THEN 1 ELSE 0 END AS within,
    CASE WHEN post.creationDate < $startDate THEN 1 ELSE 0 END AS before
WITH tag, sum(within) AS posts, sum(before) AS earlier
WHERE posts > 0 AND earlier = 0
RETURN tag.name AS tagName, posts
ORDER BY posts DESC, tagName
LIMIT 10
