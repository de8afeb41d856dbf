WITH direct AS (
    SELECT k.b AS id FROM knows k WHERE k.a = $personId
), further AS (
    SELECT DISTINCT p.*
    FROM direct d JOIN knows k ON k.a = d.id JOIN person p ON p.id = k.b
    WHERE p.id <> $personId AND p.id NOT IN (SELECT id FROM direct)
        AND (month(p.birthday) = $month AND day(p.birthday) >= 21
            OR month(p.birthday) = $month % 12 + 1 AND day(p.birthday) < 22)
), shared AS (
    SELECT DISTINCT mt.message FROM message_tag mt JOIN interest i ON i.tag = mt.tag WHERE i.person = $personId
)
SELECT f.id, f.firstName, f.lastName, 2 * count(s.message) - count(m.id) AS score, f.gender, c.name
FROM further f
JOIN city c ON c.id = f.city
LEFT JOIN message m ON m.creator = f.id AND m.isPost
LEFT JOIN shared s ON s.message = m.id
GROUP BY ALL
ORDER BY score DESC, f.id
LIMIT 10
