#!/usr/bin/env python3
"""SQL over a socket beside the program `sqlite3`: random statements must have the same rows, types, counts and errors.

    differences.py [--statements 44000] [--seed 1]     EDGECASK_BIN names the edgecask, EDGECASK_SEED the seed

Statements come in worlds, each with a database of its own: tables, indexes, views and triggers first, then changes and
queries by turns, alone and in transactions, and at the end all that is there. The gateway gets all over one connection, RESP3, in
pipelines, by SQL.EXEC, SQL.QUERY and cursors, and is killed and started again between some worlds. `explained.txt` has the differences that are meant, which come from the version of SQLite.
"""

import argparse
import collections
import contextlib
import itertools
import math
import os
import pathlib
import random
import signal
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import sqlite_program
from changes import Changes
from explained import Explained
from expressions import Expressions
from queries import Queries, Statement
from resp import Connection, encode
from schema import Schema
from servers import PATIENCE_S, Server

DEFAULT_STATEMENTS = 44_000
DEFAULT_SEED = 20261121
WORLD = 220
PIPELINE = 40
# The server is killed after so many worlds, and must go on with what it has.
KILL_EVERY = 12
SHOWN_MAX = 40
# Rows of a cursor at a time.
FETCHED_ROWS = 3
# Functions of reals need not round alike in two versions.
REAL_TOLERANCE = 1e-13
# What a sliding sum of a window leaves of values that are gone.
ZERO_TOLERANCE = 1e-12


class ErrorReply(str):
    pass


class Typed(Connection):
    """A connection whose values have the types of RESP3."""

    def value(self):
        line = self.line()
        kind, rest = line[:1], line[1:]
        if kind == b"-":
            return ErrorReply(rest.decode(errors="replace").removeprefix("ERR "))
        if kind == b":":
            return int(rest)
        if kind == b",":
            return float(rest)
        if kind == b"_":
            return None
        if kind == b"$":
            return self.file.read(int(rest) + 2)[:-2]
        if kind in b"*%":
            return [self.value() for _ in range(int(rest) * (2 if kind == b"%" else 1))]
        return rest


def world(seed, count):
    """The statements of one world."""
    draw = random.Random(seed)
    make = Expressions(draw)
    schema = Schema(draw, make)
    queries = Queries(draw, schema, make)
    changes = Changes(draw, schema, make, queries)
    statements = [Statement("CREATE TABLE log(what TEXT, a INT, b)")]
    statements += [Statement(schema.create_table()) for _ in range(draw.randrange(2, 5))]
    for define in (schema.create_index, schema.create_index, schema.create_view, schema.create_trigger):
        statements.append(Statement(define()))
    statements += [changes.insert() for _ in range(count // 6)]
    while len(statements) < count - 12:
        turn = draw.random()
        if turn < 0.04:
            statements += changes.transaction()
            continue
        statement = queries.any() if turn < 0.55 else changes.any() if turn < 0.93 else changes.look()
        if statement.text.startswith(("SELECT", "WITH")):
            statement.how = draw.choice(("exec", "exec", "exec", "query", "query", "cursor"))
        statements.append(statement)
    for table in schema.tables:
        statements.append(Statement(f"SELECT * FROM {table.name} ORDER BY id", True))
    statements += [
        Statement("PRAGMA integrity_check"),
        Statement("PRAGMA foreign_key_check"),
        Statement("SELECT * FROM log ORDER BY rowid", True),
        Statement("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name", True)
    ]
    return statements


def request(database, statement):
    """A statement as a command."""
    commands = {"begin": "SQL.BEGIN", "commit": "SQL.COMMIT", "rollback": "SQL.ROLLBACK", "end": "SQL.ROLLBACK"}
    if statement.how in commands:
        return commands[statement.how], database
    return ("SQL.QUERY" if statement.how == "query" else "SQL.EXEC"), database, statement.text


def by_cursor(client, database, text):
    """The answer to a statement whose rows come a few at a time."""
    client.send(encode("SQL.CURSOR", "OPEN", database, text))
    opened = client.value()
    if isinstance(opened, ErrorReply):
        return opened
    cursor, names = opened
    answer = [names]
    while cursor:
        client.send(encode("SQL.CURSOR", "FETCH", database, cursor, "COUNT", FETCHED_ROWS))
        fetched = client.value()
        if isinstance(fetched, ErrorReply):
            return fetched
        cursor, rows = fetched
        answer += rows
    return answer


class Gateway:
    """The gateway's answers, through restarts."""

    def __init__(self, program, folder):
        self.command = [program, "serve", "--dir", os.path.join(folder, "data")]
        self.log = os.path.join(folder, "log")

    def answers(self, worlds):
        for number, statements in enumerate(worlds):
            if number % KILL_EVERY == 0:
                if number:
                    self.server.stop(signal.SIGKILL)
                self.server = Server(self.command, self.log)
                client = Typed(self.server.port, PATIENCE_S)
                client.send(encode("HELLO", 3))
                client.value()
            for is_cursor, some in itertools.groupby(statements, lambda statement: statement.how == "cursor"):
                some = list(some)
                if is_cursor:
                    yield from (by_cursor(client, f"world:{number}", statement.text) for statement in some)
                    continue
                texts = [encode(*request(f"world:{number}", statement)) for statement in some]
                for at in range(0, len(texts), PIPELINE):
                    client.send(b"".join(texts[at:at + PIPELINE]))
                    for _ in texts[at:at + PIPELINE]:
                        yield client.value()

    def stop(self):
        with contextlib.suppress(AttributeError):
            self.server.stop(signal.SIGKILL)


def is_same(ours, theirs, is_loose):
    """Whether two values are equal. A loose comparison has one kind of number."""
    if isinstance(ours, float) and isinstance(theirs, float):
        return math.isclose(ours, theirs, rel_tol=REAL_TOLERANCE, abs_tol=ZERO_TOLERANCE)
    return ours == theirs if is_loose else type(ours) is type(theirs) and ours == theirs


def same_rows(ours, theirs, is_loose):
    return len(ours) == len(theirs) and all(
        len(one) == len(two) and all(is_same(a, b, is_loose) for a, b in zip(one, two)) for one, two in zip(ours, theirs)
    )


def order(row):
    """Sorts rows of all types; reals less exactly than they are compared."""
    return [
        (0, 0) if value is None else (2, value) if isinstance(value, bytes) else (1, float(f"{value:.9g}")) for value in row
    ]


def difference(statement, ours, theirs):
    """What differs, as two texts; None if nothing does."""
    if statement.how == "end":
        return None
    if isinstance(ours, ErrorReply) or theirs.error is not None:
        shown = str(ours) if isinstance(ours, ErrorReply) else "no error"
        return None if isinstance(ours, ErrorReply) and shown == theirs.error else (shown, theirs.error or "no error")
    if statement.how in ("begin", "commit", "rollback"):
        return None
    if isinstance(ours, int):
        if theirs.names is not None:
            return f"{ours} changed", f"rows {theirs.rows}"
        return None if statement.is_several or ours == theirs.changed else (f"{ours} changed", f"{theirs.changed} changed")
    names, *rows = ours
    if theirs.rows and names != theirs.names:
        return f"columns {names}", f"columns {theirs.names}"
    if statement.is_ordered and same_rows(rows, theirs.rows, statement.is_loose):
        return None
    # SQLite 3.40 shows a real of a RETURNING as it is stored, which is as an integer if it is one.
    is_loose = statement.is_loose or statement.is_ordered or " RETURNING " in statement.text
    one, two = sorted(rows, key=order), sorted(theirs.rows, key=order)
    if not statement.is_ordered and same_rows(one, two, is_loose):
        return None
    if statement.is_ordered:
        return first_difference(rows, theirs.rows)
    only_ours, only_theirs = ([row for row in some if row not in others][:1] for some, others in ((one, two), (two, one)))
    return f"of {len(one)} rows only here: {only_ours}", f"of {len(two)} rows only here: {only_theirs}"


def first_difference(ours, theirs):
    """The rows at the first place where they differ."""
    for place, (one, two) in enumerate(zip(ours, theirs)):
        if not same_rows([one], [two], False):
            return f"row {place} of {len(ours)}: {one}", f"row {place} of {len(theirs)}: {two}"
    return f"{len(ours)} rows", f"{len(theirs)} rows"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--statements", type=int, default=DEFAULT_STATEMENTS)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("EDGECASK_SEED", DEFAULT_SEED)))
    options = parser.parse_args()
    program = os.environ.get("EDGECASK_BIN", str(HERE.parents[1] / "target" / "debug" / "edgecask"))
    explained = Explained(HERE / "explained.txt", "sqlite3")
    begin = time.monotonic()
    worlds = [world(f"{options.seed}:{number}", WORLD) for number in range(math.ceil(options.statements / WORLD))]
    statements = [statement for one in worlds for statement in one]
    numbers = [number for number, one in enumerate(worlds) for _ in one]
    theirs = sqlite_program.ask(worlds)
    outcomes, problems = collections.Counter(), []
    with tempfile.TemporaryDirectory(prefix="sql-differences-") as folder:
        gateway = Gateway(program, folder)
        try:
            for number, statement, ours, oracle in zip(numbers, statements, gateway.answers(worlds), theirs):
                kind = "errors" if oracle.error is not None else "results" if oracle.names else "no rows"
                outcomes[kind] += 1
                found = difference(statement, ours, oracle)
                if found and explained.covers(statement.text, found[1], found[0]):
                    outcomes["explained"] += 1
                elif found:
                    problems.append(f"world {number}: > {statement.text}\n  sqlite3:  {found[1]}\n  edgecask: {found[0]}")
        finally:
            gateway.stop()
    is_usual = (options.seed, options.statements) == (DEFAULT_SEED, DEFAULT_STATEMENTS)
    problems = [*(explained.unmet() if is_usual else []), *problems]
    print("\n".join(problems[:SHOWN_MAX]))
    print(
        f"sql: {len(statements)} statements beside sqlite3 {sqlite_program.version()}, --seed {options.seed}: {outcomes['results']} with rows, "
        f"{outcomes['no rows']} without, {outcomes['errors']} errors; {outcomes['explained']} differences explained, "
        f"{len(problems)} unexplained; {time.monotonic() - begin:.0f} s"
    )
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
