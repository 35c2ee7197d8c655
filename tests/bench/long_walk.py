#!/usr/bin/env python3
"""What others notice of a walk over a million edges: latencies of PING and GET while one client walks over a graph.

    long_walk.py --edgecask target/release/edgecask [--edges 1000000]

Each edge leads from a node to one drawn at random, five edges a node. One connection sends `GRAPH.WALK` from the first node and
components by SQL, again and again; another one sends PING and GET in turn and waits for each reply.
"""

import argparse
import contextlib
import os
import pathlib
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from resp import Connection, encode
from servers import Server

PINGS = 2000
PAUSE_S = 0.002
PATIENCE_S = 120


class Client(Connection):
    """A connection on which an error reply ends the script."""

    def call(self, *words):
        self.send(encode(*words))
        return self.value()

    def close(self):
        self.socket.close()


def connect(server):
    return Client(server.port, PATIENCE_S)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edgecask", default="target/release/edgecask")
    parser.add_argument("--edges", type=int, default=1_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="walk-") as directory:
        command = [options.edgecask, "serve", "--dir", os.path.join(directory, "data")]
        with Server(command, os.path.join(directory, "log")) as server:
            fill(server, options.edges)
            show("nobody walks", latencies(server))
            for name, words in [
                ("GRAPH.WALK over all", ["GRAPH.WALK", "g", "0", "EDGES", "edge", "MINDEPTH", "1000"]),
                ("graph_components", ["SQL.QUERY", "g", "SELECT count(DISTINCT component) FROM graph_components('edge')"]),
            ]:
                walks, stop = [], threading.Event()
                walker = threading.Thread(target=walk, args=(server, words, walks, stop))
                walker.start()
                found = latencies(server)
                stop.set()
                walker.join()
                show(f"{name}, {len(walks)} times, {sum(walks) / len(walks):.2f} s each", found)


def fill(server, edges):
    with contextlib.closing(connect(server)) as client:
        nodes = edges // 5
        client.call("SQL.EXEC", "g", "CREATE TABLE edge(source INTEGER, target INTEGER, weight REAL)")
        client.call("SQL.EXEC", "g", "WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?) "
                    f"INSERT INTO edge SELECT i % {nodes}, abs(random()) % {nodes}, 1 + i % 7 FROM n", str(edges))
        client.call("SQL.EXEC", "g", "CREATE INDEX edge_source ON edge(source, target, weight)")
        client.call("SET", "key", "value")


def walk(server, words, walks, stop):
    with contextlib.closing(connect(server)) as client:
        while not stop.is_set() or not walks:
            begin = time.monotonic()
            client.call(*words)
            walks.append(time.monotonic() - begin)


def latencies(server):
    found = []
    with contextlib.closing(connect(server)) as client:
        for number in range(PINGS):
            begin = time.monotonic()
            client.call(*(("PING",), ("GET", "key"))[number % 2])
            found.append((time.monotonic() - begin) * 1000)
            time.sleep(PAUSE_S)
    return sorted(found)


def show(name, found):
    at = lambda share: found[min(len(found) - 1, int(len(found) * share))]
    print(f"{name}: PING and GET p50 {at(0.5):.2f} ms, p99 {at(0.99):.2f} ms, most {found[-1]:.2f} ms", flush=True)


if __name__ == "__main__":
    main()
