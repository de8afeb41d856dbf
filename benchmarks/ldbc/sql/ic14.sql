WITH RECURSIVE ahead(person, distance) AS (
    SELECT CAST($person1Id AS BIGINT), 0
    UNION
    SELECT k.b, distance + 1 FROM ahead JOIN knows k ON k.a = person WHERE distance < 8
), behind(person, distance) AS (
    SELECT CAST($person2Id AS BIGINT), 0
    UNION
    SELECT k.b, distance + 1 FROM behind JOIN knows k ON k.a = person WHERE distance < 8
), near AS (
    SELECT a.person, min(a.distance) AS distance
    FROM ahead a JOIN behind b ON b.person = a.person
    GROUP BY a.person
    HAVING min(a.distance) + min(b.distance) = (SELECT min(distance) FROM ahead WHERE person = $person2Id)
), paths(people, person, distance) AS (
    SELECT [CAST($person1Id AS BIGINT)], CAST($person1Id AS BIGINT), 0
    UNION ALL
    SELECT list_append(p.people, k.b), k.b, p.distance + 1
    FROM paths p JOIN knows k ON k.a = p.person JOIN near n ON n.person = k.b AND n.distance = p.distance + 1
), pairs AS (
    SELECT people, people[place] AS one, people[place + 1] AS other
    FROM (SELECT people, unnest(range(1, len(people))) AS place FROM paths WHERE person = $person2Id)
), replies AS (
    SELECT least(r.creator, m.creator) AS low, greatest(r.creator, m.creator) AS high,
        sum(CASE WHEN m.isPost THEN 1.0 ELSE 0.5 END) AS weight
    FROM message r JOIN message m ON m.id = r.replyOf
    WHERE r.creator IN (SELECT person FROM near) AND m.creator IN (SELECT person FROM near)
    GROUP BY ALL
)
SELECT people, sum(coalesce(r.weight, 0)) AS weight
FROM pairs LEFT JOIN replies r ON r.low = least(one, other) AND r.high = greatest(one, other)
GROUP BY people
ORDER BY weight DESC, people
