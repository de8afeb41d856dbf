WITH friends AS (
    SELECT k.b AS id FROM knows k WHERE k.a = $personId
    UNION
    SELECT l.b FROM knows k JOIN knows l ON l.a = k.b WHERE k.a = $personId AND l.b <> $personId
)
SELECT p.id, p.firstName, p.lastName, o.name, w.workFrom
FROM friends f
JOIN person p ON p.id = f.id
JOIN work w ON w.person = f.id
JOIN company o ON o.id = w.company
JOIN country c ON c.id = o.country
WHERE c.name = $countryName AND w.workFrom < $workFromYear
ORDER BY w.workFrom, p.id, o.name DESC
LIMIT 10
