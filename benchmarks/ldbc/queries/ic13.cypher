// How many friendships two people are apart; -1 where nothing joins them.
MATCH (a:Person {id: $person1Id}), (b:Person {id: $person2Id})
OPTIONAL MATCH path = shortestPath((a)-[:KNOWS*]-(b))
RETURN CASE WHEN path IS NULL THEN -1 ELSE length(path) END AS distance
