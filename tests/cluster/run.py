#!/usr/bin/env python3
"""Suites on a test cluster: what clients see of `edgecask serve --engine tikv`.

    rounds            what a command asks of the cluster, by the cluster's own counts
    access            keyspaces, TLS, names that are too long, /ready
    shared            requests that clients share
    bank, kills       no money and no acknowledged write is lost, whatever breaks
    faults            one fault at a time: replies in time, right ones only, and everything goes on by itself
    upkeep            what nobody needs any more goes from the cluster
    hot_keys          one key that many write, at one server and at several
    huge, copies      strings of hundreds of megabytes, and stores as a whole, go in and out
    events            what happens at one server and reaches clients of another
    oracles, tidis    the suites that compare with redis-server, and other people's

`tests/cluster/run.py --edgecask target/debug/edgecask [NAME...]`; ends with 1 if something is not as it should be.
"""

import argparse
import subprocess
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from access import ACCESS
from bank import bank
from copies import copies, copies_go_on, copies_lack_nothing, copies_under_tls
from events import EVENTS
from faults import hung_answers, late_writes, lost_answers, regions_change, stores_and_pd
from harness import Client, Cluster, check
from hot_keys import HOT_KEYS
from huge import huge_values, slow_reader
from kills import killed_between_phases, kills
from oracles import conformance, conversations, differential, transcripts
from rounds import large_set, pipelines, round_trips, small_large_set
from shared import broken_neighbours, shared_requests
from upkeep import housekeeping

FOLDER = Path(__file__).parent


def two_servers(cluster):
    """What one server has acknowledged is what the other one shows, and nobody waits for ever."""
    first, second = (Client(cluster.serve("two")) for _ in range(2))
    for number in range(50):
        check("INCR", (first if number % 2 else second).call("INCR", "count"), str(number + 1).encode())
    first.call("RPUSH", "list", "a", "b")
    check("LRANGE", second.call("LRANGE", "list", "0", "-1"), [b"a", b"b"])
    second.call("WATCH", "count")
    first.call("SET", "count", "0")
    second.call("MULTI")
    second.call("SET", "count", "100")
    check("EXEC after a change by the other one", second.call("EXEC"), None)
    check("GET", second.call("GET", "count"), b"0")
    second.send("BLPOP", "queue", "20")
    time.sleep(0.3)
    first.call("RPUSH", "queue", "job")
    check("BLPOP", second.read(), [b"queue", b"job"])


def conflicts(cluster):
    """Increments by two servers while regions are split and change their leaders: none is lost."""
    ports = [cluster.serve("conflicts") for _ in range(2)]
    clients = [Client(port) for port in ports for _ in range(4)]
    rounds = 40
    for number in range(rounds):
        for client in clients:
            client.send("INCR", "count")
        if number % 5 == 0:
            cluster.ask("/leader/shuffle")
        if number % 10 == 0:
            cluster.ask(f"/split?key={number:02x}")
        for client in clients:
            client.read()
    check("all increments", clients[0].call("GET", "count"), str(rounds * len(clients)).encode())


def unreachable(cluster):
    """A cluster that is gone is told in time, and when it is back everything goes on."""
    client = Client(cluster.serve("unreachable"))
    client.call("SET", "key", "value")
    cluster.ask("/pd?up=0")
    begin = time.monotonic()
    try:
        client.call("GET", "key")
        raise AssertionError("a cluster that is gone answers")
    except RuntimeError as error:
        assert str(error).startswith("TRYAGAIN "), error
    took = time.monotonic() - begin
    assert took < 30, took
    cluster.ask("/pd?up=1")
    for _ in range(100):
        try:
            check("GET", client.call("GET", "key"), b"value")
            return
        except RuntimeError:
            time.sleep(0.2)
    raise AssertionError("it does not recover")


def tidis(cluster):
    """Tidis' own flows pass, with Redis' semantics."""
    subprocess.run([cluster.python, FOLDER / "tidis.py", str(cluster.serve("tidis"))], check=True)


# Suites that count what the cluster is asked, or compare times, come first, with nothing beside them.
ALONE = (round_trips, pipelines, shared_requests, small_large_set)
# Most of the time these wait.
TOGETHER = (
    conformance, stores_and_pd, hung_answers, bank, late_writes, lost_answers, regions_change, kills, killed_between_phases, housekeeping,
    two_servers, conflicts, unreachable, broken_neighbours, tidis, *ACCESS, *EVENTS, *HOT_KEYS, huge_values, slow_reader, copies, copies_lack_nothing, copies_under_tls, copies_go_on,
)
# These take minutes, or much of the machine, and are run when they are named (`make cluster-oracles`, `make cluster-large`); what may
# differ from redis-server is in differences.txt.
WHEN_NAMED = (
    conversations, transcripts, differential, large_set,
)


def run(suite, options):
    """Runs a suite on a cluster of its own; whether it is well."""
    begin = time.monotonic()
    cluster = Cluster(options.edgecask, options.python, options.long)
    try:
        suite(cluster)
        print(f"{suite.__name__}: fine, {time.monotonic() - begin:.1f} s", flush=True)
        return True
    except Exception as error:  # Whatever it is, the other suites are run.
        print(f"{suite.__name__}: {error}", flush=True)
        traceback.print_exc()
        return False
    finally:
        cluster.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edgecask", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--long", action="store_true", help="long runs, for figures")
    parser.add_argument("--jobs", type=int, default=1, help="suites at a time, but for those that must be alone")
    parser.add_argument("only", nargs="*")
    options = parser.parse_args()
    alone, together = ALONE, TOGETHER
    if options.only:
        alone, together = [
            [suite for suite in suites if suite.__name__ in options.only] for suites in (ALONE, TOGETHER + WHEN_NAMED)
        ]
    outcomes = [run(suite, options) for suite in alone]
    with ThreadPoolExecutor(options.jobs) as threads:
        outcomes += threads.map(lambda suite: run(suite, options), together)
    if not all(outcomes) or not outcomes:
        sys.exit(1)


if __name__ == "__main__":
    main()
