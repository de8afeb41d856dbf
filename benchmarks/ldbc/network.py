"""A social network with the properties that the complex reads ask for: the generator of `benchmarks/lsqb`, and names,
dates and texts drawn beside it.

Nothing is liked, answered or joined before it is there, and everything happens within three years.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.lsqb.generate import SEED, Generator

Ids = NDArray[np.int64]

BEGIN, END = (np.datetime64(day, "ms").astype(np.int64) for day in ("2010-01-01", "2013-01-01"))
DAY = 86_400_000  # milliseconds
FIRST = ("Jan", "Maria", "Chen", "Ali", "Anna", "Ivan", "Rahul", "Jose", "Yang", "Ken", "Eva", "Otto", "Lin", "Abdul")
LAST = ("Li", "Smith", "Kumar", "Garcia", "Wang", "Khan", "Novak", "Silva", "Brown", "Sato", "Kim", "Meyer", "Lopez")
BROWSERS = ("Firefox", "Chrome", "Internet Explorer", "Safari", "Opera")
WORDS = (
    "about",
    "maybe",
    "thanks",
    "great",
    "photo",
    "yes",
    "no",
    "why",
    "good",
    "well",
    "the",
    "fine",
    "cool",
    "album",
)
TEXTS = 4_000  # different ones


@dataclass(frozen=True)
class Network:
    """vertices: by labels. edges: by source labels, type, target labels, with `source` and `target` of users' ids."""

    vertices: dict[tuple[str, ...], pa.Table]
    edges: dict[tuple[tuple[str, ...], str, tuple[str, ...]], pa.Table]


SUPER = {"City": "Place", "Country": "Place", "Company": "Organisation", "University": "Organisation"}
SUPER |= {"Post": "Message", "Comment": "Message"}


def labels_of(label: str) -> tuple[str, ...]:
    return (SUPER[label], label) if label in SUPER else (label,)


class _Drawn:
    """What is drawn for one network. created: when each vertex came to be, in milliseconds, by label."""

    def __init__(self, scale: float, seed: int) -> None:
        self.generator = Generator(scale, seed)
        self.random = np.random.default_rng([seed, int(scale * 1000), 1])
        self.pairs = {(source, type_, target): pairs for source, type_, target, pairs in self.generator.edges()}
        self.sizes = self.generator.vertices()
        self.created = {"Person": self._times(self.sizes["Person"], BEGIN, BEGIN + 400 * DAY)}
        (moderated, moderator), (forum, post) = (
            self.pairs[key] for key in (("Forum", "hasModerator", "Person"), ("Forum", "containerOf", "Post"))
        )
        self.created["Forum"] = self.later(self.created["Person"][moderator[np.argsort(moderated)]], 300)
        posted = np.zeros(self.sizes["Post"], np.int64)
        posted[post] = self.created["Forum"][forum]
        self.created["Post"] = self.later(np.maximum(posted, self.created["Person"][self._author("Post")]), 500)
        self.created["Comment"] = self._replies()

    def _author(self, label: str) -> Ids:
        source, target = self.pairs[label, "hasCreator", "Person"]
        return target[np.argsort(source)]

    def _replies(self) -> Ids:
        """Comments are numbered level by level: a parent is before its replies."""
        created = np.zeros(self.sizes["Comment"], np.int64)
        comment, post = self.pairs["Comment", "replyOf", "Post"]
        created[comment] = self.later(self.created["Post"][post], 20)
        reply, parent = self.pairs["Comment", "replyOf", "Comment"]
        waits = self.later(np.zeros(len(reply), np.int64), 20, END - BEGIN)
        while (left := created[reply] == 0).any():
            ready = left & (created[parent] > 0)
            created[reply[ready]] = np.minimum(created[parent[ready]] + waits[ready], END)
        return created

    def _times(self, count: int, begin: int, end: int) -> Ids:
        return self.random.integers(begin, end, count)

    def later(self, times: Ids, days: int, end: int = END) -> Ids:
        """Some time after each, mostly within so many days."""
        return np.minimum(times + (self.random.exponential(days / 2, len(times)) * DAY).astype(np.int64) + 1, end)

    def stamps(self, times: Ids) -> pa.Array:
        return pa.array(times, pa.timestamp("ms"))

    def of(self, words: tuple[str, ...], count: int) -> pa.Array:
        """So many of some words, the first ones more often."""
        place = (len(words) * self.random.random(count) ** 1.5).astype(np.int64)
        return pa.array(words).take(pa.array(place))

    def texts(self, count: int, missing: float = 0.0) -> pa.Array:
        """Texts of one to twenty words; some are missing."""
        lengths = self.random.integers(1, 21, TEXTS)
        texts = pa.array([" ".join(self.random.choice(WORDS, length)) for length in lengths])
        place = self.random.integers(0, TEXTS, count)
        return texts.take(pa.array(place, mask=self.random.random(count) < missing))


def network(scale: float, seed: int = SEED) -> Network:
    """The network of a scale of `benchmarks.lsqb.generate.SIZES`, the same each time."""
    drawn = _Drawn(scale, seed)
    first = {"Comment": drawn.sizes["Post"]}  # posts and comments have different ids
    vertices = {}
    for label, count in drawn.sizes.items():
        columns = {"id": pa.array(np.arange(count) + first.get(label, 0))} | _properties(drawn, label, count)
        vertices[labels_of(label)] = pa.table(columns)
    edges = {}
    for (source, type_, target), pairs in drawn.pairs.items():
        ends = (pairs[0] + first.get(source, 0), pairs[1] + first.get(target, 0))
        columns = {"source": pa.array(ends[0]), "target": pa.array(ends[1])} | _of_edges(drawn, source, type_, target)
        edges[labels_of(source), _cypher_case(type_), labels_of(target)] = pa.table(columns)
    return Network(vertices, edges)


def _cypher_case(type_: str) -> str:
    return "".join(f"_{letter}" if letter.isupper() else letter for letter in type_).upper()


def _properties(drawn: _Drawn, label: str, count: int) -> dict[str, pa.Array]:
    match label:
        case "Person":
            days = drawn.random.integers(-7_000, 7_300, count)  # since 1970
            return {
                "firstName": drawn.of(FIRST, count),
                "lastName": drawn.of(LAST, count),
                "gender": drawn.of(("female", "male"), count),
                "birthday": pa.array(days.astype(np.int32)).cast(pa.date32()),
                "creationDate": drawn.stamps(drawn.created[label]),
                "locationIP": pa.array([f"31.{each >> 8 & 255}.{each & 255}.7" for each in range(count)]),
                "browserUsed": drawn.of(BROWSERS, count),
            }
        case "Forum":
            titles = pa.array([f"Wall {number}" for number in range(count)])
            return {"title": titles, "creationDate": drawn.stamps(drawn.created[label])}
        case "Post":
            content = drawn.texts(count, missing=0.3)
            shown = enumerate(content.is_valid().to_pylist())
            files = [None if known else f"photo{number}.jpg" for number, known in shown]
            return {
                "creationDate": drawn.stamps(drawn.created[label]),
                "content": content,
                "imageFile": pa.array(files, pa.string()),
            }
        case "Comment":
            return {"creationDate": drawn.stamps(drawn.created[label]), "content": drawn.texts(count)}
    return {"name": pa.array([f"{label} {number}" for number in range(count)])}


def _of_edges(drawn: _Drawn, source: str, type_: str, target: str) -> dict[str, pa.Array]:
    """Properties of edges: when, which cannot be before both ends are there."""
    one, other = drawn.pairs[source, type_, target]
    match type_:
        case "knows" | "hasMember" | "likes":
            there = np.maximum(drawn.created[source][one], drawn.created[target][other])
            times = drawn.stamps(drawn.later(there, 300 if type_ != "likes" else 20))
            return {"joinDate" if type_ == "hasMember" else "creationDate": times}
        case "studyAt":
            return {"classYear": pa.array(drawn.random.integers(1995, 2013, len(one)))}
        case "workAt":
            return {"workFrom": pa.array(drawn.random.integers(1998, 2013, len(one)))}
    return {}
