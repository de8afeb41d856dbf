// The latest replies to the messages of a person.
MATCH (:Person {id: $personId})<-[:HAS_CREATOR]-(:Message)<-[:REPLY_OF]-(reply:Comment)-[:HAS_CREATOR]->(author:Person)
RETURN author.id AS personId, author.firstName AS firstName, author.lastName AS lastName,
    reply.creationDate AS created, reply.id AS replyId, reply.content AS content
ORDER BY created DESC, replyId
LIMIT 20
