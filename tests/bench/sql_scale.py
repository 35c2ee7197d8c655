#!/usr/bin/env python3
"""SQL with much of everything: PING beside scans, a cursor over many rows, and many open connections.

    sql_scale.py --edgecask target/release/edgecask [--scanned 1000000] [--rows 10000000] [--connections 64000] [--seconds 10]

- *PING*: the time to its reply, a thousand times a second, at rest and while another connection scans `--scanned` rows again and again.
- *Cursor*: one over `--rows` rows is read to its end by 1,000 at a time. Memory is resident memory (RssAnon) at its highest while it is
  read, less before; rows are counted and summed.
- *Connections*: point SELECTs a second over four connections with pipelines of 64, before and while so many other connections are open,
  each of which has run a SELECT. If the limit of open files allows fewer, as many as it allows, which is printed.
"""

import argparse
import contextlib
import os
import pathlib
import resource
import socket
import statistics
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from resp import Connection, encode
from servers import Server

PATIENCE_S = 120
FILLED_AT_ONCE = 500_000
FETCHED_AT_ONCE = 1000
PIPELINE, BUSY_CONNECTIONS = 64, 4
# What both programs need beside the connections: the server keeps a thousand for its own files.
OTHER_FILES = 1200
# A client address has some 28,000 ports for connections to one port.
CONNECTIONS_OF_AN_ADDRESS = 20_000


def fill(client, table, rows):
    client.call("SQL.EXEC", "much", f"CREATE TABLE {table}(id INTEGER PRIMARY KEY, n INTEGER)")
    for first in range(1, rows + 1, FILLED_AT_ONCE):
        last = min(rows, first + FILLED_AT_ONCE - 1)
        client.call(
            "SQL.EXEC", "much", f"WITH RECURSIVE c(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM c WHERE i < {last}) "
            f"INSERT INTO {table} SELECT i, i % 1000 FROM c"
        )


def pings(port, seconds):
    """Milliseconds to each reply, in order of size."""
    client, times = Connection(port, PATIENCE_S), []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic()
        client.call("PING")
        times.append((time.monotonic() - begin) * 1000)
        time.sleep(0.001)
    return sorted(times)


def scan_beside_pings(server, options):
    fill(Connection(server.port, PATIENCE_S), "scanned", options.scanned)
    rest = pings(server.port, options.seconds)
    is_over, scans = threading.Event(), []

    def scan():
        client = Connection(server.port, PATIENCE_S)
        while not is_over.is_set():
            begin = time.monotonic()
            client.send(encode("SQL.QUERY", "much", "SELECT count(*), sum(n * 2) FROM scanned WHERE n % 7 < 6"))
            client.value()
            scans.append(time.monotonic() - begin)

    thread = threading.Thread(target=scan)
    thread.start()
    busy = pings(server.port, options.seconds)
    is_over.set()
    thread.join()
    at = lambda times, part: times[min(len(times) - 1, int(len(times) * part))]
    for name, times in ("at rest", rest), (f"beside scans of {options.scanned:,} rows", busy):
        print(f"PING {name}: median {at(times, 0.5):.2f} ms, p99 {at(times, 0.99):.2f}, latest {times[-1]:.2f} ({len(times)} PINGs)")
    print(f"a scan takes {statistics.median(scans):.2f} s ({len(scans)} scans)", flush=True)


def read_by_cursor(server, options):
    client = Connection(server.port, PATIENCE_S)
    begin = time.monotonic()
    fill(client, "many", options.rows)
    print(f"{options.rows:,} rows inserted in {time.monotonic() - begin:.0f} s", flush=True)
    used = lambda: server.memory_bytes()["RssAnon"]
    before, highest, rows, total = used(), 0, 0, 0
    client.send(encode("SQL.CURSOR", "OPEN", "much", "SELECT id, n FROM many"))
    cursor = client.value()[0]
    begin = time.monotonic()
    while cursor != b"0":
        client.send(encode("SQL.CURSOR", "FETCH", "much", cursor, "COUNT", FETCHED_AT_ONCE))
        cursor, fetched = client.value()
        rows += len(fetched)
        total += sum(int(row[0]) for row in fetched)
        if rows % (FETCHED_AT_ONCE * 50) == 0:
            highest = max(highest, used())
    passed = time.monotonic() - begin
    if (rows, total) != (options.rows, options.rows * (options.rows + 1) // 2):
        raise SystemExit(f"the cursor gave {rows} rows with the sum {total}")
    print(f"cursor: {rows:,} rows in {passed:.0f} s, {max(0, highest - before) / (1 << 20):.1f} MiB of memory more than before", flush=True)


def point_selects(server, rows, seconds):
    """How many a second, and the server's microseconds for each."""
    done = []

    def work(number):
        client, count = Connection(server.port, PATIENCE_S), 0
        batch = b"".join(
            encode("SQL.QUERY", "much", "SELECT n FROM scanned WHERE id = ?", (number + 1) * 7919 * i % rows + 1)
            for i in range(PIPELINE)
        ) + encode("ECHO", "<the-end>")
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            client.send(batch)
            heard = b""
            while not heard.endswith(b"<the-end>\r\n"):
                heard = heard[-16:] + client.socket.recv(1 << 20)
            count += PIPELINE
        done.append(count)

    cpu, begin = server.cpu_seconds(), time.monotonic()
    threads = [threading.Thread(target=work, args=(number,)) for number in range(BUSY_CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    passed, cpu = time.monotonic() - begin, server.cpu_seconds() - cpu
    return sum(done) / passed, cpu / sum(done) * 1e6


def open_many(stack, server, count):
    select = encode("SQL.QUERY", "much", "SELECT n FROM scanned WHERE id = 1")
    for number in range(count):
        address = f"127.0.0.{number // CONNECTIONS_OF_AN_ADDRESS + 2}"
        one = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), PATIENCE_S, (address, 0)))
        one.sendall(select)
        if not one.recv(256).startswith(b"*2"):
            raise SystemExit(f"connection {number} was not answered")


def many_connections(server, options, count):
    with contextlib.ExitStack() as stack:
        rounds = [point_selects(server, options.scanned, options.seconds / 2) for _ in range(3)]
        open_many(stack, server, count)
        with_many = [point_selects(server, options.scanned, options.seconds / 2) for _ in range(3)]
    (rate, cpu), (many_rate, many_cpu) = (map(statistics.median, zip(*some)) for some in (rounds, with_many))
    print(f"point SELECT: {rate:,.0f} a second ({cpu:.2f} us of CPU), with {count:,} connections open {many_rate:,.0f} ({many_cpu:.2f} us): "
          f"{many_rate / rate:.2f} times", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edgecask", required=True)
    parser.add_argument("--scanned", type=int, default=1_000_000)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--connections", type=int, default=64_000)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    wanted = options.connections + OTHER_FILES
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    count = min(options.connections, most - OTHER_FILES)
    print(f"limit of open files: {most:,}; connections: {count:,}")
    with tempfile.TemporaryDirectory(prefix="edgecask-sql-scale-") as folder:
        command = [options.edgecask, "serve", "--dir", os.path.join(folder, "data"), "--maxclients", str(count + 100)]
        with Server(command, os.path.join(folder, "log")) as server:
            scan_beside_pings(server, options)
            many_connections(server, options, count)
            read_by_cursor(server, options)


if __name__ == "__main__":
    main()
