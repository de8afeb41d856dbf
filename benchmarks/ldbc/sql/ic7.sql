WITH latest AS (
    SELECT l.person, l.creationDate AS likeTime, m.id, coalesce(m.content, m.imageFile) AS content, m.creationDate
    FROM message m JOIN likes l ON l.message = m.id
    WHERE m.creator = $personId
    QUALIFY row_number() OVER (PARTITION BY l.person ORDER BY l.creationDate DESC, m.id) = 1
)
SELECT p.id, p.firstName, p.lastName, x.likeTime, x.id, x.content,
    (epoch_us(x.likeTime) - epoch_us(x.creationDate)) // 60000000,
    NOT EXISTS (FROM knows k WHERE k.a = $personId AND k.b = p.id)
FROM latest x JOIN person p ON p.id = x.person
ORDER BY x.likeTime DESC, p.id
LIMIT 20
