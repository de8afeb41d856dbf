WITH RECURSIVE reached(person, distance) AS (
    SELECT CAST($personId AS BIGINT), 0
    UNION
    SELECT k.b, distance + 1 FROM reached JOIN knows k ON k.a = person WHERE distance < 3
), friends AS (
    SELECT p.*, min(distance) AS distance
    FROM reached JOIN person p ON p.id = reached.person
    WHERE p.firstName = $firstName AND p.id <> $personId
    GROUP BY ALL
    ORDER BY distance, lastName, id
    LIMIT 20
)
SELECT f.id, f.lastName, f.distance, f.birthday, f.creationDate, f.gender, f.browserUsed, f.locationIP, c.name,
    (SELECT coalesce(list(u.name || ', ' || s.classYear || ', ' || uc.name), [])
     FROM study s JOIN university u ON u.id = s.university JOIN city uc ON uc.id = u.city WHERE s.person = f.id),
    (SELECT coalesce(list(o.name || ', ' || w.workFrom || ', ' || oc.name), [])
     FROM work w JOIN company o ON o.id = w.company JOIN country oc ON oc.id = o.country WHERE w.person = f.id)
FROM friends f JOIN city c ON c.id = f.city
ORDER BY f.distance, f.lastName, f.id
