#!/usr/bin/env python3
"""SQLite FTS5 on documents of data.py: answers to judged queries, and processor time of queries as one types.

    peer_fts5.py DATA/films.tsv --answer relevance-films.tsv --out OUT
    peer_fts5.py DATA/long-100k.tsv --time DATA/long-100k.queries.tsv --out OUT

Three ways, as SQLite's documentation has them, in a database in memory, with bm25's weights 10, 4, 1 for the fields:

    fts5-prefix     unicode61 with prefix indexes of 1 to 3 letters; all words, the last as a prefix
    fts5-trigram    the trigram tokenizer; any of the query's trigrams
    fts5-both       the first way with popularity; below five documents, the second with popularity

Writes OUT/WAY.answers.tsv (relevance.py judges them) or OUT/DATA.fts5.results.tsv (speed.py shows them). FTS5's plain ways
count no total; facets are counted by a second statement, as there is no other way.
"""

import argparse
import math
import pathlib
import re
import sqlite3
import time

import data
import queries
import relevance
import speed

WORD = re.compile(r"[^\W_]+")
FEW = 5
RELEVANCE = "bm25({table}, 10, 4, 1)"
POPULAR = RELEVANCE + " * boost"


class Fts5:
    def __init__(self, path):
        self.ids = []
        self.database = sqlite3.connect(":memory:")
        begin = time.process_time()
        self.database.execute("CREATE TABLE facts (id INTEGER PRIMARY KEY, section TEXT, size INTEGER, boost REAL)")
        self.table("prefixes", "unicode61 remove_diacritics 2", ", prefix='1 2 3'", path)
        prefixes_s, begin = time.process_time() - begin, time.process_time()
        self.table("trigrams", "trigram", "", path)
        pages = self.database.execute("PRAGMA page_count").fetchone()[0] * 4096
        print(f"fts5 {sqlite3.sqlite_version}: {len(self.ids)} documents, CPU {prefixes_s:.1f} s for prefixes,"
              f" {time.process_time() - begin:.1f} s for trigrams, {pages / 1e6:.0f} MB in all", flush=True)

    def table(self, name, tokenizer, more, path):
        is_first = not self.ids
        # FTS5 keeps no texts here, as the other peers keep none.
        self.database.execute(
            f"CREATE VIRTUAL TABLE {name} USING fts5(name, short, body, content='', tokenize='{tokenizer}'{more})")
        with self.database:
            for number, row in enumerate(data.read(path), 1):
                self.database.execute(f"INSERT INTO {name} (rowid, name, short, body) VALUES (?, ?, ?, ?)",
                                      (number, row["name"], row["short"], row["body"]))
                if is_first:
                    self.ids.append(row["id"])
                    self.database.execute("INSERT INTO facts VALUES (?, ?, ?, ?)", (
                        number, row["section"], row["size"], 1 + 0.3 * math.log(1 + row["popularity"])))
        with self.database:
            self.database.execute(f"INSERT INTO {name} ({name}) VALUES ('optimize')")

    def ask(self, table, match, order, size_max=None, facets=""):
        if not match:
            return []
        plain = order.startswith("bm25") and "boost" not in order and size_max is None
        joined = table if plain else f"{table} JOIN facts ON facts.id = {table}.rowid"
        where = f"{table} MATCH ?" + ("" if size_max is None else " AND facts.size <= ?")
        values = (match,) if size_max is None else (match, size_max)
        found = self.database.execute(
            f"SELECT {table}.rowid FROM {joined} WHERE {where} ORDER BY {order} LIMIT {speed.TOP}", values).fetchall()
        if facets:
            self.database.execute(f"SELECT section, count(*) FROM {table} JOIN facts ON facts.id = {table}.rowid"
                                  f" WHERE {where} GROUP BY section", values).fetchall()
        return [self.ids[number - 1] for number, in found]

    def prefix(self, text, size_max=None, sort="", facets="", order=RELEVANCE):
        words = WORD.findall(text.lower())
        open_end = "" if text.endswith(" ") else "*"
        match = " ".join(f'"{word}"' for word in words) + (open_end if words else "")
        return self.ask("prefixes", match, "facts.size" if sort else order.format(table="prefixes"), size_max, facets)

    def trigram(self, text, size_max=None, sort="", facets="", order=RELEVANCE):
        grams = {word[at:at + 3] for word in WORD.findall(text.lower()) for at in range(len(word) - 2)}
        match = " OR ".join(f'"{gram}"' for gram in sorted(grams))
        return self.ask("trigrams", match, "facts.size" if sort else order.format(table="trigrams"), size_max, facets)

    def both(self, text, size_max=None, sort="", facets=""):
        found = self.prefix(text, size_max, sort, facets, POPULAR)
        return found if len(found) >= FEW else found + [
            name for name in self.trigram(text, size_max, sort, facets, POPULAR) if name not in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", type=pathlib.Path)
    parser.add_argument("--answer", type=pathlib.Path)
    parser.add_argument("--time", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, default=speed.CLASS_S, help="processor time for a class, when slow")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    engine = Fts5(options.documents)
    ways = {"fts5-prefix": engine.prefix, "fts5-trigram": engine.trigram, "fts5-both": engine.both}
    if options.answer:
        for name, search in ways.items():
            lines = [f"{text}\t{','.join(search(text)[:speed.TOP])}\n" for text in relevance.read(options.answer)]
            (options.out / f"{name}.answers.tsv").write_text("".join(lines), encoding="utf8")
    if options.time:
        with open(options.out / f"{options.documents.stem}.fts5.results.tsv", "w", encoding="utf8") as out:
            for name in ("fts5-prefix", "fts5-both"):
                for line in speed.measure(name, queries.read(options.time), ways[name], options.seconds):
                    print(line, flush=True)
                    out.write(line + "\n")


if __name__ == "__main__":
    main()
