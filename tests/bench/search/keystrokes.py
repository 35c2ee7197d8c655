#!/usr/bin/env python3
"""Users who type at EdgeCask, each on a WebSocket of its own, while documents change: how long an answer takes at the client.

    keystrokes.py DATA/long-100k.tsv DATA/long-100k.queries.tsv --generator target/release/keystrokes [--highest]

A gateway of its own has the first 100,000 documents indexed. keystrokes/ opens 10,000 WebSockets to `/resp`; on each a user types
phrases of the class `word + prefix`, a key each 120 to 280 ms, and rests between them, so that all together send 5,000 searches a
second: each key sends FT.SEARCH for what has been typed, with SCORER INSTANT, LATEST, and ten hits with two fields. Over four TCP
connections, 500 HSETs a second give documents other short descriptions. Each request has a planned moment that does not wait for
answers, and its latency counts from there until the generator has read the answer.

Server and generator share the machine's processors, so each row tells how many of them the server, the generator and the rest of the
machine took: with other work beside it, a latency is an upper bound, so a round waits a while for a quiet machine. `late` is how late the generator itself sent. `over` are answers
SUPERSEDED; they count as answers. A rate holds if the median of the rounds' p99 is below the limit; with --highest, or when the asked
rate does not hold, the highest that does is looked for.
"""

import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import peer_edgecask
import servers

LIMIT_MS = 30
# The search for the highest rate ends at this difference.
STEP = 250
# A user presses 5 keys a second at most.
KEYS_MAX = 3
# The machine is quiet when it takes less than this share of a processor for this long.
QUIET, QUIET_S = 0.25, 2
# People type in bursts, so that at low rates so much less is asked in some rounds.
REACHED = 0.9
# What the server and the generator open beside the sockets of users.
OTHER_FILES = 500
COLUMNS = (("searches_per_s", "queries/s", 9, 0), ("writes_per_s", "HSET/s", 6, 0), ("search_p50_ms", "p50 ms", 7, 2),
           ("search_p99_ms", "p99 ms", 8, 2), ("search_p999_ms", "p99.9", 8, 2), ("search_max_ms", "max", 8, 1),
           ("write_p50_ms", "HSET p50", 8, 2), ("write_p99_ms", "HSET p99", 8, 2), ("lateness_p99_ms", "late p99", 8, 2),
           ("superseded", "over", 6, 0), ("nothing", "no hit", 6, 0), ("errors", "errors", 6, 0), ("unanswered", "lost", 5, 0),
           ("server_processors", "server", 6, 2), ("generator_processors", "gen.", 5, 2), ("other_processors", "other", 5, 2))


def busy():
    """How many of the machine's processors are taken now."""
    def ticks():
        with open("/proc/stat") as lines:
            fields = list(map(int, lines.readline().split()[1:]))
        # user, nice, system, irq, softirq.
        return sum(fields[at] for at in (0, 1, 2, 5, 6))
    begin, since = ticks(), time.monotonic()
    time.sleep(QUIET_S)
    return (ticks() - begin) / servers.CLOCK_TICK / (time.monotonic() - since)


def quiet(patience_s):
    """Waits until the machine has no other work, or has not been without for so long."""
    end = time.monotonic() + patience_s
    while busy() > QUIET and time.monotonic() < end:
        pass


class Bench:
    def __init__(self, options, engine, web_port):
        self.options, self.engine, self.web_port, self.seed = options, engine, web_port, 0

    def run(self, rate, writes=None):
        """What the generator has counted."""
        options = self.options
        self.seed += 1
        quiet(options.patience_seconds)
        done = subprocess.run(
            [options.generator, "--port", str(self.engine.server.port), "--web-port", str(self.web_port),
             "--server-pid", str(self.engine.server.process.pid), "--documents", options.documents, "--count", str(options.count),
             "--queries", options.queries, "--connections", str(options.connections), "--rate", str(rate),
             "--writes", str(options.writes if writes is None else writes), "--warm-seconds", str(options.warm_seconds),
             "--seconds", str(options.seconds), "--seed", str(self.seed)],
            stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            sys.exit("the generator failed")
        facts = json.loads(done.stdout)
        facts["other_processors"] = facts["machine_processors"] - facts["server_processors"] - facts["generator_processors"]
        print(f"{rate:>7} " + " ".join(f"{facts[name]:>{width}.{digits}f}" for name, _, width, digits in COLUMNS), flush=True)
        if facts["first_error"]:
            print(f"  first error: {facts['first_error']}")
        return facts

    def holds(self, rate):
        """Whether the median of the rounds is fast enough, all answers came, and the rate was reached."""
        rounds = [self.run(rate) for _ in range(self.options.rounds)]
        p99 = statistics.median(each["search_p99_ms"] for each in rounds)
        whole = all(each["errors"] == each["unanswered"] == 0 and each["searches_per_s"] > REACHED * rate for each in rounds)
        print(f"{rate} queries/s: p99 {p99:.2f} ms, median of {len(rounds)}" + ("" if whole else ", with errors or too few queries"))
        return whole and p99 < LIMIT_MS

    def highest(self, low, high):
        """The highest rate that holds, between one that does and one that does not."""
        while high - low > STEP:
            middle = (low + high) // 2
            low, high = (middle, high) if self.holds(middle) else (low, middle)
        return low


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents")
    parser.add_argument("queries")
    parser.add_argument("--generator", required=True, help="the program that keystrokes/ builds")
    parser.add_argument("--count", type=int, default=100_000, help="documents [%(default)s]")
    parser.add_argument("--connections", type=int, default=10_000, help="[%(default)s]")
    parser.add_argument("--rate", type=int, default=5_000, help="queries a second [%(default)s]")
    parser.add_argument("--writes", type=int, default=500, help="HSETs a second [%(default)s]")
    parser.add_argument("--rounds", type=int, default=3, help="[%(default)s]")
    parser.add_argument("--seconds", type=float, default=15, help="measured in a round [%(default)s]")
    parser.add_argument("--warm-seconds", type=float, default=5, help="before that [%(default)s]")
    parser.add_argument("--patience-seconds", type=float, default=30, help="for a quiet machine before each round [%(default)s]")
    parser.add_argument("--highest", action="store_true", help="find the highest rate, even if the asked one holds")
    parser.add_argument("--only", action="store_true", help="no search for the highest rate")
    parser.add_argument("--edgecask", default=str(peer_edgecask.REPOSITORY / "target/release/edgecask"), help="[%(default)s]")
    options = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < options.connections + OTHER_FILES:
        sys.exit(f"the system allows {most} open files a process, which are too few (ulimit -Hn)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="edgecask-keystrokes-"))
    web_port = servers.free_port()
    (folder / "data").mkdir()
    engine = peer_edgecask.EdgeCask(
        options.edgecask, folder / "data", "--http-port", str(web_port), "--http-max-per-address", "0",
        "--maxclients", str(options.connections + OTHER_FILES))
    try:
        engine.ask(*peer_edgecask.CREATE)
        count = engine.load(options.documents, options.count)
        engine.indexed()
        print(f"{count} documents of {pathlib.Path(options.documents).name}, {options.connections} WebSockets, by keystrokes.py;"
              f" processors of {len(os.sched_getaffinity(0))}: server, generator, other")
        print(f"{'asked':>7} " + " ".join(f"{head:>{width}}" for _, head, width, _ in COLUMNS))
        bench = Bench(options, engine, web_port)
        rate = options.rate
        holds = bench.holds(rate)
        if not options.only and (options.highest or not holds):
            best = bench.highest(*((rate, options.connections * KEYS_MAX) if holds else (0, rate)))
            print(f"the highest rate with a p99 below {LIMIT_MS} ms: {best} queries/s")
    finally:
        engine.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
