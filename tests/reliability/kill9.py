#!/usr/bin/env python3
"""kill -9 at random moments, under each policy, with a ledger of commands of all types.

    kill9.py --edgecask target/release/edgecask [--cycles 100] [--seed 15] [--policy always] [--full-disk]

Several clients write, each to a database of its own: strings, blobs and patches, collections of all types, expiries, MULTI,
RENAME, COPY, FLUSHDB, alone and in pipelines, while another one asks for checkpoints and merges. Then the server is killed.
Between cycles, by turns, the metadata map is left alone, deleted, overwritten with garbage, and put back as it was some
cycles ago; some starts are killed as well. The promises:

- every unit (a command, or a MULTI as a whole) that was acknowledged is there, since kill -9 takes nothing from the
  operating system, so the policy does not matter;
- of the units that were not, those that came first are there as a whole, and the others not at all;
- the server starts, and `check` finds no damage.

With --full-disk the store lies on a small file system (made by root) that is always about full, and many units are
refused: of those nothing may be there.

Exits with 1 if a promise is broken.
"""

import argparse
import contextlib
import os
import pathlib
import random
import shutil
import signal
import tempfile
import threading
import time

from client import Client, ErrorReply, Lost
from contents import differences, read_all
from file_system import KINDS, small_file_system
from model import NEVER, Model, Writer, apply_unit
from programs import SOUND, DidNotStart, Edgecask, Promises, arguments, fresh_copy

POLICIES = ("always", "everysec", "no")
META_TURNS = ("left alone", "deleted", "garbage", "an earlier one")
CLIENTS = 4
RUN_S = (0.05, 0.7)
KILLED_STARTS = 0.2
KILL_START_S = (0.0, 0.12)
PIPELINES = (1, 1, 1, 3, 10)
CHECK_EVERY = 5
# Small, so that datafiles are sealed and merged, and blobs are many.
OPTIONS = ("--datafile-max-bytes", 1 << 20, "--blob-min-bytes", 64 << 10)
# What a full disk has for the store: about as much as lives in it.
FREE_BYTES = 5 << 20
# Around the end of a key, the clocks of two processes need not agree whether it is there.
EXPIRY_SLACK_MS = 100


def now_ms():
    return time.time_ns() // 1_000_000


class Worker:
    """One client, the database that it has for itself, and the ledger of it."""

    def __init__(self, number, draw, is_disk_full):
        self.db, self.draw, self.is_disk_full = number, draw, is_disk_full
        self.model, self.writer = Model(), Writer(draw, b"c%d" % number)
        self.pending, self.acknowledged, self.refused, self.error = [], 0, 0, None

    def run(self, port):
        """Writes until the connection is lost; what was sent and not answered is `pending` then."""
        self.pending = []
        try:
            client = Client(port, self.db)
            while not self.error:
                self.pipeline(client)
        except Lost:
            pass

    def pipeline(self, client):
        ahead = self.model.copy()
        # Which units of a pipeline were refused is not known before they are answered.
        for _ in range(1 if self.is_disk_full else self.draw.choice(PIPELINES)):
            unit = self.writer.unit(ahead, now_ms())
            apply_unit(ahead, unit)
            self.pending.append(unit)
        client.send(*(command for unit in self.pending for command in framed(unit)))
        while self.pending:
            replies = [client.reply() for _ in framed(self.pending[0])]
            last = replies[-1] if isinstance(replies[-1], list) else [replies[-1]]
            wrong = next((reply for reply in replies + last if isinstance(reply, ErrorReply)), None)
            if wrong is not None and self.is_disk_full and wrong.startswith("MISCONF"):
                self.refused += 1
                self.pending.pop(0)
                continue
            if wrong is not None:
                self.error = f"{shown(self.pending[0])} was answered {wrong}"
                return
            apply_unit(self.model, self.pending.pop(0))
            self.acknowledged += 1

    def settle(self, port):
        """Compares the database with the ledger. Returns how many unacknowledged units are there, or what is wrong."""
        before = now_ms() - EXPIRY_SLACK_MS
        with Client(port, self.db) as client:
            found = read_all(client, (self.db,))
        after = now_ms() + EXPIRY_SLACK_MS
        candidate, nearest = self.model.copy(), None
        for count in range(len(self.pending) + 1):
            if count > 0:
                apply_unit(candidate, self.pending[count - 1])
            expected = candidate.contents(before)
            unsure = {key for key, value in expected.items() if value[2] != NEVER and value[2] <= after}
            unreadable, wrong = differences(expected, found)
            wrong -= unsure
            if not wrong and not unreadable:
                self.model, self.pending = candidate, []
                self.model.keys = {key: entry for key, entry in candidate.keys.items() if key in expected}
                return count, None
            if nearest is None or len(wrong | unreadable) < len(nearest[0]):
                nearest = wrong | unreadable, {key: (expected.get(key), found.get(key)) for key in wrong | unreadable}
        detail = "; ".join(f"{key!r} expected {str(a)[:100]} found {str(b)[:100]}" for key, (a, b) in nearest[1].items())
        return 0, f"database {self.db}, {len(self.pending)} units unacknowledged, {len(nearest[0])} keys: {detail[:1500]}"

    def begin_again(self, port):
        """After a broken promise: an empty database and an empty ledger."""
        with Client(port, self.db) as client:
            client.ask("FLUSHDB")
        self.model, self.pending = Model(), []


def framed(unit):
    return unit if len(unit) == 1 else [("MULTI",), *unit, ("EXEC",)]


def shown(unit):
    return " ".join(str(word)[:40] for command in unit for word in command)


def operate(port, draw):
    """Asks for checkpoints and merges until the connection is lost."""
    try:
        client = Client(port)
        while True:
            time.sleep(draw.uniform(0.01, 0.3))
            client.ask(*draw.choice((("SAVE",), ("BGSAVE",), ("BGREWRITEAOF",), ("PING",))))
    except Lost:
        pass


class Run:
    """All cycles under one policy."""

    def __init__(self, edgecask, scratch, place, policy, promises, options):
        self.edgecask, self.policy, self.promises = edgecask, policy, promises
        self.draw = random.Random(f"{options.seed} {policy}")
        self.directory, self.earlier, self.keep = place / f"store-{policy}", scratch / f"meta-{policy}", options.keep
        self.workers = [Worker(number, random.Random(f"{options.seed} {policy} {number}"), options.full_disk)
                        for number in range(CLIENTS)]
        self.is_disk_full = bool(options.full_disk)
        self.whole = self.absent = self.killed_starts = 0

    def cycle(self, number):
        turn = META_TURNS[number % len(META_TURNS)]
        where = f"cycle {number} of appendfsync {self.policy}, meta {turn}"
        if self.draw.random() < KILLED_STARTS and number > 0:
            self.killed_starts += 1
            self.edgecask.start_and_kill(self.directory, self.draw.uniform(*KILL_START_S), "--appendfsync", self.policy)
        try:
            server = self.edgecask.serve(self.directory, "--appendfsync", self.policy)
        except DidNotStart as refusal:
            self.promises.hold(False, f"{where}: does not start: {refusal}")
            shutil.rmtree(self.directory, ignore_errors=True)
            for worker in self.workers:
                worker.model, worker.pending = Model(), []
            return
        with server:
            self.settle(server, where)
            self.write(server, where)
        if number % CHECK_EVERY == 0:
            status, report = self.edgecask.check(self.directory)
            self.promises.hold(status == SOUND, f"{where}: check after kill -9: {report}")
        self.change_meta(turn)
        if self.keep:
            fresh_copy(self.directory, self.keep)

    def settle(self, server, where):
        for worker in self.workers:
            pending = len(worker.pending)
            try:
                there, wrong = worker.settle(server.port)
            except Lost as lost:
                there, wrong = 0, f"the connection was lost: {lost}"
            if self.promises.hold(wrong is None, f"{where}: {wrong}"):
                self.whole += there
                self.absent += pending - there
            else:
                worker.begin_again(server.port)
                if self.keep:
                    raise SystemExit(f"the store as it was before this start is in {self.keep}")

    def write(self, server, where):
        threads = [threading.Thread(target=worker.run, args=(server.port,)) for worker in self.workers]
        threads.append(threading.Thread(target=operate, args=(server.port, random.Random(where))))
        for thread in threads:
            thread.start()
        time.sleep(self.draw.uniform(*RUN_S))
        self.promises.hold(server.process.poll() is None, f"{where}: ended by itself: {server.log_path.read_text()[-2000:]}")
        server.stop(signal.SIGKILL)
        for thread in threads:
            thread.join()
        said = server.log_path.read_text(errors="replace")
        is_calm = "panicked" not in said and (" ERROR " not in said or self.is_disk_full)
        self.promises.hold(is_calm, f"{where}: the log says: {said[-2000:]}")
        for worker in self.workers:
            self.promises.hold(not worker.error, f"{where}: {worker.error}")
            worker.error = None

    def change_meta(self, turn):
        meta = self.directory / "meta"
        if turn == "left alone":
            if self.draw.random() < 0.5 or not self.earlier.exists():
                shutil.rmtree(self.earlier, ignore_errors=True)
                shutil.copytree(meta, self.earlier)
        elif turn == "deleted":
            shutil.rmtree(meta)
        elif turn == "garbage":
            for path in filter(pathlib.Path.is_file, meta.rglob("*")):
                whole = self.draw.random() < 0.5
                size = path.stat().st_size
                start = 0 if whole else self.draw.randrange(size + 1)
                with open(path, "r+b") as file:
                    file.seek(start)
                    file.write(self.draw.randbytes(size - start if whole else min(200, size - start)))
        else:
            shutil.rmtree(meta)
            # On a full disk a part of it, which is worth testing as well.
            with contextlib.suppress(shutil.Error if self.is_disk_full else ()):
                shutil.copytree(self.earlier, meta)


def main():
    parser = arguments(argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter))
    parser.add_argument("--cycles", type=int, default=100, help="for each policy")
    parser.add_argument("--policy", choices=POLICIES, action="append")
    parser.add_argument("--full-disk", choices=KINDS, help="the kind of a small file system that is about full")
    parser.add_argument("--keep", help="a folder for the store as it is before each start; ends at the first broken promise")
    options = parser.parse_args()
    promises = Promises(options.seed)
    with contextlib.ExitStack() as stack:
        folder = tempfile.TemporaryDirectory(prefix="edgecask-kill9-", dir=options.scratch)
        scratch = pathlib.Path(stack.enter_context(folder))
        edgecask = Edgecask(options.edgecask, scratch, (*OPTIONS, "--databases", 16))
        print(f"{'policy':10}{'kills':>7}{'acknowledged':>14}{'refused':>9}{'not, but whole':>16}{'not, absent':>13}"
              f"{'killed starts':>15}{'s':>6}")
        all_refused = 0
        for policy in options.policy or POLICIES:
            begin, place = time.monotonic(), scratch
            if options.full_disk:
                place, _ = stack.enter_context(small_file_system(scratch, options.full_disk))
                free = os.statvfs(place)
                (place / "ballast").write_bytes(bytes(free.f_bavail * free.f_frsize - FREE_BYTES))
            run = Run(edgecask, scratch, place, policy, promises, options)
            for number in range(options.cycles):
                run.cycle(number)
            with edgecask.serve(run.directory) as server:
                run.settle(server, f"after all cycles of {policy}")
            units, refused = (sum(getattr(worker, what) for worker in run.workers) for what in ("acknowledged", "refused"))
            all_refused += refused
            print(f"{policy:10}{options.cycles:7}{units:14}{refused:9}{run.whole:16}{run.absent:13}{run.killed_starts:15}"
                  f"{time.monotonic() - begin:6.0f}", flush=True)
        promises.hold(all_refused > 0 or not options.full_disk, "the disk was never full")
    promises.end()


if __name__ == "__main__":
    main()
