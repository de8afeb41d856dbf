WITH friends AS (
    SELECT k.b AS id FROM knows k WHERE k.a = $personId
    UNION
    SELECT l.b FROM knows k JOIN knows l ON l.a = k.b WHERE k.a = $personId AND l.b <> $personId
), counted AS (
    SELECT p.id, p.firstName, p.lastName,
        count(*) FILTER (m.country = x.id) AS xCount, count(*) FILTER (m.country = y.id) AS yCount
    FROM friends f
    JOIN person p ON p.id = f.id
    JOIN city c ON c.id = p.city
    JOIN message m ON m.creator = f.id
    JOIN country x ON x.name = $countryX
    JOIN country y ON y.name = $countryY
    WHERE c.country NOT IN (x.id, y.id) AND m.country IN (x.id, y.id)
        AND m.creationDate >= $startDate AND m.creationDate < $endDate
    GROUP BY ALL
)
SELECT *, xCount + yCount AS messages FROM counted
WHERE xCount > 0 AND yCount > 0
ORDER BY messages DESC, id
LIMIT 20
