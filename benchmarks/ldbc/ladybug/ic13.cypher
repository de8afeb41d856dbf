// How many friendships two people are apart; -1 where nothing joins them.
MATCH (a:Person {id: $person1Id}), (b:Person {id: $person2Id})
OPTIONAL MATCH path = (a)-[:KNOWS* SHORTEST 1..8]-(b)
RETURN coalesce(length(path), -1) AS distance
