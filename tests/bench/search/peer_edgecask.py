#!/usr/bin/env python3
"""EdgeCask on documents of data.py: answers to judged queries, processor time of queries as one types, and what an index costs.

    peer_edgecask.py DATA/films.tsv --answer relevance-films.tsv --out OUT
    peer_edgecask.py DATA/long-100k.tsv --time DATA/long-100k.queries.tsv --out OUT
    peer_edgecask.py DATA/short-1m.tsv --cost --out OUT

Two ways, over one connection to a gateway of its own: as it is (`edgecask`), and with no bound of postings (`edgecask-exact`). What is
counted is the server's processor time, so reading the request and writing the reply belong to it. Everything is asked some times before
it is timed, since searches decide when segments are merged. Facets are asked through FT.HTTP_RO, as browsers ask; all else is FT.SEARCH.

Writes OUT/WAY.answers.tsv (relevance.py judges them) or OUT/DATA.edgecask.results.tsv (speed.py shows them). --cost prints what
documents take to be written with and without an index, its bytes in memory and in the log, how soon the documents are searchable
after a start with and without segments, and what writes take that no index covers.
"""

import argparse
import contextlib
import itertools
import json
import pathlib
import shutil
import statistics
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
# Documents that --cost changes.
CHANGED = 20_000
# Of writes that no index covers: documents that it does cover, writes of a round, rounds with an index and as many without. A round is
# some 50 ms, so that other work of the machine falls on both alike.
COVERED, UNCOVERED, ROUNDS = 1_000, 10_000, 60
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

    def __init__(self, program, folder, *options):
        self.command = [program, "serve", "--dir", str(folder), "--appendfsync", "everysec", *options]
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

    def clock(self, threads=""):
        """Seconds of processor that the server's threads, or those whose names begin so, have taken, to the nanosecond."""
        taken = 0
        for task in pathlib.Path(f"/proc/{self.server.process.pid}/task").iterdir():
            # One that has just ended had done little.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                if (task / "comm").read_text().startswith(threads):
                    taken += int((task / "schedstat").read_text().split()[0])
        return taken / 1e9

    def load(self, path, most=None):
        """Writes each document, or the first `most`, as a hash; the number of documents."""
        waiting, count = [], 0
        for row in itertools.islice(data.read(path), most):
            waiting.append(write(row))
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

    def at_rest(self):
        """Waits until nothing goes on in the background: a tenth of a second in which the server takes next to nothing."""
        while True:
            begin = self.clock()
            time.sleep(0.1)
            if self.clock() - begin < 0.001:
                return

    def indexed(self):
        """Waits until the index has all documents, and tells what FT.INFO says."""
        while True:
            facts = self.ask("FT.INFO", "i")
            facts = dict(zip(facts[::2], facts[1::2]))
            if facts[b"indexing"] == b"0":
                return facts
            time.sleep(0.002)


def write(row, prefix="i:"):
    """The HSET of a document."""
    words = ["HSET", prefix + row["id"]]
    for field in FIELDS:
        words += [field, row[field]]
    return resp.encode(*words)


def speakable(text):
    """A text as a person types it, whose signs mean nothing in RediSearch's language."""
    return "".join(letter if letter.isalnum() or letter.isspace() else f"\\{letter}" for letter in text)


def settle(engine, classes):
    """Asks everything some times: what searches have paid for is merged then, as it is in an index that is in use."""
    for _ in range(3):
        for each in classes.values():
            for query in each:
                engine.search(*query)
        engine.at_rest()


def cost(options, folder):
    print(f"{options.documents.name}, by peer_edgecask.py --cost: microseconds of the server's processor a document")
    plain = folder / "plain"
    plain.mkdir()
    engine = EdgeCask(options.edgecask, plain)
    begin = engine.clock()
    count = engine.load(options.documents, options.count)
    without = engine.clock() - begin
    print(f"  written without an index        {without / count * 1e6:8.1f}")
    counts_without = held(engine, options)
    engine.stop()
    covered = folder / "covered"
    covered.mkdir()
    engine = EdgeCask(options.edgecask, covered)
    engine.ask(*CREATE)
    begin = engine.clock()
    engine.load(options.documents, options.count)
    beside = engine.clock() - begin
    print(f"  written with an index           {beside / count * 1e6:8.1f}")
    counts_with = held(engine, options)
    added(options, counts_without, counts_with)
    print(f"  bytes of log a document: {counts_without['log'] / count:.0f} without, {counts_with['log'] / count:.0f} with")
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
    uncovered(options, folder)


def held(engine, options):
    """What is in memory and in the log once all documents are written, what is appended when some are written again with other words,
    and bytes of keys. Log bytes are those that writes append: merges do not count."""
    facts = engine.facts("everything")
    loaded, memory = int(facts["log_appended_bytes"]), int(facts["used_memory_dataset"])
    rows = list(itertools.islice(data.read(options.documents), min(CHANGED, options.count or CHANGED)))
    engine.flush([resp.encode("HSET", "i:" + row["id"], "short", other["short"]) for row, other in zip(rows, rows[1:] + rows[:1])])
    appended = int(engine.facts("everything")["log_appended_bytes"]) - loaded
    return {"memory": memory, "log": loaded, "changes": appended / len(rows)}


def added(options, without, beside):
    """Prints what the index adds. Used_memory_dataset is the keydir, in which the document map is a hash like others, and not the
    words, which are search_used_memory_indexes; so with equal documents its difference is the document map."""
    keys = [len("i:" + row["id"]) for row in itertools.islice(data.read(options.documents), options.count)]
    key = sum(keys) / len(keys)
    map_bytes = (beside["memory"] - without["memory"]) / len(keys)
    print(f"  memory of the document map: {map_bytes:.1f} bytes a document, of which its key {key:.1f}: {map_bytes - key:.1f} + key")
    print(f"  bytes of log that the index adds to a write: {(beside['log'] - without['log']) / len(keys):.1f} of a new document,"
          f" {beside['changes'] - without['changes']:.1f} of a change (a key has {key:.1f})")


def uncovered(options, folder):
    """Prints what writes take that no index covers, beside the same writes without an index: rounds take turns in one server that
    makes the index and drops it, and all rounds write the same keys. The threads that serve connections count, which do all of it."""
    (folder / "uncovered").mkdir()
    engine = EdgeCask(options.edgecask, folder / "uncovered", "--scrub-bytes-per-second", "0")
    rows = list(itertools.islice(data.read(options.documents), UNCOVERED))
    for kind, requests in (("documents", [write(row, "u:") for row in rows]),
                           ("one short field", [resp.encode("HSET", "u:" + row["id"], "field", "value") for row in rows])):
        engine.ask("FLUSHDB")
        engine.load(options.documents, COVERED)
        taken = {True: [], False: []}
        # The first four write the keys and warm up. ABBA, so that neither is always the first.
        for number in range(-4, 2 * ROUNDS):
            has_index = number % 4 in (1, 2)
            # Both make an index and write some keys before they are timed, so that both find the processor's caches alike.
            engine.ask(*CREATE)
            engine.indexed()
            if not has_index:
                engine.ask("FT.DROPINDEX", "i")
            engine.at_rest()
            for at in range(0, len(requests) // 4, PIPELINE):
                engine.flush(requests[at:at + PIPELINE])
            begin = engine.clock("worker")
            for at in range(0, len(requests), PIPELINE):
                engine.flush(requests[at:at + PIPELINE])
            took = (engine.clock("worker") - begin) / len(requests) * 1e6
            if has_index:
                engine.ask("FT.DROPINDEX", "i")
            if number >= 0:
                taken[has_index].append(took)
        without, beside = (statistics.median(taken[has_index]) for has_index in (False, True))
        low, middle, high = statistics.quantiles([each / other for each, other in zip(taken[True], taken[False])])
        print(f"  writes that no index covers, {kind}: {without:.2f} without an index, {beside:.2f} with one: {beside / without - 1:+.1%};"
              f" of {ROUNDS} pairs {middle - 1:+.1%}, half of them from {low - 1:+.1%} to {high - 1:+.1%}", flush=True)
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
    parser.add_argument("--count", type=int, help="with --cost: the first so many documents only [all]")
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
            settle(engine, plain)
            for name, search in ways.items():
                lines += told(speed.measure(name, plain, search, options.seconds, engine.clock))
        engine.stop()
        if options.time:
            engine = loaded(options, folder / "web", lambda engine: [engine.web(*request) for request in WEB])
            facets = {name: each for name, each in asked.items() if each[0][3]}
            settle(engine, facets)
            lines += told(speed.measure("edgecask", facets, engine.search, options.seconds, engine.clock))
            engine.stop()
            (options.out / f"{options.documents.stem}.edgecask.results.tsv").write_text("\n".join(lines) + "\n")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
