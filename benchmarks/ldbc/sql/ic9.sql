WITH friends AS (
    SELECT k.b AS id FROM knows k WHERE k.a = $personId
    UNION
    SELECT l.b FROM knows k JOIN knows l ON l.a = k.b WHERE k.a = $personId AND l.b <> $personId
)
SELECT p.id, p.firstName, p.lastName, m.id, coalesce(m.content, m.imageFile), m.creationDate
FROM friends f JOIN person p ON p.id = f.id JOIN message m ON m.creator = f.id
WHERE m.creationDate < $maxDate
ORDER BY m.creationDate DESC, m.id
LIMIT 20
