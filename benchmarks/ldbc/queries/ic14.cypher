// The shortest paths between two people, by how much those beside each other on it reply to each other.
MATCH path = allShortestPaths((:Person {id: $person1Id})-[:KNOWS*]-(:Person {id: $person2Id}))
WITH [n IN nodes(path) | n.id] AS people
UNWIND range(1, size(people) - 1) AS place
WITH people, people[place - 1] AS one, people[place] AS other
MATCH (a:Person {id: one}), (b:Person {id: other})
WITH people,
    COUNT { (a)<-[:HAS_CREATOR]-(:Comment)-[:REPLY_OF]->(:Post)-[:HAS_CREATOR]->(b) } AS toPosts,
    COUNT { (b)<-[:HAS_CREATOR]-(:Comment)-[:REPLY_OF]->(:Post)-[:HAS_CREATOR]->(a) } AS fromPosts,
    COUNT { (a)<-[:HAS_CREATOR]-(:Comment)-[:REPLY_OF]-(:Comment)-[:HAS_CREATOR]->(b) } AS comments
RETURN people, sum(toPosts + fromPosts + 0.5 * comments) AS weight
ORDER BY weight DESC, people
