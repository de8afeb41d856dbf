// The latest messages of friends, up to a date.
MATCH (:Person {id: $personId})-[:KNOWS]-(friend:Person)<-[:HAS_CREATOR]-(message:Message)
WHERE message.creationDate <= $maxDate
RETURN friend.id AS personId, friend.firstName AS firstName, friend.lastName AS lastName, message.id AS messageId,
    coalesce(message.content, message.imageFile) AS content, message.creationDate AS created
ORDER BY created DESC, messageId
LIMIT 20
