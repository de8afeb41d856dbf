// Who liked a message of a person last, which one, how many minutes after it was written, and whether they are strangers.
MATCH (person:Person {id: $personId})<-[:HAS_CREATOR]-(message:Message)<-[like:LIKES]-(liker:Person)
WITH liker, person, message, like.creationDate AS likeTime
ORDER BY likeTime DESC, message.id
WITH liker, person, head(collect({id: message.id, content: coalesce(message.content, message.imageFile),
    created: message.creationDate, time: likeTime})) AS latest
RETURN liker.id AS personId, liker.firstName AS firstName, liker.lastName AS lastName, latest.time AS likeTime,
    latest.id AS messageId, latest.content AS content,
    duration.inSeconds(latest.created, latest.time).minutes AS minutes,
    NOT EXISTS { (liker)-[:KNOWS]-(person) } AS isNew
ORDER BY likeTime DESC, personId
LIMIT 20
