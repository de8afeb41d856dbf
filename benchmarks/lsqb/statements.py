"""The nine queries of the Labelled Subgraph Query Benchmark (LDBC, Apache-2.0) for each engine.

gquery runs the benchmark's own Cypher, in `queries/`. Ladybug has no super-label, so `Message` is written as the two
labels that it stands for. DuckDB gets joins over edge tables, with friendships stored in both directions.
"""

from __future__ import annotations

from pathlib import Path

QUERIES = tuple(f"q{number}" for number in range(1, 10))
CYPHER = {name: (Path(__file__).parent / "queries" / f"{name}.cypher").read_text() for name in QUERIES}

SQL_TABLES = (
    "CREATE TABLE knows AS FROM Person_knows_Person UNION ALL SELECT target, source FROM Person_knows_Person",
    "CREATE TABLE lives AS SELECT p.source AS person, c.target AS country "
    "FROM Person_isLocatedIn_City p JOIN City_isPartOf_Country c ON c.source = p.target",
    "CREATE TABLE tagged AS FROM Post_hasTag_Tag UNION ALL FROM Comment_hasTag_Tag",
    "CREATE TABLE creator AS FROM Post_hasCreator_Person UNION ALL FROM Comment_hasCreator_Person",
    "CREATE TABLE likes AS FROM Person_likes_Post UNION ALL FROM Person_likes_Comment",
    "CREATE TABLE reply AS FROM Comment_replyOf_Post UNION ALL FROM Comment_replyOf_Comment",
)

SQL = {
    "q1": """
        FROM City_isPartOf_Country c
        JOIN Person_isLocatedIn_City p ON p.target = c.source
        JOIN Forum_hasMember_Person m ON m.target = p.source
        JOIN Forum_containerOf_Post f ON f.source = m.source
        JOIN Comment_replyOf_Post r ON r.target = f.target
        JOIN Comment_hasTag_Tag t ON t.source = r.source
        JOIN Tag_hasType_TagClass k ON k.source = t.target""",
    "q2": """
        FROM knows k
        JOIN Comment_hasCreator_Person c ON c.target = k.source
        JOIN Comment_replyOf_Post r ON r.source = c.source
        JOIN Post_hasCreator_Person p ON p.source = r.target AND p.target = k.target""",
    "q3": """
        FROM knows a
        JOIN knows b ON b.source = a.target
        JOIN knows c ON c.source = b.target AND c.target = a.source
        JOIN lives p ON p.person = a.source
        JOIN lives q ON q.person = b.source AND q.country = p.country
        JOIN lives r ON r.person = c.source AND r.country = p.country""",
    "q4": """
        FROM tagged t
        JOIN creator c ON c.source = t.source
        JOIN likes l ON l.target = t.source
        JOIN reply r ON r.target = t.source""",
    "q5": """
        FROM tagged t
        JOIN reply r ON r.target = t.source
        JOIN Comment_hasTag_Tag u ON u.source = r.source AND u.target <> t.target""",
    "q6": """
        FROM knows a
        JOIN knows b ON b.source = a.target AND b.target <> a.source
        JOIN Person_hasInterest_Tag i ON i.source = b.target""",
    "q7": """
        FROM tagged t
        JOIN creator c ON c.source = t.source
        LEFT JOIN likes l ON l.target = t.source
        LEFT JOIN reply r ON r.target = t.source""",
    "q8": """
        FROM tagged t
        JOIN reply r ON r.target = t.source
        JOIN Comment_hasTag_Tag u ON u.source = r.source AND u.target <> t.target
        WHERE NOT EXISTS (FROM Comment_hasTag_Tag x WHERE x.source = r.source AND x.target = t.target)""",
    "q9": """
        FROM knows a
        JOIN knows b ON b.source = a.target AND b.target <> a.source
        JOIN Person_hasInterest_Tag i ON i.source = b.target
        WHERE NOT EXISTS (FROM knows k WHERE k.source = a.source AND k.target = b.target)""",
}

LADYBUG_EDGES = {
    "isPartOf": [("City", "Country"), ("Country", "Continent")],
    "hasType": [("Tag", "TagClass")],
    "isLocatedIn": [("Person", "City"), ("Company", "Country"), ("University", "City"), ("Post", "Country"),
                    ("Comment", "Country")],
    "hasInterest": [("Person", "Tag")],
    "knows": [("Person", "Person")],
    "hasMember": [("Forum", "Person")],
    "containerOf": [("Forum", "Post")],
    "hasCreator": [("Post", "Person"), ("Comment", "Person")],
    "hasTag": [("Post", "Tag"), ("Comment", "Tag"), ("Forum", "Tag")],
    "replyOf": [("Comment", "Post"), ("Comment", "Comment")],
    "likes": [("Person", "Post"), ("Person", "Comment")],
}  # fmt: skip

LADYBUG = {
    "q1": """MATCH (:Country)<-[:isPartOf]-(:City)<-[:isLocatedIn]-(:Person)<-[:hasMember]-(:Forum)-[:containerOf]->
        (:Post)<-[:replyOf]-(:Comment)-[:hasTag]->(:Tag)-[:hasType]->(:TagClass) RETURN count(*)""",
    "q2": """MATCH (a:Person)-[:knows]-(b:Person),
        (a)<-[:hasCreator]-(c:Comment)-[:replyOf]->(p:Post)-[:hasCreator]->(b) RETURN count(*)""",
    "q3": """MATCH (x:Country)
        MATCH (a:Person)-[:isLocatedIn]->(:City)-[:isPartOf]->(x)
        MATCH (b:Person)-[:isLocatedIn]->(:City)-[:isPartOf]->(x)
        MATCH (c:Person)-[:isLocatedIn]->(:City)-[:isPartOf]->(x)
        MATCH (a)-[:knows]-(b)-[:knows]-(c)-[:knows]-(a) RETURN count(*)""",
    "q4": """MATCH (:Tag)<-[:hasTag]-(m:Post:Comment)-[:hasCreator]->(:Person), (m)<-[:likes]-(:Person),
        (m)<-[:replyOf]-(:Comment) RETURN count(*)""",
    "q5": """MATCH (s:Tag)<-[:hasTag]-(m:Post:Comment)<-[:replyOf]-(c:Comment)-[:hasTag]->(t:Tag)
        WHERE id(s) <> id(t) RETURN count(*)""",
    "q6": """MATCH (a:Person)-[:knows]-(b:Person)-[:knows]-(c:Person)-[:hasInterest]->(:Tag)
        WHERE id(a) <> id(c) RETURN count(*)""",
    "q7": """MATCH (:Tag)<-[:hasTag]-(m:Post:Comment)-[:hasCreator]->(:Person)
        OPTIONAL MATCH (m)<-[:likes]-(l:Person) OPTIONAL MATCH (m)<-[:replyOf]-(c:Comment) RETURN count(*)""",
    "q8": """MATCH (s:Tag)<-[:hasTag]-(m:Post:Comment)<-[:replyOf]-(c:Comment)-[:hasTag]->(t:Tag)
        WHERE NOT EXISTS { MATCH (c)-[:hasTag]->(s) } AND id(s) <> id(t) RETURN count(*)""",
    "q9": """MATCH (a:Person)-[:knows]-(b:Person)-[:knows]-(c:Person)-[:hasInterest]->(:Tag)
        WHERE NOT EXISTS { MATCH (a)-[:knows]-(c) } AND id(a) <> id(c) RETURN count(*)""",
}
