WITH RECURSIVE reached(person, distance) AS (
    SELECT CAST($person1Id AS BIGINT), 0
    UNION
    SELECT k.b, distance + 1 FROM reached JOIN knows k ON k.a = person WHERE distance < 8
)
SELECT coalesce(min(distance), -1) FROM reached WHERE person = $person2Id
