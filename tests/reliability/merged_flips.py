#!/usr/bin/env python3
"""Bits that flip in datafiles which a merge then reads: nothing of it may be copied as if it were whole.

    merged_flips.py --edgecask target/release/edgecask [--rounds 40] [--seed 15]

Each round starts a server on a copy, flips one bit of a datafile, overwrites and removes some keys, and asks for a rewrite
of all datafiles (BGREWRITEAOF). Then the server is killed and started again. The promises:

- a merge that meets damage does not end the server, and the log names the file;
- at every moment each key is as it was, or answers an error that names it; after the kill the start may refuse and name the
  file, and then `repair` keeps all other keys and lists the lost one.

Exits with 1 if a promise is broken.
"""

import argparse
import collections
import pathlib
import random
import shutil
import signal
import tempfile
import time

from client import Client
from contents import differences, read_all
from flips import STORE_OPTIONS, shown
from live_flips import FlippedBit
from programs import DidNotStart, Edgecask, Promises, arguments, fresh_copy, quoted
from store import DATABASES, build

REWRITE_LIMIT_S = 20


class Round:
    """One bit, one rewrite, one kill."""

    def __init__(self, edgecask, scratch, pristine, promises, draw, number):
        self.edgecask, self.pristine, self.promises = edgecask, pristine, promises
        self.directory = fresh_copy(pristine.directory, scratch / "live")
        self.mended = scratch / "mended"
        name = draw.choice(pristine.names("datafile"))
        self.record = draw.choice(pristine.owners.files[name])
        self.flip = FlippedBit(self.directory / name, draw.randrange(self.record.offset, self.record.end), draw.randrange(8))
        self.victims = pristine.owners.keys_of(self.record)
        self.contents = dict(pristine.contents)
        self.number, self.name = number, name

    def hold(self, is_so, text):
        return self.promises.hold(is_so, f"round {self.number}, bit of byte {self.flip.offset} of {self.name}: {text}")

    def run(self):
        with self.edgecask.serve(self.directory) as server, Client(server.port) as client:
            self.flip.turn()
            for number in range(0, 150, 2):
                key = b"filler:%d" % number
                if number % 3 == 0:
                    client.ask("DEL", key)
                    self.contents.pop(key)
                else:
                    client.ask("SET", key, "overwritten")
                    self.contents[key] = ("string", b"overwritten", -1)
            client.ask("BGREWRITEAOF")
            self.wait_for_rewrite(client)
            if not self.hold(server.process.poll() is None, f"the server ended: {server.log_path.read_text()[-1500:]}"):
                return "the server ended"
            self.judge(read_all(client, DATABASES), "after the rewrite")
            merged = not (self.directory / self.name).exists()
            server.stop(signal.SIGKILL)
        said = server.log_path.read_text(errors="replace")
        self.hold("panicked" not in said, f"panicked: {said[-1500:]}")
        return ("the file was merged, " if merged else "the file stays, ") + self.after_the_kill()

    def wait_for_rewrite(self, client):
        deadline = time.monotonic() + REWRITE_LIMIT_S
        time.sleep(0.1)
        while time.monotonic() < deadline:
            info = client.ask("INFO").decode()
            if "aof_rewrite_in_progress:0" in info and "merge_in_progress:1" not in info:
                return
            time.sleep(0.05)

    def judge(self, found, when, said=""):
        """A key of the damaged record may be an error, and one that is listed may be lost; nothing else may differ."""
        unreadable, wrong = differences(self.contents, found)
        listed = {key for key in wrong if quoted(key) in said}
        self.hold(not wrong - listed, f"{when}: {shown(wrong - listed, self.contents, found)}; {said[-1500:]}")
        self.hold(unreadable | wrong <= self.victims,
                  f"{when}: more than was damaged: {shown((unreadable | wrong) - self.victims, self.contents, found)}")
        for key in unreadable:
            self.hold(quoted(key) in found[key].text, f"{when}: the error for {key!r}: {found[key].text[:200]}")
        return bool(unreadable)

    def after_the_kill(self):
        try:
            with self.edgecask.serve(self.directory) as server, Client(server.port) as client:
                fails = self.judge(read_all(client, DATABASES), "after kill -9 and a start")
                server.stop(signal.SIGKILL)
                return "starts, an error for the key" if fails else "starts, all values right"
        except DidNotStart as refusal:
            text = str(refusal)
            self.hold(".data" in text and "panicked" not in text, f"the refusal: {text}")
        shutil.rmtree(self.mended, ignore_errors=True)
        status, report = self.edgecask.repair(self.directory, self.mended)
        if not self.hold(status in (0, 1), f"repair: {report}"):
            return "repair failed"
        with self.edgecask.serve(self.mended) as server, Client(server.port) as client:
            said = report if self.flip.offset >= self.record.value_offset else report + "".join(map(quoted, self.victims))
            self.judge(read_all(client, DATABASES), "after repair", said)
            server.stop(signal.SIGKILL)
        return "refused, repaired"


def main():
    parser = arguments(argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter))
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--only", type=int, help="the number of a round, to see that one again")
    options = parser.parse_args()
    promises, outcomes = Promises(options.seed), collections.Counter()
    with tempfile.TemporaryDirectory(prefix="edgecask-merged-", dir=options.scratch) as scratch:
        scratch = pathlib.Path(scratch)
        edgecask = Edgecask(options.edgecask, scratch, STORE_OPTIONS)
        pristine = build(edgecask, scratch / "pristine", options.seed)
        for number in range(options.rounds) if options.only is None else [options.only]:
            draw = random.Random(f"{options.seed} {number}")
            outcomes[Round(edgecask, scratch, pristine, promises, draw, number).run()] += 1
    for outcome, count in sorted(outcomes.items()):
        print(f"{outcome:50} {count:5}")
    promises.end()


if __name__ == "__main__":
    main()
