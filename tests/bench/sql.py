#!/usr/bin/env python3
"""SQL on one worker beside SQLite, PostgreSQL 15 and redis-server with joins by the client: operations a second, processor time, log.

    sql.py --edgecask target/release/edgecask [--rows 50000] [--rounds 3] [--seconds 2] [--only "point SELECT,join of 10"] [--without postgres]

All systems have the same rows, run at the same time on empty folders, and are measured by turns; shown are medians of the rounds.

- edgecask: `--threads 1`, four connections, each of which has a pipeline of 64 requests under way while another is answered; texts with
  `?`, which the connection to the database keeps prepared. Each statement that changes something is a commit of its own.
- sqlite3: Python's module (its version is shown) in this process, WAL, synchronous NORMAL, prepared, each statement a transaction of its
  own. Its processor time has that of Python in it, about a microsecond.
- postgres: pgbench, prepared, 4 connections, synchronous_commit off, pipelines of 64 for reads. Changes are sent one by one, since all
  of one pipeline would be one transaction.
- redis: the log with everysec, pipelines as for edgecask. Rows are hashes, indexes are sets and sorted sets, written in one MULTI with
  the row; a join is a second pipeline with what the first one has answered.

The processor time is the server's (sqlite3: the whole process), by operation. Log bytes are those of INFO (edgecask), once all rows are there.
A build without optimisation gives no figures worth showing.
"""

import argparse
import contextlib
import itertools
import os
import pathlib
import random
import selectors
import shutil
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from resp import Connection, encode
from servers import CLOCK_TICK, Server, free_port

import peers

CONNECTIONS, PIPELINE, BATCHES = 4, 64, 64
BATCH_ROWS = 100
CITIES = 500
PATIENCE_S = 60
POSTGRES = pathlib.Path("/usr/lib/postgresql/15/bin")
SYSTEMS = ("edgecask", "sqlite3", "postgres", "redis")

SCHEMA = """
CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT UNIQUE, city TEXT, age INTEGER);
CREATE INDEX person_city ON person(city);
CREATE INDEX person_age ON person(age);
CREATE TABLE event(id INTEGER PRIMARY KEY, kind INTEGER, note TEXT);
CREATE INDEX event_kind ON event(kind);
CREATE TABLE counter(id INTEGER PRIMARY KEY, amount INTEGER, note TEXT);
CREATE TABLE purchase(id INTEGER PRIMARY KEY, person INTEGER, total INTEGER)
"""


class Draw:
    """Parameters; ids of new rows do not repeat."""

    def __init__(self, rows, seed):
        self.random, self.rows = random.Random(seed), rows
        # Ascending for events; for persons scattered over a large range.
        self.next_event, self.next_person = itertools.count(rows + 1), itertools.count(rows + 1)

    def id(self):
        return self.random.randrange(1, self.rows - 10)

    def event(self):
        return next(self.next_event), self.random.randrange(1000), "note of an event"

    def person(self):
        number = next(self.next_person)
        return self.scattered(
            number
        ), f"person {self.scattered(number)}", f"city {self.random.randrange(CITIES)}", self.random.randrange(100_000)

    def scattered(self, number):
        """Another number for each, far beyond the first rows."""
        return self.rows * 2 + number * 2_654_435_761 % (1 << 31)


class Operation:
    """One kind of work: a statement, its parameters, and the same for redis-server as steps, each of which is a list of commands."""

    def __init__(self, name, statement, parameters, redis, pgbench, units=1, is_read=False, is_text=False):
        self.name, self.statement, self.parameters, self.redis = name, statement, parameters, redis
        self.pgbench, self.units, self.is_read, self.is_text = pgbench, units, is_read, is_text


def person_for_redis(row):
    key, name, city, age = row
    return [
        ("MULTI", ), ("HSET", f"person:{key}", "name", name, "city", city, "age", age), ("HSETNX", "person:name", name, key),
        ("SADD", f"person:city:{city}", key), ("ZADD", "person:age", age, key), ("EXEC", )
    ]


def operations():
    """Every operation; a pgbench script draws its own parameters."""
    draw_id = "\\set id random(1, :rows - 10)\n"
    new_person = ("\\set n random(1, 2000000000)\n\\set c random(0, 499)\n\\set a random(0, 99999)\n")
    one_id = lambda draw: (draw.id(), )
    ten = lambda draw: (lambda first: (first, first + 9))(draw.id())
    person = "SELECT name, age FROM person WHERE id = {}"
    persons = "INSERT INTO person VALUES " + ", ".join(["(?, ?, ?, ?)"] * BATCH_ROWS)
    return [
        Operation(
            "point SELECT",
            person.format("?"),
            one_id,
            lambda row: [[("HMGET", f"person:{row[0]}", "name", "age")]],
            draw_id + person.format(":id") + ";",
            is_read=True
        ),
        Operation(
            "text SELECT",
            person.format("{}"),
            one_id,
            lambda row: [[("HMGET", f"person:{row[0]}", "name", "age")]],
            draw_id + person.format(":id") + ";",
            is_read=True,
            is_text=True
        ),
        Operation(
            "range of 10",
            "SELECT id, name, age FROM person WHERE id BETWEEN ? AND ?",
            ten,
            lambda row: [[("HMGET", f"person:{key}", "name", "age") for key in range(row[0], row[1] + 1)]],
            draw_id + "SELECT id, name, age FROM person WHERE id BETWEEN :id AND :id + 9;",
            is_read=True
        ),
        Operation(
            "join of 10",
            "SELECT o.id, o.total, p.name FROM purchase o JOIN person p ON p.id = o.person WHERE o.id BETWEEN ? AND ?",
            ten,
            lambda row: [
                [("HMGET", f"purchase:{key}", "total", "person") for key in range(row[0], row[1] + 1)],
                [("HMGET", f"person:{buyer(key)}", "name") for key in range(row[0], row[1] + 1)]
            ],
            draw_id +
            "SELECT o.id, o.total, p.name FROM purchase o JOIN person p ON p.id = o.person WHERE o.id BETWEEN :id AND :id + 9;",
            is_read=True
        ),
        Operation(
            "UPDATE, no index", "UPDATE counter SET amount = amount + 1 WHERE id = ?", one_id,
            lambda row: [[("HINCRBY", f"counter:{row[0]}", "amount", 1)]],
            draw_id + "UPDATE counter SET amount = amount + 1 WHERE id = :id;"
        ),
        Operation(
            "INSERT, 1 index", "INSERT INTO event VALUES (?, ?, ?)", lambda draw: draw.event(), lambda row: [
                [
                    ("MULTI", ), ("HSET", f"event:{row[0]}", "kind", row[1], "note", row[2]),
                    ("ZADD", "event:kind", row[1], row[0]), ("EXEC", )
                ]
            ], "\\set k random(0, 999)\nINSERT INTO event VALUES (nextval('event_id'), :k, 'note of an event');"
        ),
        Operation(
            "INSERT, 3 indexes", "INSERT INTO person VALUES (?, ?, ?, ?)", lambda draw: draw.person(),
            lambda row: [person_for_redis(row)],
            new_person + "INSERT INTO person VALUES (:n + 200000, 'person ' || :n, 'city ' || :c, :a) ON CONFLICT DO NOTHING;"
        ),
        Operation(
            "INSERT, 3 indexes, batch",
            persons,
            lambda draw: tuple(value for _ in range(BATCH_ROWS) for value in draw.person()),
            lambda row: [[command for at in range(0, len(row), 4) for command in person_for_redis(row[at:at + 4])]],
            new_person +
            "INSERT INTO person SELECT (:n + i * 7919) % 2000000000 + 200000, 'person ' || ((:n + i * 7919) % 2000000000), 'city ' || :c, :a + i "
            f"FROM generate_series(1, {BATCH_ROWS}) AS i ON CONFLICT DO NOTHING;",
            units=BATCH_ROWS
        ),
    ]


def buyer(purchase):
    """The person of a purchase, within the rows that are there from the beginning."""
    return purchase * 7 % 1000 + 1


def first_rows(rows):
    """(table, row) of what is there from the beginning."""
    draw = random.Random(1)
    for key in range(1, rows + 1):
        yield "person", (key, f"person {key}", f"city {draw.randrange(CITIES)}", draw.randrange(100_000))
        yield "event", (key, draw.randrange(1000), "note of an event")
        yield "counter", (key, 0, "note of a counter")
        yield "purchase", (key, buyer(key), draw.randrange(1000))


class OverSockets:
    """A server of RESP that is asked by pipelines."""

    def __init__(self, stack, command, log_path):
        self.server = stack.enter_context(Server(command, log_path))
        self.client = Connection(self.server.port, PATIENCE_S)

    def cpu_seconds(self):
        return self.server.cpu_seconds()

    def fill_by(self, requests):
        for some in iter(lambda: list(itertools.islice(requests, 500)), []):
            self.client.send(b"".join(some))
            for _ in some:
                if (reply := self.client.reply()).startswith(b"-"):
                    raise SystemExit(reply.decode())

    def run(self, operation, draw, seconds):
        """Operations done, and how long they took."""
        batches = [self.batch(operation, draw) for _ in range(BATCHES if operation.is_read else 1)]
        with contextlib.ExitStack() as stack:
            selector = stack.enter_context(selectors.DefaultSelector())
            for number in range(CONNECTIONS):
                one = stack.enter_context(socket.create_connection(("127.0.0.1", self.server.port)))
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                selector.register(one, selectors.EVENT_READ, Under(one))
            supply = itertools.cycle(batches) if operation.is_read else iter(lambda: self.batch(operation, draw), None)
            unders = [key.data for key in selector.get_map().values()]
            begin = time.monotonic()
            for under in unders:
                under.begin(next(supply))
            done, waiting = 0, len(unders)
            while waiting:
                for key, _ in selector.select(PATIENCE_S):
                    if not key.data.hear():
                        continue
                    done += self.operations_of_a_batch(operation)
                    if time.monotonic() - begin < seconds:
                        key.data.begin(next(supply))
                    else:
                        waiting -= 1
            return done * operation.units, time.monotonic() - begin

    @staticmethod
    def operations_of_a_batch(operation):
        return max(1, PIPELINE // operation.units)

    def batch(self, operation, draw):
        """What is sent for some operations, as steps of which each waits for the replies to the one before."""
        drawn = [operation.parameters(draw) for _ in range(self.operations_of_a_batch(operation))]
        steps = [
            [request for one in drawn for request in self.requests(operation, one, step)]
            for step in range(self.steps(operation))
        ]
        return [b"".join(encode(*words) for words in step) for step in steps]


class Under:
    """A connection with a batch under way. The reply to an ECHO behind a step ends it."""

    END = b"$11\r\n<the-end-!>\r\n"

    def __init__(self, one):
        self.socket, self.steps, self.heard = one, [], b""

    def begin(self, steps):
        self.steps = list(steps)
        self.step()

    def step(self):
        self.heard = b""
        self.socket.sendall(self.steps.pop(0) + encode("ECHO", "<the-end-!>"))

    def hear(self):
        """Whether the whole batch is answered."""
        piece = self.socket.recv(1 << 20)
        if not piece:
            raise SystemExit("the connection was closed")
        if piece.startswith(b"-") or b"\r\n-" in piece:
            raise SystemExit(f"an error: {piece[piece.index(b'-'):][:200]}")
        self.heard = self.heard[-len(self.END):] + piece
        if not self.heard.endswith(self.END):
            return False
        if self.steps:
            self.step()
            return False
        return True


class Edgecask(OverSockets):

    def __init__(self, stack, folder, options):
        command = peers.command("edgecask", folder / "edgecask", options)
        super().__init__(stack, [*command, "--threads", "1"], folder / "edgecask.log")

    def fill(self, rows):
        self.client.call("SQL.EXEC", "bench", SCHEMA)
        marks = {"person": "(?, ?, ?, ?)", "event": "(?, ?, ?)", "counter": "(?, ?, ?)", "purchase": "(?, ?, ?)"}
        self.fill_by(
            encode("SQL.EXEC", "bench", f"INSERT INTO {table} VALUES {marks[table]}", *row) for table, row in first_rows(rows)
        )

    def steps(self, _operation):
        return 1

    def requests(self, operation, parameters, _step):
        command = "SQL.QUERY" if operation.is_read else "SQL.EXEC"
        if operation.is_text:
            return [(command, "bench", operation.statement.format(*parameters))]
        return [(command, "bench", operation.statement, *parameters)]

    def logged_bytes(self):
        self.client.send(encode("INFO"))
        text = self.client.value().decode()
        return int(text.split("log_appended_bytes:")[1].split()[0])


class Redis(OverSockets):

    def __init__(self, stack, folder, options):
        os.mkdir(folder / "redis")
        super().__init__(stack, peers.command("redis", folder / "redis", options), folder / "redis.log")

    def fill(self, rows):
        fields = {"event": ("kind", "note"), "counter": ("amount", "note"), "purchase": ("person", "total")}
        self.fill_by(
            encode(*command) for table, row in first_rows(rows) for command in (
                person_for_redis(row) if table ==
                "person" else [("HSET", f"{table}:{row[0]}", fields[table][0], row[1], fields[table][1], row[2])]
            )
        )

    def steps(self, operation):
        return 2 if operation.name == "join of 10" else 1

    def requests(self, operation, parameters, step):
        return operation.redis(parameters)[step]


class Sqlite:

    def __init__(self, _stack, folder, _options):
        self.database = sqlite3.connect(folder / "sqlite3.db", isolation_level=None)
        self.database.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-65536")

    def cpu_seconds(self):
        return time.process_time()

    def fill(self, rows):
        self.database.executescript(SCHEMA)
        self.database.execute("BEGIN")
        for table, row in first_rows(rows):
            self.database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
        self.database.execute("COMMIT")

    def run(self, operation, draw, seconds):
        cursor, done = self.database.cursor(), 0
        begin = time.monotonic()
        while (passed := time.monotonic() - begin) < seconds:
            for _ in range(PIPELINE):
                parameters = operation.parameters(draw)
                if operation.is_text:
                    cursor.execute(operation.statement.format(*parameters)).fetchall()
                else:
                    cursor.execute(operation.statement, parameters).fetchall()
            done += PIPELINE * operation.units
        return done, passed


class Postgres:

    def __init__(self, stack, folder, _options):
        self.folder, self.port = folder / "postgres", free_port()
        # It refuses to run for root.
        self.user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if os.getuid() == 0 else []
        os.mkdir(self.folder)
        if self.user:
            shutil.chown(self.folder, "postgres", "postgres")
            os.chmod(folder, 0o755)
        subprocess.run(
            [*self.user, POSTGRES / "initdb", "-D", self.folder / "data", "-A", "trust", "-U", "bench", "--no-sync"],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd="/"
        )
        with open(folder / "postgres.log", "wb") as log:
            self.process = subprocess.Popen(
                [
                    *self.user, POSTGRES / "postgres", "-D", self.folder / "data", "-p",
                    str(self.port), "-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={self.folder}", "-c",
                    "synchronous_commit=off", "-c", "shared_buffers=256MB"
                ],
                stdout=log,
                stderr=log,
                cwd="/"
            )
        stack.callback(self.stop)
        deadline = time.monotonic() + PATIENCE_S
        while subprocess.run([POSTGRES / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)], check=False).returncode:
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise SystemExit("postgres did not start:\n" + (folder / "postgres.log").read_text())
            time.sleep(0.05)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(PATIENCE_S)

    def psql(self, text):
        subprocess.run(
            [
                POSTGRES / "psql", "-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p",
                str(self.port), "-U", "bench", "postgres"
            ],
            check=True,
            input=text.encode(),
            stdout=subprocess.DEVNULL
        )

    def fill(self, rows):
        self.rows = rows
        lines = {}
        for table, row in first_rows(rows):
            lines.setdefault(table, []).append("\t".join(map(str, row)))
        copies = "".join(f"COPY {table} FROM stdin;\n" + "\n".join(some) + "\n\\.\n" for table, some in lines.items())
        self.psql(f"{SCHEMA};\n{copies}CREATE SEQUENCE event_id START {rows + 1};\nVACUUM ANALYZE;\n")

    def cpu_seconds(self):
        """Of the server and all its processes, also those that have ended: one that ends while they are counted is not missed."""
        while self.count_cpu() != (after := self.count_cpu()):
            pass
        return after[1]

    def count_cpu(self):
        """The processes, and their time together."""
        total, processes = 0, []
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                head, rest = path.read_text().rsplit(")", 1)
                fields, number = rest.split(), int(head.split()[0])
                if number == self.process.pid:
                    total += sum(map(int, fields[11:15]))
                elif int(fields[1]) == self.process.pid:
                    processes.append(number)
                    total += sum(map(int, fields[11:13]))
        return processes, total / CLOCK_TICK

    def run(self, operation, _draw, seconds):
        lines = operation.pgbench.splitlines()
        text = "\n".join(lines) + "\n"
        if operation.is_read and not operation.is_text:
            text = "\\startpipeline\n" + text * PIPELINE + "\\endpipeline\n"
        script = self.folder / "script.sql"
        script.write_text(text)
        mode = "simple" if operation.is_text else "prepared"
        done = subprocess.run(
            [
                POSTGRES / "pgbench", "-n", "-M", mode, "-c",
                str(CONNECTIONS), "-j", "1", "-T",
                str(max(1, round(seconds))), "-f", script, "-D", f"rows={self.rows}", "-h", "127.0.0.1", "-p",
                str(self.port), "-U", "bench", "postgres"
            ],
            check=True,
            capture_output=True,
            text=True
        )
        counted = int(done.stdout.split("number of transactions actually processed: ")[1].split()[0])
        rate = float(done.stdout.split("tps = ")[1].split()[0])
        operations_done = counted * operation.units * (PIPELINE if operation.is_read and not operation.is_text else 1)
        return operations_done, counted / rate


KINDS = {"edgecask": Edgecask, "sqlite3": Sqlite, "postgres": Postgres, "redis": Redis}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    peers.add_options(parser)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--only", default="", help="comma-separated names of operations")
    parser.add_argument("--without", action="append", default=[], choices=SYSTEMS[1:])
    options = parser.parse_args()
    wanted = [operation for operation in operations() if not options.only or operation.name in options.only.split(",")]
    names = [name for name in SYSTEMS if name not in options.without]
    print(
        f"Python's SQLite {sqlite3.sqlite_version}; {options.rows} rows a table, {options.rounds} rounds of {options.seconds} s"
    )
    samples = {(operation.name, name): [] for operation in wanted for name in names}
    with tempfile.TemporaryDirectory(prefix="edgecask-bench-sql-") as folder, contextlib.ExitStack() as stack:
        systems = {name: KINDS[name](stack, pathlib.Path(folder), options) for name in names}
        for system in systems.values():
            system.fill(options.rows)
        draws = {name: Draw(options.rows, 1) for name in names}
        for operation, turn in itertools.product(wanted, range(options.rounds)):
            # Another one begins each round.
            for name in names[turn % len(names):] + names[:turn % len(names)]:
                system = systems[name]
                logged, cpu = system.logged_bytes() if name == "edgecask" else 0, system.cpu_seconds()
                done, seconds = system.run(operation, draws[name], options.seconds)
                cpu = system.cpu_seconds() - cpu
                logged = system.logged_bytes() - logged if name == "edgecask" else 0
                samples[operation.name, name].append((done / seconds, cpu / done * 1e6, logged / done))
    print(f"\n{'':26}" + "".join(f"{name:>22}" for name in names) + f"{'log bytes':>12}")
    print(f"{'':26}" + f"{'a second     CPU µs':>22}" * len(names))
    for operation in wanted:
        cells = [[statistics.median(column) for column in zip(*samples[operation.name, name])] for name in names]
        shown = "".join(f"{rate:12,.0f}{cpu:10.2f}" for rate, cpu, _ in cells)
        print(f"{operation.name:26}{shown}{cells[0][2]:12,.0f}")


if __name__ == "__main__":
    main()
