WITH friends AS (
    SELECT k.b AS id FROM knows k WHERE k.a = $personId
    UNION
    SELECT l.b FROM knows k JOIN knows l ON l.a = k.b WHERE k.a = $personId AND l.b <> $personId
), joined AS (
    SELECT DISTINCT mb.person, mb.forum FROM friends f JOIN member mb ON mb.person = f.id WHERE mb.joinDate > $minDate
)
SELECT o.title, count(m.id) AS posts, o.id
FROM joined j
JOIN forum o ON o.id = j.forum
LEFT JOIN message m ON m.forum = j.forum AND m.creator = j.person
GROUP BY o.id, o.title
ORDER BY posts DESC, o.id
LIMIT 20
