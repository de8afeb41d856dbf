// The latest messages of friends and their friends, before a date.
MATCH (person:Person {id: $personId})-[:KNOWS*1..2]-(friend:Person)
WHERE person <> friend
WITH DISTINCT friend
MATCH (friend)<-[:HAS_CREATOR]-(message:Post:Comment)
WHERE message.creationDate < $maxDate
RETURN friend.id AS personId, friend.firstName AS firstName, friend.lastName AS lastName, message.id AS messageId,
    coalesce(message.content, message.imageFile) AS content, message.creationDate AS created
ORDER BY created DESC, messageId
LIMIT 20
