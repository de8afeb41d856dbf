// Friends by how many of their comments reply to posts with a tag of a class, or of one below it, and which tags.
MATCH (:Person {id: $personId})-[:KNOWS]-(friend:Person)<-[:HAS_CREATOR]-(comment:Comment)-[:REPLY_OF]->(:Post)
          -[:HAS_TAG]->(tag:Tag),
      (tag)-[:HAS_TYPE]->(:TagClass)-[:IS_SUBCLASS_OF*0..8]->(:TagClass {name: $tagClassName})
RETURN friend.id AS personId, friend.firstName AS firstName, friend.lastName AS lastName,
    collect(DISTINCT tag.name) AS tagNames, count(DISTINCT comment) AS replies
ORDER BY replies DESC, personId
LIMIT 20
