SELECT p.id, p.firstName, p.lastName, m.id, coalesce(m.content, m.imageFile), m.creationDate
FROM knows k JOIN message m ON m.creator = k.b JOIN person p ON p.id = k.b
WHERE k.a = $personId AND m.creationDate <= $maxDate
ORDER BY m.creationDate DESC, m.id
LIMIT 20
