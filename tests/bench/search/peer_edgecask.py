#!/usr/bin/env python3
"""EdgeCask on documents of data.py: answers to judged queries, processor time of queries as one types, and what an index costs.

    peer_edgecask.py DATA/films.tsv --answer relevance-films.tsv --out OUT
    peer_edgecask.py DATA/long-100k.tsv --time DATA/long-100k.queries.tsv --out OUT
    peer_edgecask.py DATA/short-1m.tsv --cost --out OUT

Two ways, over one connection to a gateway of its own: as it is (`edgecask`), and with no bound of postings (`edgecask-exact`). What is
counted is the server's processor time, so reading the request and writing the reply belong to it. Facets are asked through
FT.HTTP_RO, as browsers ask; all else is FT.SEARCH.

Writes OUT/WAY.answers.tsv (relevance.py judges them) or OUT/DATA.edgecask.results.tsv (speed.py shows them). --cost prints what
documents take to be written with and without an index, its bytes, and how soon the documents are searchable after a start with and
without segments.
"""

import argparse
import json
import pathlib
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

import data
import queries
import relevance
import resp
import servers
import speed

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
PIPELINE = 500
FIELDS = ("name", "short", "body", "section", "size", "popularity")
SCHEMA = ("SCHEMA name TEXT WEIGHT 10 short TEXT WEIGHT 4 body TEXT section TAG SEPARATOR | SORTABLE"
          " size NUMERIC SORTABLE popularity NUMERIC SORTABLE").split()
CREATE = ["FT.CREATE", "i", "ANALYZER", "INSTANT", "PREFIX", "1", "i:", *SCHEMA]
# The same index as a browser's library makes it.
WEB = [("POST", "/indexes", {"uid": "i", "primaryKey": "id"}),
       ("PATCH", "/indexes/i/settings", {
           "searchableAttributes": ["name", "short", "body"], "filterableAttributes": ["section", "size"],
           "sortableAttributes": ["size"]})]


class EdgeCask:
    """A gateway on `folder`, and a connection to it."""

    def __init__(self, program, folder):
        self.command = [program, "serve", "--dir", str(folder), "--appendfsync", "everysec"]
        self.log = folder.parent / "edgecask.log"
        self.start()

    def start(self):
        self.server = servers.Server(self.command, self.log)
        self.connection = resp.Connection(self.server.port, servers.PATIENCE_S)

    def stop(self):
        self.server.__exit__()

    def web(self, method, path, body):
        """The answer to a request of FT.HTTP."""
        status, _, answer = self.ask("FT.HTTP" if path in ("/indexes", "/indexes/i/settings") else "FT.HTTP_RO",
                                     method, path, "", json.dumps(body))
        if not status.startswith(b"20"):
            sys.exit(answer.decode())
        return json.loads(answer)

    def clock(self):
        """Seconds of processor that the server's threads have taken, to the nanosecond."""
        tasks = pathlib.Path(f"/proc/{self.server.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    def load(self, path):
        """Writes each document as a hash; the number of documents."""
        waiting, count = [], 0
        for row in data.read(path):
            words = ["HSET", "i:" + row["id"]]
            for field in FIELDS:
                words += [field, row[field]]
            waiting.append(resp.encode(*words))
            count += 1
            if len(waiting) == PIPELINE:
                self.flush(waiting)
        self.flush(waiting)
        return count

    def flush(self, waiting):
        self.connection.send(b"".join(waiting))
        for _ in waiting:
            reply = self.connection.reply()
            if reply.startswith(b"-"):
                sys.exit(reply.decode())
        waiting.clear()

    def facts(self, section):
        text = self.ask("INFO", section).decode()
        return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)

    def ask(self, *words):
        self.connection.send(resp.encode(*words))
        return self.connection.value()

    def search(self, text, size_max=None, sort="", facets="", cap=None):
        """The ids of the ten best documents."""
        if facets:
            body = {"q": text, "limit": speed.TOP, "attributesToRetrieve": ["id"], "facets": [facets], "sort": [f"{sort}:asc"]}
            if size_max is not None:
                body["filter"] = f"size <= {size_max}"
            return [hit["id"] for hit in self.web("POST", "/indexes/i/search", body)["hits"]]
        words = ["FT.SEARCH", "i", speakable(text), "SCORER", "INSTANT", "POPULARITY", "popularity", "NOCONTENT",
                 "LIMIT", 0, speed.TOP]
        words += [] if cap is None else ["CAP", cap]
        return [name.decode().removeprefix("i:") for name in self.ask(*words)[1:]]

    def indexed(self):
        """Waits until the index has all documents, and tells what FT.INFO says."""
        while True:
            facts = self.ask("FT.INFO", "i")
            facts = dict(zip(facts[::2], facts[1::2]))
            if facts[b"indexing"] == b"0":
                return facts
            time.sleep(0.002)


def speakable(text):
    """A text as a person types it, whose signs mean nothing in RediSearch's language."""
    return "".join(letter if letter.isalnum() or letter.isspace() else f"\\{letter}" for letter in text)


def cost(options, folder):
    print(f"{options.documents.name}, by peer_edgecask.py --cost: microseconds of the server's processor a document")
    plain = folder / "plain"
    plain.mkdir()
    engine = EdgeCask(options.edgecask, plain)
    begin = engine.clock()
    count = engine.load(options.documents)
    without = engine.clock() - begin
    engine.stop()
    print(f"  written without an index        {without / count * 1e6:8.1f}")
    covered = folder / "covered"
    covered.mkdir()
    engine = EdgeCask(options.edgecask, covered)
    engine.ask(*CREATE)
    begin = engine.clock()
    engine.load(options.documents)
    beside = engine.clock() - begin
    print(f"  written with an index           {beside / count * 1e6:8.1f}")
    bytes_of = {name: sum(path.stat().st_size for path in each.rglob("*") if path.is_file() and ".derived" not in path.name)
                for name, each in (("without", plain), ("with", covered))}
    print(f"  bytes of log a document: {bytes_of['without'] / count:.0f} without, {bytes_of['with'] / count:.0f} with")
    for line in sorted(engine.facts("search").items()):
        print("  INFO search", *line)
    begin = engine.clock()
    engine.stop()
    segments = sum(path.stat().st_size for path in covered.rglob("*.derived*"))
    print(f"  bytes of segments a document: {segments / count:.0f}")
    for name in ("with segments", "without segments"):
        if name.startswith("without"):
            for path in covered.rglob("*.derived*"):
                path.unlink()
        engine.start()
        begin = time.monotonic()
        facts = engine.indexed()
        print(f"  {name}: answers PING after {engine.server.started_s:.2f} s, has {int(facts[b'num_docs'])} documents"
              f" {time.monotonic() - begin:.2f} s later")
        engine.stop()


def loaded(options, folder, create):
    """An engine with an index and all documents."""
    folder.mkdir()
    engine = EdgeCask(options.edgecask, folder)
    create(engine)
    begin = engine.clock()
    count = engine.load(options.documents)
    engine.indexed()
    print(f"edgecask: {count} documents, CPU {engine.clock() - begin:.1f} s", flush=True)
    return engine


def told(lines):
    for line in lines:
        print(line, flush=True)
        yield line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", type=pathlib.Path)
    parser.add_argument("--answer", type=pathlib.Path)
    parser.add_argument("--time", type=pathlib.Path)
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, default=speed.CLASS_S, help="processor time for a class, when slow")
    parser.add_argument("--edgecask", default=str(REPOSITORY / "target/release/edgecask"), help="the program [%(default)s]")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="edgecask-search-"))
    try:
        if options.cost:
            cost(options, folder)
            return
        engine = loaded(options, folder / "data", lambda engine: engine.ask(*CREATE))
        ways = {"edgecask": engine.search, "edgecask-exact": lambda *query: engine.search(*query, cap=0)}
        if options.answer:
            for name, search in ways.items():
                lines = [f"{text}\t{','.join(search(text)[:speed.TOP])}\n" for text in relevance.read(options.answer)]
                (options.out / f"{name}.answers.tsv").write_text("".join(lines), encoding="utf8")
        lines = []
        if options.time:
            asked = queries.read(options.time)
            plain = {name: each for name, each in asked.items() if not each[0][3]}
            for name, search in ways.items():
                lines += told(speed.measure(name, plain, search, options.seconds, engine.clock))
        engine.stop()
        if options.time:
            engine = loaded(options, folder / "web", lambda engine: [engine.web(*request) for request in WEB])
            facets = {name: each for name, each in asked.items() if each[0][3]}
            lines += told(speed.measure("edgecask", facets, engine.search, options.seconds, engine.clock))
            engine.stop()
            (options.out / f"{options.documents.stem}.edgecask.results.tsv").write_text("\n".join(lines) + "\n")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
