SELECT t.name, count(*) FILTER (m.creationDate >= $startDate) AS posts
FROM knows k
JOIN message m ON m.creator = k.b AND m.isPost
JOIN message_tag mt ON mt.message = m.id
JOIN tag t ON t.id = mt.tag
WHERE k.a = $personId AND m.creationDate < $endDate
GROUP BY t.id, t.name
HAVING posts > 0 AND count(*) FILTER (m.creationDate < $startDate) = 0
ORDER BY posts DESC, t.name
LIMIT 10
