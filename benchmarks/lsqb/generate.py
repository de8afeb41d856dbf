"""A seeded generator for the schema of the Labelled Subgraph Query Benchmark (LDBC), in its projected-fk layout.

Sizes are those of LDBC's scale factors; the skew is LDBC-like: friendships follow a long-tailed degree distribution and
connect people of one country or interest, messages form reply trees under popular posts, tags and countries are
Zipf-distributed, people write and like where their friends do. Everything is drawn with NumPy from one seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
from numpy.typing import NDArray

SEED = 42
COUNTRIES, CITIES, TAGS, TAG_CLASSES, COMPANIES, UNIVERSITIES, CONTINENTS = 111, 1_343, 16_080, 71, 1_575, 6_380, 6

# People, friendships, forums, memberships, posts, comments, likes of posts, likes of comments.
SIZES = {
    0.01: (300, 1_500, 1_500, 9_000, 9_000, 10_000, 3_000, 4_000),
    0.1: (1_528, 14_073, 13_750, 123_268, 135_701, 151_043, 47_215, 62_225),
    0.3: (3_514, 46_000, 31_000, 430_000, 330_000, 600_000, 200_000, 340_000),
    1.0: (9_892, 180_623, 90_492, 1_611_869, 1_003_605, 2_052_169, 751_677, 1_438_418),
}
INTERESTS, POST_TAGS, COMMENT_TAGS, FORUM_TAGS = 23.2, 0.71, 1.31, 3.4  # a person, post, comment, forum

Ids = NDArray[np.int64]
Pairs = tuple[Ids, Ids]


class Generator:
    """One social network. Ids are 0..n-1 within a label until they are written. skew: how much further from even
    everything is drawn than in LDBC's networks, 0 for evenly."""

    def __init__(self, scale: float, seed: int = SEED, skew: float = 1.0) -> None:
        sizes = SIZES[scale]
        self.people, self.friendships, self.forums, self.memberships = sizes[:4]
        self.posts, self.comments, self.post_likes, self.comment_likes = sizes[4:]
        self.random = np.random.default_rng([seed, int(scale * 1000)])
        self.skew = skew

    def edges(self) -> Iterator[tuple[str, str, str, Pairs]]:
        """(source label, type as in the file's name, target label, pairs)."""
        random = self.random
        cities = _counted(CITIES)
        country_of_city = np.concatenate([_counted(COUNTRIES), self._zipf(COUNTRIES, CITIES - COUNTRIES, 0.6)])
        home = self._zipf(CITIES, self.people, 0.8)
        country = country_of_city[home]
        liked = self._zipf(TAGS, int(self.people * INTERESTS), 0.9)
        interests = self._distinct(_repeated(self.people, INTERESTS), liked)
        knows = self._friendships(country, self._favourites(interests))
        friends = _Rows(np.concatenate([knows[0], knows[1]]), np.concatenate([knows[1], knows[0]]), self.people)
        members = self._memberships(friends)
        member_of_post = random.integers(0, len(members[0]), self.posts)
        forum_of_post, post_author = members[0][member_of_post], members[1][member_of_post]
        parent, is_reply_to_post, author = self._comments(post_author, friends)
        forum_tags = (_repeated(self.forums, FORUM_TAGS), self._zipf(TAGS, int(self.forums * FORUM_TAGS), 0.9))
        comments = _counted(self.comments)
        messages_country = self._zipf(COUNTRIES, self.posts + self.comments, 0.8)

        yield "City", "isPartOf", "Country", (cities, country_of_city)
        yield "Country", "isPartOf", "Continent", (_counted(COUNTRIES), _counted(COUNTRIES) % CONTINENTS)
        yield "Tag", "hasType", "TagClass", (_counted(TAGS), self._zipf(TAG_CLASSES, TAGS, 0.8))
        classes = _counted(TAG_CLASSES)[1:]
        yield "TagClass", "isSubclassOf", "TagClass", (classes, classes // 3)
        yield "Company", "isLocatedIn", "Country", (_counted(COMPANIES), self._zipf(COUNTRIES, COMPANIES, 0.6))
        yield "University", "isLocatedIn", "City", (_counted(UNIVERSITIES), self._zipf(CITIES, UNIVERSITIES, 0.6))
        yield "Person", "isLocatedIn", "City", (_counted(self.people), home)
        yield "Person", "hasInterest", "Tag", interests
        yield "Person", "knows", "Person", knows
        yield "Person", "studyAt", "University", self._some(0.8, UNIVERSITIES)
        yield "Person", "workAt", "Company", self._distinct(*self._some(2.1, COMPANIES))
        yield "Forum", "hasModerator", "Person", (_counted(self.forums), self._zipf(self.people, self.forums, 0.3))
        yield "Forum", "hasMember", "Person", members
        yield "Forum", "hasTag", "Tag", self._distinct(*forum_tags)
        yield "Forum", "containerOf", "Post", (forum_of_post, _counted(self.posts))
        yield "Post", "hasCreator", "Person", (_counted(self.posts), post_author)
        yield "Post", "isLocatedIn", "Country", (_counted(self.posts), messages_country[: self.posts])
        yield "Post", "hasTag", "Tag", self._tags(self.posts, POST_TAGS)
        yield "Comment", "hasCreator", "Person", (comments, author)
        yield "Comment", "isLocatedIn", "Country", (comments, messages_country[self.posts :])
        yield "Comment", "hasTag", "Tag", self._tags(self.comments, COMMENT_TAGS)
        yield "Comment", "replyOf", "Post", (comments[is_reply_to_post], parent[is_reply_to_post])
        yield "Comment", "replyOf", "Comment", (comments[~is_reply_to_post], parent[~is_reply_to_post])
        yield "Person", "likes", "Post", self._likes(self.post_likes, post_author, friends)
        yield "Person", "likes", "Comment", self._likes(self.comment_likes, author, friends)

    def vertices(self) -> dict[str, int]:
        """Number of vertices of each label."""
        return {
            "Person": self.people, "Forum": self.forums, "Post": self.posts, "Comment": self.comments, "City": CITIES,
            "Country": COUNTRIES, "Continent": CONTINENTS, "Tag": TAGS, "TagClass": TAG_CLASSES, "Company": COMPANIES,
            "University": UNIVERSITIES,
        }  # fmt: skip

    # --- what is drawn -----------------------------------------------------------------------------------------

    def _zipf(self, values: int, count: int, exponent: float) -> Ids:
        """`count` of 0..values-1, value i with a probability proportional to (i + 1)^-exponent."""
        weights = np.cumsum((np.arange(values) + 1.0) ** (-exponent * self.skew))
        return np.searchsorted(weights, self.random.random(count) * weights[-1]).astype(np.int64)

    def _early(self, values: int, count: int, bent: float) -> Ids:
        """`count` of 0..values-1, the first ones more often, the more so the more `bent`."""
        return (values * self.random.random(count) ** (1.0 + bent * self.skew)).astype(np.int64)

    def _distinct(self, source: Ids, target: Ids) -> Pairs:
        pairs = np.unique(np.stack([source[: len(target)], target[: len(source)]], 1), axis=0)
        return pairs[:, 0], pairs[:, 1]

    def _some(self, mean: float, targets: int) -> Pairs:
        source = self.random.integers(0, self.people, int(self.people * mean)) if mean > 1 else _counted(self.people)
        if mean < 1:
            source = source[self.random.random(self.people) < mean]
        return source, self._zipf(targets, len(source), 0.6)

    def _tags(self, messages: int, mean: float) -> Pairs:
        """Most messages have no tag or one, a few have many."""
        count = int(messages * mean)
        message = self._early(messages, count, 0.4)
        return self._distinct(message, self._zipf(TAGS, count, 0.9))

    def _favourites(self, interests: Pairs) -> Ids:
        favourite = np.zeros(self.people, np.int64)
        favourite[interests[0][::-1]] = interests[1][::-1]
        return favourite

    def _friendships(self, country: Ids, favourite: Ids) -> Pairs:
        """Long-tailed degrees; friends are near each other by country, by interest, or anywhere."""
        popularity = self.random.lognormal(0.0, self.skew, self.people)
        found = np.zeros((0, 2), np.int64)
        while len(found) < self.friendships:
            count = 2 * (self.friendships - len(found)) + 100
            one = self.random.choice(self.people, count, p=popularity / popularity.sum())
            other = np.where(self.random.random(count) < 0.1, self.random.integers(0, self.people, count), -1)
            for dimension, share in ((country, 0.5), (favourite, 1.0)):
                order = np.lexsort((self.random.random(self.people), dimension))
                place = np.empty(self.people, np.int64)
                place[order] = np.arange(self.people)
                steps = self.random.geometric(0.03, count) * self.random.choice([-1, 1], count)
                near = order[np.clip(place[one] + steps, 0, self.people - 1)]
                other = np.where((other < 0) & (self.random.random(count) < share), near, other)
            pairs = np.sort(np.stack([one, other], 1)[one != other], 1)
            found = np.unique(np.concatenate([found, pairs]), axis=0)
        found = self.random.permutation(found)[: self.friendships]
        return found[:, 0], found[:, 1]

    def _memberships(self, friends: _Rows) -> Pairs:
        """Forums of long-tailed sizes, whose members are a moderator's friends and their friends."""
        size = self.random.lognormal(0.0, 1.2 * self.skew, self.forums)
        forum = self.random.choice(self.forums, int(self.memberships * 1.35), p=size / size.sum())
        host = self._zipf(self.people, self.forums, 0.3)[forum]
        member = friends.pick(host, self.random)
        further = self.random.random(len(member)) < 0.6
        member[further] = friends.pick(member[further], self.random)
        source, target = self._distinct(forum, member)
        chosen = np.sort(self.random.permutation(len(source))[: self.memberships])
        return source[chosen], target[chosen]

    def _comments(self, post_author: Ids, friends: _Rows) -> tuple[Ids, NDArray[np.bool_], Ids]:
        """(parent, whether it is a post, author): half of the comments reply to posts, a few of which are popular."""
        direct = self.comments // 2
        parent = np.zeros(self.comments, np.int64)
        author = np.zeros(self.comments, np.int64)
        parent[:direct] = self._early(self.posts, direct, 1.0)
        author[:direct] = friends.pick(post_author[parent[:direct]], self.random)
        begin, end = direct, direct
        while end < self.comments:  # the next level of the trees, under all that is there
            begin, end = end, min(self.comments, end + max(1000, direct // 4))
            parent[begin:end] = self._early(begin, end - begin, 0.5)
            author[begin:end] = friends.pick(author[parent[begin:end]], self.random)
        return parent, np.arange(self.comments) < direct, author

    def _likes(self, count: int, author: Ids, friends: _Rows) -> Pairs:
        message = self._early(len(author), int(count * 1.2), 0.6)
        source, target = self._distinct(friends.pick(author[message], self.random), message)
        chosen = np.sort(self.random.permutation(len(source))[:count])
        return source[chosen], target[chosen]


class _Rows:
    """Neighbours of each person."""

    def __init__(self, source: Ids, target: Ids, people: int) -> None:
        order = np.argsort(source, kind="stable")
        self.target = target[order]
        self.offsets = np.searchsorted(source[order], np.arange(people + 1))
        self.people = people

    def pick(self, people: Ids, random: np.random.Generator) -> Ids:
        """A random neighbour of each; anybody for those without."""
        degree = self.offsets[people + 1] - self.offsets[people]
        chosen = self.offsets[people] + (random.random(len(people)) * degree).astype(np.int64)
        anybody = random.integers(0, self.people, len(people))
        return np.where(degree > 0, self.target[np.minimum(chosen, len(self.target) - 1)], anybody)


def _counted(count: int) -> Ids:
    return np.arange(count, dtype=np.int64)


def _repeated(values: int, mean: float) -> Ids:
    """Each of 0..values-1 about `mean` times."""
    return (np.arange(int(values * mean)) / mean).astype(np.int64)


def generate(folder: Path, scale: float, seed: int = SEED, skew: float = 1.0) -> None:
    """Writes the CSV files of a network. Posts and comments have different ids, as they do in LDBC's."""
    generator = Generator(scale, seed, skew)
    folder.mkdir(parents=True, exist_ok=True)
    first = {"Comment": generator.posts}
    for label, count in generator.vertices().items():
        _write(folder / f"{label}.csv", f"id:ID({label})", [_counted(count) + first.get(label, 0)])
    for source, type_, target, pairs in generator.edges():
        ids = [pairs[0] + first.get(source, 0), pairs[1] + first.get(target, 0)]
        _write(folder / f"{source}_{type_}_{target}.csv", f":START_ID({source})|:END_ID({target})", ids)


def _write(path: Path, header: str, columns: list[Ids]) -> None:
    table = pa.table(columns, names=[str(index) for index in range(len(columns))])
    with path.open("wb") as sink:
        sink.write(f"{header}\n".encode())
        pacsv.write_csv(table, sink, pacsv.WriteOptions(include_header=False, delimiter="|"))
