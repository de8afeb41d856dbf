// The shortest paths between two people, by how much those beside each other on it reply to each other.
MATCH path = allShortestPaths((:Person {id: $person1Id})-[:KNOWS*]-(:Person {id: $person2Id}))
UNWIND range(1, length(path)) AS place
WITH path, place, nodes(path)[place - 1] AS a, nodes(path)[place] AS b
WITH path, place, b.id AS other,
    COUNT { (a)<-[:HAS_CREATOR]-(:Comment)-[:REPLY_OF]->(:Post)-[:HAS_CREATOR]->(b) } AS toPosts,
    COUNT { (b)<-[:HAS_CREATOR]-(:Comment)-[:REPLY_OF]->(:Post)-[:HAS_CREATOR]->(a) } AS fromPosts,
    COUNT { (a)<-[:HAS_CREATOR]-(:Comment)-[:REPLY_OF]-(:Comment)-[:HAS_CREATOR]->(b) } AS comments
ORDER BY place
WITH path, collect(other) AS others, sum(toPosts + fromPosts + 0.5 * comments) AS weight
RETURN [$person1Id] + others AS people, weight
ORDER BY weight DESC, people
