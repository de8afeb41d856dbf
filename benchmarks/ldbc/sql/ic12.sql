WITH RECURSIVE classes(id) AS (
    SELECT id FROM tagclass WHERE name = $tagClassName
    UNION
    SELECT c.id FROM classes JOIN tagclass c ON c.parent = classes.id
)
SELECT p.id, p.firstName, p.lastName, list(DISTINCT t.name), count(DISTINCT r.id) AS replies
FROM knows k
JOIN person p ON p.id = k.b
JOIN message r ON r.creator = k.b AND NOT r.isPost
JOIN message m ON m.id = r.replyOf AND m.isPost
JOIN message_tag mt ON mt.message = m.id
JOIN tag t ON t.id = mt.tag
JOIN classes c ON c.id = t.class
WHERE k.a = $personId
GROUP BY p.id, p.firstName, p.lastName
ORDER BY replies DESC, p.id
LIMIT 20
