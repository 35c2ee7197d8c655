#!/usr/bin/env python3
"""kill -9 at random moments while clients change SQL databases and keys together.

    sql_kill9.py --edgecask target/release/edgecask [--cycles 60] [--seed 15] [--policy always]

Each client has a database of its own. Its unit is a MULTI that changes the database and sets a key to the number of the unit, or a
transaction of SQL.BEGIN and SQL.COMMIT that changes the database alone; the number stands in it as well. All clients also write to one database, by a text that moves an amount, adds a row and counts it by redis('INCR', …). While they do,
another client asks for checkpoints and merges. Then the server is killed. The promises:

- every unit that was acknowledged is there, and of the others the first ones wholly or not at all: the rows are those that Python's
  SQLite has after the unit that they name, and the key has the number of the last MULTI until then;
- in the common database the amounts have their sum, and the rows are as many as the key counts;
- PRAGMA integrity_check finds nothing in any database after any start, and the server says no error.

Exits with 1 if a promise is broken.
"""

import argparse
import pathlib
import random
import signal
import sqlite3
import tempfile
import threading
import time

from client import Client, ErrorReply, Lost
from kill9 import KILL_START_S, KILLED_STARTS, POLICIES, RUN_S, operate
from programs import DidNotStart, Edgecask, Promises, arguments

CLIENTS = 3
# Units that are sent at once.
PIPELINES = (1, 1, 4, 16)
# Small, so that datafiles are sealed and merged.
OPTIONS = ("--datafile-max-bytes", 1 << 20)
SCHEMA = (
    "CREATE TABLE IF NOT EXISTS entry(id INTEGER PRIMARY KEY, name TEXT UNIQUE, amount INT, note TEXT)",
    "CREATE INDEX IF NOT EXISTS by_amount ON entry(amount)",
    "CREATE INDEX IF NOT EXISTS by_note ON entry(lower(note)) WHERE amount > 50",
    "CREATE TABLE IF NOT EXISTS unit(id INTEGER PRIMARY KEY, number INT)", "INSERT OR IGNORE INTO unit VALUES (1, 0)"
)
COMMON = (
    "CREATE TABLE IF NOT EXISTS account(id INTEGER PRIMARY KEY, amount INT)", "CREATE TABLE IF NOT EXISTS ledger(line TEXT)",
    "INSERT OR IGNORE INTO account VALUES (1, 1000), (2, 1000), (3, 1000)"
)
ALL_ROWS = "SELECT id, name, amount, note FROM entry ORDER BY id"


def is_multi(number):
    """Whether this unit is a MULTI."""
    return number % 4 != 0


def change(number, draw):
    """A statement that has the same effect wherever it runs."""
    insert = (
        f"INSERT INTO entry(name, amount, note) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {draw.randrange(1, 9)}) "
        f"SELECT 'name {number} ' || i, (i * 37 + {number}) % 100, hex(zeroblob(i * {draw.randrange(60)})) FROM n"
    )
    return draw.choice(
        (
            insert,
            insert,
            insert,
            f"UPDATE entry SET amount = amount + 1 WHERE id % 5 = {number % 5}",
            f"DELETE FROM entry WHERE id % 7 = {number % 7}",
            f"UPDATE entry SET note = hex(zeroblob({draw.randrange(3000)})) WHERE id = (SELECT max(id) FROM entry)",
            f"DELETE FROM entry WHERE id < (SELECT max(id) FROM entry) - 300",
            f"INSERT INTO entry(id, name) VALUES ({draw.randrange(1, 100)}, 'fixed {number}') ON CONFLICT(id) DO UPDATE SET amount = 77, note = 'Again'",
        )
    )


def common_change(draw):
    first, second = draw.sample((1, 2, 3), 2)
    return (
        f"UPDATE account SET amount = amount - 7 WHERE id = {first}; INSERT INTO ledger VALUES ('{first}>{second}'); "
        f"SELECT redis('INCR', 'ledger'); UPDATE account SET amount = amount + 7 WHERE id = {second}"
    )


class Worker:
    """One client, its database, and the same database in Python's SQLite as of the last acknowledged unit."""

    def __init__(self, number, draw):
        self.database, self.key, self.draw = f"db:{number}", f"number:{number}", draw
        self.model = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        for statement in SCHEMA:
            self.model.execute(statement)
        self.done, self.pending, self.error = 0, [], None

    def run(self, port):
        self.pending = []
        try:
            client = Client(port)
            self.must(client.ask("SQL.EXEC", self.database, "; ".join(SCHEMA)))
            self.must(client.ask("SQL.EXEC", "common", "; ".join(COMMON)))
            while not self.error:
                self.pipeline(client)
        except Lost:
            pass

    def must(self, reply, database=None):
        for part in reply if isinstance(reply, list) else [reply]:
            if isinstance(part, ErrorReply):
                self.error = f"{database or self.database} was answered {part} in {reply}"

    def pipeline(self, client):
        for _ in range(self.draw.choice(PIPELINES)):
            self.pending.append(change(self.done + len(self.pending) + 1, self.draw))
        for place, text in enumerate(self.pending):
            number = self.done + place + 1
            change_rows = ("SQL.EXEC", self.database, text), ("SQL.EXEC", self.database, f"UPDATE unit SET number = {number}")
            if is_multi(number):
                client.send(("MULTI", ), *change_rows, ("SET", self.key, number), ("EXEC", ))
            else:
                client.send(("SQL.BEGIN", self.database), *change_rows, ("PING", ), ("SQL.COMMIT", self.database))
            client.send(("SQL.EXEC", "common", common_change(self.draw)))
        while self.pending:
            replies = [client.reply() for _ in range(6)]
            self.must(replies[:5] + (replies[4] if isinstance(replies[4], list) else []))
            self.apply()
            self.must(replies[5], "common")

    def apply(self):
        self.model.execute(self.pending.pop(0))
        self.done += 1

    def settle(self, client):
        """What is wrong with the database after a start; None if nothing is."""
        counted, number = int(client.ask("GET", self.key) or 0), 0
        if client.ask("EXISTS", self.database):
            found = client.ask("SQL.QUERY", self.database, "SELECT number FROM unit")
            if isinstance(found, ErrorReply):
                return f"{self.database}: {found}"
            number = int(found[1][0])
        last_multi = number if is_multi(number) else number - 1
        if counted != max(0, last_multi):
            return f"{self.database} is after unit {number}, but {self.key} is {counted}"
        if not self.done <= number <= self.done + len(self.pending):
            return f"{self.database} is after unit {number}, but {self.done} units were acknowledged and {len(self.pending)} more sent"
        while self.done < number:
            self.apply()
        self.pending = []
        if number == 0 and client.ask("EXISTS", self.database) == 0:
            return None
        found = client.ask("SQL.QUERY", self.database, ALL_ROWS)
        if isinstance(found, ErrorReply):
            return f"{self.database}: {found}"
        expected = [[None if value is None else str(value).encode() for value in row] for row in self.model.execute(ALL_ROWS)]
        if found[1:] != expected:
            return f"{self.database} has {len(found) - 1} rows that are not the {len(expected)} after unit {number}"
        return None


def whole(client):
    """What is wrong with any database."""
    for key in client.ask("SCAN", 0, "TYPE", "sqldb", "COUNT", 1000)[1]:
        found = client.ask("SQL.QUERY", key, "PRAGMA integrity_check")
        if found != [[b"integrity_check"], [b"ok"]]:
            return f"integrity_check of {key.decode()}: {found}"
    if client.ask("EXISTS", "common"):
        found = client.ask("SQL.QUERY", "common", "SELECT (SELECT sum(amount) FROM account), (SELECT count(*) FROM ledger)")
        counted = client.ask("GET", "ledger") or b"0"
        if isinstance(found, ErrorReply) or found[1:] != [[b"3000", counted]]:
            return f"the common database has {found}, and the key counts {counted}"
    return None


class Run:
    """All cycles under one policy."""

    def __init__(self, edgecask, scratch, policy, promises, options):
        self.edgecask, self.policy, self.promises = edgecask, policy, promises
        self.draw = random.Random(f"{options.seed} {policy}")
        self.directory = scratch / f"store-{policy}"
        self.workers = [Worker(number, random.Random(f"{options.seed} {policy} {number}")) for number in range(CLIENTS)]

    def cycle(self, number):
        where = f"cycle {number} of appendfsync {self.policy}"
        if self.draw.random() < KILLED_STARTS and number > 0:
            self.edgecask.start_and_kill(self.directory, self.draw.uniform(*KILL_START_S), "--appendfsync", self.policy)
        try:
            server = self.edgecask.serve(self.directory, "--appendfsync", self.policy)
        except DidNotStart as refusal:
            raise SystemExit(f"{where}: does not start: {refusal}") from refusal
        with server:
            self.settle(server, where)
            self.write(server, where)

    def settle(self, server, where):
        with Client(server.port) as client:
            for wrong in (whole(client), *(worker.settle(client) for worker in self.workers)):
                self.promises.hold(wrong is None, f"{where}: {wrong}")

    def write(self, server, where):
        threads = [threading.Thread(target=worker.run, args=(server.port, )) for worker in self.workers]
        threads.append(threading.Thread(target=operate, args=(server.port, random.Random(where))))
        for thread in threads:
            thread.start()
        time.sleep(self.draw.uniform(*RUN_S))
        self.promises.hold(server.process.poll() is None, f"{where}: ended by itself")
        server.stop(signal.SIGKILL)
        for thread in threads:
            thread.join()
        said = server.log_path.read_text(errors="replace")
        self.promises.hold("panicked" not in said and " ERROR " not in said, f"{where}: the log says: {said[-2000:]}")
        for worker in self.workers:
            self.promises.hold(not worker.error, f"{where}: {worker.error}")
            worker.error = None


def main():
    parser = arguments(argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter))
    parser.add_argument("--cycles", type=int, default=60, help="for each policy")
    parser.add_argument("--policy", choices=POLICIES, action="append")
    options = parser.parse_args()
    promises = Promises(options.seed)
    with tempfile.TemporaryDirectory(prefix="edgecask-sql-kill9-", dir=options.scratch) as folder:
        scratch = pathlib.Path(folder)
        edgecask = Edgecask(options.edgecask, scratch, OPTIONS)
        print(f"{'policy':10}{'kills':>7}{'acknowledged':>14}{'s':>6}")
        for policy in options.policy or POLICIES:
            begin = time.monotonic()
            run = Run(edgecask, scratch, policy, promises, options)
            for number in range(options.cycles):
                run.cycle(number)
            with edgecask.serve(run.directory) as server:
                run.settle(server, f"after all cycles of {policy}")
            units = sum(worker.done for worker in run.workers)
            promises.hold(units > options.cycles, f"only {units} units were acknowledged")
            print(f"{policy:10}{options.cycles:7}{units:14}{time.monotonic() - begin:6.0f}", flush=True)
    promises.end()


if __name__ == "__main__":
    main()
