SELECT p.id, p.firstName, p.lastName, r.creationDate, r.id, r.content
FROM message m JOIN message r ON r.replyOf = m.id JOIN person p ON p.id = r.creator
WHERE m.creator = $personId
ORDER BY r.creationDate DESC, r.id
LIMIT 20
