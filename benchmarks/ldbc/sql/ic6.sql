WITH friends AS (
    SELECT k.b AS id FROM knows k WHERE k.a = $personId
    UNION
    SELECT l.b FROM knows k JOIN knows l ON l.a = k.b WHERE k.a = $personId AND l.b <> $personId
)
SELECT t.name, count(*) AS posts
FROM tag known
JOIN message_tag a ON a.tag = known.id
JOIN message m ON m.id = a.message AND m.isPost
JOIN friends f ON f.id = m.creator
JOIN message_tag b ON b.message = a.message AND b.tag <> a.tag
JOIN tag t ON t.id = b.tag
WHERE known.name = $tagName
GROUP BY t.id, t.name
ORDER BY posts DESC, t.name
LIMIT 10
