CREATE TABLE country AS SELECT id, name FROM given."Country";
CREATE TABLE city AS
    SELECT c.id, c.name, p.target AS country FROM given."City" c JOIN given."City_IS_PART_OF_Country" p ON p.source = c.id;
CREATE TABLE company AS
    SELECT o.id, o.name, l.target AS country FROM given."Company" o JOIN given."Company_IS_LOCATED_IN_Country" l ON l.source = o.id;
CREATE TABLE university AS
    SELECT o.id, o.name, l.target AS city FROM given."University" o JOIN given."University_IS_LOCATED_IN_City" l ON l.source = o.id;
CREATE TABLE tagclass AS
    SELECT c.id, c.name, s.target AS parent
    FROM given."TagClass" c LEFT JOIN given."TagClass_IS_SUBCLASS_OF_TagClass" s ON s.source = c.id;
CREATE TABLE tag AS
    SELECT t.id, t.name, h.target AS class FROM given."Tag" t JOIN given."Tag_HAS_TYPE_TagClass" h ON h.source = t.id;
CREATE TABLE person AS
    SELECT p.*, l.target AS city FROM given."Person" p JOIN given."Person_IS_LOCATED_IN_City" l ON l.source = p.id ORDER BY p.id;
CREATE TABLE knows AS
    SELECT source AS a, target AS b, creationDate FROM given."Person_KNOWS_Person"
    UNION ALL SELECT target, source, creationDate FROM given."Person_KNOWS_Person" ORDER BY a, b;
CREATE TABLE forum AS
    SELECT f.*, m.target AS moderator FROM given."Forum" f JOIN given."Forum_HAS_MODERATOR_Person" m ON m.source = f.id;
CREATE TABLE member AS
    SELECT source AS forum, target AS person, joinDate FROM given."Forum_HAS_MEMBER_Person" ORDER BY person, forum;
CREATE TABLE message AS
    SELECT p.id, true AS isPost, p.creationDate, p.content, p.imageFile, c.target AS creator, l.target AS country,
        f.source AS forum, CAST(NULL AS BIGINT) AS replyOf
    FROM given."Post" p
    JOIN given."Post_HAS_CREATOR_Person" c ON c.source = p.id
    JOIN given."Post_IS_LOCATED_IN_Country" l ON l.source = p.id
    JOIN given."Forum_CONTAINER_OF_Post" f ON f.target = p.id
    UNION ALL
    SELECT p.id, false, p.creationDate, p.content, NULL, c.target, l.target, NULL, r.target
    FROM given."Comment" p
    JOIN given."Comment_HAS_CREATOR_Person" c ON c.source = p.id
    JOIN given."Comment_IS_LOCATED_IN_Country" l ON l.source = p.id
    JOIN (FROM given."Comment_REPLY_OF_Post" UNION ALL FROM given."Comment_REPLY_OF_Comment") r ON r.source = p.id
    ORDER BY creator, creationDate;
CREATE TABLE message_tag AS
    SELECT source AS message, target AS tag FROM (FROM given."Post_HAS_TAG_Tag" UNION ALL FROM given."Comment_HAS_TAG_Tag")
    ORDER BY message;
CREATE TABLE likes AS
    SELECT source AS person, target AS message, creationDate
    FROM (FROM given."Person_LIKES_Post" UNION ALL FROM given."Person_LIKES_Comment") ORDER BY message;
CREATE TABLE interest AS SELECT source AS person, target AS tag FROM given."Person_HAS_INTEREST_Tag" ORDER BY person;
CREATE TABLE study AS SELECT source AS person, target AS university, classYear FROM given."Person_STUDY_AT_University";
CREATE TABLE work AS SELECT source AS person, target AS company, workFrom FROM given."Person_WORK_AT_Company";
CREATE INDEX person_id ON person(id);
CREATE INDEX knows_a ON knows(a);
CREATE INDEX message_creator ON message(creator);
ANALYZE;
