"""A tour in a minute: load a folder of CSV files, ask patterns, look at a plan, join in DuckDB, save and open.

    python examples/demo.py [FOLDER]

The CSV files are written first, to FOLDER (`demo_data` when not given), so that there is something to look at; the
people and films in them are made up.
"""

import csv
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from rich.console import Console

import gquery

PEOPLE, FILMS, FRIENDSHIPS = 2_000, 400, 12_000
FIRST = ["Ada", "Bo", "Cem", "Dana", "Eli", "Fay", "Gus", "Hana", "Ines", "Jon", "Kim", "Lea", "Mia", "Noor", "Ola"]
LAST = ["Alder", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Juniper", "Larch", "Maple", "Oak", "Pine", "Rowan", "Yew"]
ADJECTIVES = ["Quiet", "Last", "Second", "Hidden", "Silver", "Long", "Open", "Other", "Paper", "Winter"]
NOUNS = ["River", "Station", "Summer", "Garden", "Letter", "Island", "Winter", "Mirror", "Orchard", "Train"]
GENRES = ["comedy", "crime", "drama", "fantasy", "war"]

FRIENDS = """\
MATCH (a:Actor)-[:KNOWS]-(b:Actor)-[:KNOWS]-(c:Actor)-[:KNOWS]-(a),
      (a)-[:ACTED_IN]->(f:Film)<-[:ACTED_IN]-(b), (c)-[:ACTED_IN]->(f)
WHERE id(a) < id(b) AND id(b) < id(c)
RETURN f.title AS film, a.name AS a, b.name AS b, c.name AS c ORDER BY film, a, b, c LIMIT 5"""

TAKINGS = """\
SELECT name, count(*) AS films, sum(millions)::BIGINT AS millions
FROM gquery('films', 'MATCH (d:Director)-[:DIRECTED]->(f:Film) RETURN d.name AS name, f.id AS film')
JOIN takings USING (film)
GROUP BY name ORDER BY millions DESC, name LIMIT 5"""

console = Console(width=110, highlight=False)


def write_csv(file: Path, header: list[str], rows: Iterable[tuple[object, ...]]) -> None:
    with open(file, "w", newline="", encoding="utf-8") as sink:
        writer = csv.writer(sink)
        writer.writerow(header)
        writer.writerows(rows)


def write_data(folder: Path) -> None:
    """Two vertex files and three edge files, with the headers that neo4j-admin takes."""
    random = np.random.default_rng(99)
    folder.mkdir(parents=True, exist_ok=True)
    labels = random.choice(
        ["Person", "Person;Actor", "Person;Director", "Person;Actor;Director"], PEOPLE, p=[0.4, 0.4, 0.1, 0.1]
    )
    actors = [number for number in range(PEOPLE) if "Actor" in labels[number]]
    directors = [number for number in range(PEOPLE) if "Director" in labels[number]]
    people = [
        (number, f"{random.choice(FIRST)} {random.choice(LAST)}", random.integers(18, 80), labels[number])
        for number in range(PEOPLE)
    ]
    films = [
        (
            f"F{number:03}",
            f"The {random.choice(ADJECTIVES)} {random.choice(NOUNS)}",
            random.integers(1980, 2025),
            ";".join(random.choice(GENRES, random.integers(1, 3), replace=False)),
        )
        for number in range(FILMS)
    ]
    by = [random.choice(directors) for _ in films]
    others = [random.choice(actors, random.integers(3, 9), replace=False) for _ in films]
    casts = [
        np.unique([*cast, director] if "Actor" in labels[director] and random.random() < 0.2 else cast)
        for cast, director in zip(others, by, strict=True)
    ]
    colleagues = {tuple(sorted(random.choice(cast, 2, replace=False))) for cast in casts for _ in range(6)}
    strangers = {tuple(sorted(pair)) for pair in random.integers(0, PEOPLE, (FRIENDSHIPS, 2)).tolist()}
    write_csv(folder / "people.csv", ["id:ID(Person)", "name", "age:int", ":LABEL"], people)
    write_csv(folder / "Film.csv", ["id:ID(Film)", "title", "year:int", "genres:string[]"], films)
    write_csv(
        folder / "Person_actedIn_Film.csv",
        [":START_ID(Person)", ":END_ID(Film)", "billing:int"],
        [
            (actor, film[0], place + 1)
            for film, cast in zip(films, casts, strict=True)
            for place, actor in enumerate(cast)
        ],
    )
    write_csv(
        folder / "Person_directed_Film.csv",
        [":START_ID(Person)", ":END_ID(Film)"],
        [(director, film[0]) for film, director in zip(films, by, strict=True)],
    )
    write_csv(
        folder / "Person_knows_Person.csv",
        [":START_ID(Person)", ":END_ID(Person)", "since:int"],
        [(*pair, random.integers(1990, 2025)) for pair in sorted(colleagues | strangers) if pair[0] != pair[1]],
    )


def ask(graph: gquery.Graph, title: str, query: str) -> None:
    """Show a query, its answer and its time."""
    console.rule(f"[bold]{title}", align="left")
    console.print(query, style="cyan", markup=False, soft_wrap=True)
    start = time.perf_counter()
    answer = graph.query(query).to_arrow()
    seconds = time.perf_counter() - start
    duckdb.from_arrow(answer).show(max_width=110)
    console.print(f"{answer.num_rows:,} rows in {seconds * 1000:,.0f} ms\n", style="dim")


def main(folder: Path) -> None:
    write_data(folder / "csv")
    console.rule("[bold]Load a folder of CSV files", align="left")
    graph = gquery.load(folder / "csv")
    console.print(
        f"{graph}\nlabels: {', '.join(graph.schema.labels)}; types: {', '.join(graph.schema.types)}\n", markup=False
    )
    graph.query("MATCH (a:Actor)-[:KNOWS]-(b) RETURN a.name LIMIT 1").to_arrow()  # so that no query pays for start-up

    ask(
        graph,
        "Labels and filters: directors who act in their own film",
        "MATCH (p:Actor&Director)-[:DIRECTED]->(f:Film)<-[r:ACTED_IN]-(p)\n"
        "WHERE f.year >= 2000 AND r.billing <= 4\n"
        "RETURN p.name AS name, f.title AS title, f.year AS year, f.genres AS genres ORDER BY year DESC, title LIMIT 5",
    )
    ask(
        graph,
        "A cycle: three friends, all in one film",
        FRIENDS,
    )
    ask(
        graph,
        "Aggregation: who directs the most friends of theirs",
        "MATCH (d:Director)-[:DIRECTED]->(f:Film)<-[:ACTED_IN]-(a:Actor), (d)-[:KNOWS]-(a)\n"
        "RETURN d.name AS director, count(*) AS friends, max(a.age) AS oldest, collect(DISTINCT f.title) AS films\n"
        "ORDER BY friends DESC, director LIMIT 5",
    )
    ask(
        graph,
        "Counting: millions of matches, counted and not listed",
        "MATCH (f:Film)<-[:ACTED_IN]-(a:Actor)-[:KNOWS]-(b:Person)-[:KNOWS]-(c:Person)-[:KNOWS]-(d:Person)\n"
        "RETURN count(*) AS matches",
    )
    console.rule("[bold]The plan of the friends in one film, by EXPLAIN", align="left")
    console.print(graph.explain(FRIENDS) + "\n", markup=False, soft_wrap=True)

    console.rule("[bold]In DuckDB: the answer joined with a table of takings", align="left")
    con = duckdb_connection()
    gquery.attach(con, graph, "films")
    takings = pa.table({"film": [f"F{number:03}" for number in range(FILMS)], "millions": np.arange(FILMS) % 37 + 1})
    con.register("takings", takings)
    console.print(TAKINGS, style="cyan", markup=False, soft_wrap=True)
    con.sql(TAKINGS).show()

    console.rule("[bold]Save, and open by memory map", align="left")
    graph.save(folder / "films.gq")
    start = time.perf_counter()
    opened = gquery.open(folder / "films.gq")
    console.print(f"{opened} opened in {(time.perf_counter() - start) * 1000:.1f} ms", markup=False, soft_wrap=True)


def duckdb_connection() -> duckdb.DuckDBPyConnection:
    """With the native table function where it could be built; `gquery(...)` is a macro on other connections."""
    try:
        return gquery.connect()
    except gquery.UnsupportedError as error:
        console.print(f"{error}\n", style="yellow", markup=False, soft_wrap=True)
        return duckdb.connect()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo_data"))
