#!/usr/bin/env python3
"""Restarts of a store with one flipped bit, one cut file or one page of zeros: what it shows, says, and saves.

    flips.py --edgecask target/release/edgecask [--rounds 780] [--seed 15]

Each round damages one file of a copy, in turns a datafile, a blob, the manifest and the metadata map (hints), and runs
`check`, `repair`, `serve` and `serve --on-damage salvage` on it. The promises:

- no start shows a value that was not written, and none is missing without a word;
- where a start goes on in spite of damage, what is written then is there after kill -9 and another start;
- a start that refuses names the file;
- `check` finds all damage to bytes that mean something, and names the file;
- `repair` and salvage keep every key but those whose bytes were hit, list those, and leave the original as it was.

Which keys a byte belongs to is found by core/FORMAT.md, in Python. Exits with 1 if a promise is broken.
"""

import argparse
import collections
import pathlib
import random
import shutil
import signal
import tempfile
import time

from client import Client, Lost
from contents import Unreadable, differences, read_all
from damages import draw_harm
from programs import DAMAGED, SOUND, DidNotStart, Edgecask, Promises, arguments, digest, fresh_copy, quoted
from store import BLOB_MIN_BYTES, DATABASES, DATAFILE_MAX_BYTES, build

KINDS = ("datafile", "blob", "datafile", "manifest", "meta")
STORE_OPTIONS = ("--datafile-max-bytes", DATAFILE_MAX_BYTES, "--blob-min-bytes", BLOB_MIN_BYTES)
# Written to a store that starts in spite of damage.
NEW_KEYS = 30
# A panic, which Rust's runtime reports so.
PANIC = "panicked at"


class Round:
    """One damaged copy and the promises about it."""

    def __init__(self, edgecask, scratch, pristine, promises, harm, apply, number):
        self.edgecask, self.pristine, self.promises, self.harm, self.apply = edgecask, pristine, promises, harm, apply
        self.number = number
        self.damaged = fresh_copy(pristine.directory, scratch / "damaged")
        self.mended = scratch / "mended"
        shutil.rmtree(self.mended, ignore_errors=True)
        self.outcome = ""
        self.unnamed = 0

    def hold(self, is_so, text):
        return self.promises.hold(is_so, f"round {self.number}, {self.harm}: {text}")

    def names_file(self, text):
        return pathlib.Path(self.harm.name).name in text

    def run(self):
        self.apply(self.damaged)
        before = digest(self.damaged)
        status, report = self.check()
        self.repair(status)
        self.hold(digest(self.damaged) == before, "check or repair changed the original")
        self.start(status, report)
        if status == DAMAGED:
            fresh_copy(self.pristine.directory, self.damaged)
            self.apply(self.damaged)
            self.salvage()

    def check(self):
        status, report = self.edgecask.check(self.damaged)
        self.hold(status in (SOUND, DAMAGED) and PANIC not in report, f"check ended with {status}: {report}")
        if self.harm.must_be_found:
            self.hold(status == DAMAGED, f"check found nothing: {report}")
        if status == DAMAGED:
            self.hold(self.names_file(report), f"check does not name the file: {report}")
        return status, report

    def start(self, status, report):
        try:
            server = self.edgecask.serve(self.damaged)
        except DidNotStart as refusal:
            said = str(refusal)
            self.hold(PANIC not in said, f"the start panicked: {said}")
            self.hold(self.names_file(said), f"the refusal does not name the file: {said}")
            self.hold(status == DAMAGED, f"the start refuses what check finds sound: {said}")
            self.outcome = "refused, names the file"
            return
        with server:
            found = self.read(server)
            unreadable, wrong = differences(self.harm.contents, found)
            self.hold(not wrong, f"wrong or missing without a word: {shown(wrong, self.harm.contents, found)}")
            self.hold(unreadable <= self.harm.victims, f"unreadable, though not damaged: {shown(unreadable)}")
            for key in unreadable:
                text = found[key].text
                self.hold(quoted(key) in text and self.names_file(text), f"the error for {key!r} does not say it: {text}")
                self.hold(quoted(key) in report or self.harm.hits_name, f"check does not list {key!r}: {report}")
            if unreadable:
                self.outcome = "an error for the key"
            elif self.harm.contents is not self.pristine.contents:
                self.outcome = "cut as a torn end"
            else:
                self.outcome = "all values right" if status == SOUND else "all values right, check finds it"
            self.go_on(server, found)

    def go_on(self, server, found):
        """Writes new keys and into those that cannot be read, kills the server, and looks for all of it."""
        expected = dict(found)
        with Client(server.port) as client:
            for number in range(NEW_KEYS):
                key = b"after:%d" % number
                self.hold(client.ask("SET", key, key) == "OK", "a SET beside the damage fails")
                expected[key] = ("string", key, -1)
            for key in [key for key, value in found.items() if isinstance(value, Unreadable)]:
                client.ask("APPEND", key, "x")
            server.stop(signal.SIGKILL)
        is_repaired = False
        try:
            with self.edgecask.serve(self.damaged) as server:
                again = self.read(server)
                server.stop(signal.SIGKILL)
        except DidNotStart as refusal:
            self.hold(self.names_file(str(refusal)), f"the second refusal does not name the file: {refusal}")
            shutil.rmtree(self.mended)
            is_repaired = True
            self.edgecask.repair(self.damaged, self.mended)
            with self.edgecask.serve(self.mended) as server:
                again = self.read(server)
                server.stop(signal.SIGKILL)
        unreadable, _ = differences({}, again)
        wrong = {key for key in expected.keys() | again.keys() if expected.get(key) != again.get(key)}
        wrong -= unreadable | self.harm.victims
        self.hold(unreadable <= self.harm.victims, f"kill -9 after the damage: unreadable {shown(unreadable)}")
        self.hold(not wrong, f"kill -9 after the damage: {shown(wrong, expected, again)}")
        for key in self.harm.victims - unreadable:
            value, before = again.get(key), self.harm.contents.get(key)
            longer = before and before[0] == "string" and ("string", before[1] + b"x", before[2])
            self.hold(value in (before, longer) or is_repaired,
                      f"kill -9 after the damage: {shown({key}, self.harm.contents, again)}")

    def repair(self, status):
        repaired, report = self.edgecask.repair(self.damaged, self.mended)
        self.hold(repaired == status, f"check says {status}, repair {repaired}: {report}")
        if not self.hold(self.mended.is_dir() and repaired in (SOUND, DAMAGED), f"repair failed: {report}"):
            return
        try:
            with self.edgecask.serve(self.mended) as server:
                self.compare(self.read(server), report, "repair")
                server.stop(signal.SIGKILL)
        except DidNotStart as refusal:
            self.hold(False, f"the repaired store does not start: {refusal}")
        again, text = self.edgecask.check(self.mended)
        self.hold(again == SOUND, f"the repaired store is not sound: {text}")

    def salvage(self):
        try:
            with self.edgecask.serve(self.damaged, "--on-damage", "salvage") as server:
                first = self.read(server)
                server.stop(signal.SIGKILL)
            said = server.log_path.read_text(errors="replace")
            self.compare(first, said, "salvage", may_be_unreadable=True)
            with self.edgecask.serve(self.damaged) as server:
                second = self.read(server)
                server.stop(signal.SIGKILL)
            changed = {key for key in first.keys() | second.keys() if first.get(key) != second.get(key)}
            self.hold(not changed, f"a start after the salvage shows something else: {shown(changed, first, second)}")
        except DidNotStart as refusal:
            self.hold(False, f"salvage does not start: {refusal}")

    def compare(self, found, said, who, may_be_unreadable=False):
        """What was saved: all but the keys that were hit, and those are listed, or say it when they are read."""
        unreadable, wrong = differences(self.harm.contents, found)
        self.hold(may_be_unreadable or not unreadable, f"{who} leaves keys that cannot be read: {shown(unreadable)}")
        said += "".join(found[key].text for key in unreadable)
        is_flush = "FLUSHDB" in said
        flushed = {key for key in wrong if is_flush and key.startswith((b"flushed:", b"other:"))}
        lost = (wrong | unreadable) - flushed
        self.hold(lost <= self.harm.victims,
                  f"{who} lost more than was damaged: {shown(lost - self.harm.victims, self.harm.contents, found)}; {said}")
        unnamed = {key for key in lost if quoted(key) not in said}
        self.unnamed += bool(unnamed)
        self.hold(not unnamed or (self.harm.hits_name and self.names_file(said)),
                  f"{who} does not list what it lost: {shown(unnamed, self.harm.contents, found)}; {said}")

    def read(self, server):
        try:
            with Client(server.port) as client:
                return read_all(client, DATABASES)
        except Lost as lost:
            said = server.log_path.read_text(errors="replace")
            self.hold(False, f"the connection was lost: {lost}; {said}")
            return {}


def shown(keys, expected=None, found=None):
    """A few keys, and what they should be and are."""
    parts = []
    for key in sorted(keys)[:3]:
        values = "" if expected is None else f" expected {str(expected.get(key))[:80]} found {str(found.get(key))[:80]}"
        parts.append(f"{key!r}{values}")
    return f"{len(keys)} keys: " + "; ".join(parts)


def main():
    parser = arguments(argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter))
    parser.add_argument("--rounds", type=int, default=780)
    parser.add_argument("--only", type=int, help="the number of a round, to see that one again")
    options = parser.parse_args()
    promises = Promises(options.seed)
    outcomes, unnamed, begin = collections.Counter(), 0, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="edgecask-flips-", dir=options.scratch) as scratch:
        scratch = pathlib.Path(scratch)
        edgecask = Edgecask(options.edgecask, scratch, STORE_OPTIONS)
        pristine = build(edgecask, scratch / "pristine", options.seed)
        status, report = edgecask.check(pristine.directory)
        promises.hold(status == SOUND, f"check finds damage in the whole store: {report}")
        for number in range(options.rounds) if options.only is None else [options.only]:
            kind = KINDS[number % len(KINDS)]
            harm, apply = draw_harm(random.Random(f"{options.seed} {number}"), pristine, kind)
            one = Round(edgecask, scratch, pristine, promises, harm, apply, number)
            one.run()
            outcomes[kind, one.outcome] += 1
            unnamed += bool(one.unnamed)
    print(f"{len(pristine.contents)} keys, {sum(outcomes.values())} rounds in {time.monotonic() - begin:.0f} s")
    for (kind, outcome), count in sorted(outcomes.items()):
        print(f"{kind:10} {outcome or '(see above)':34} {count:5}")
    print(f"losses listed without their keys' names, which were damaged or cut off: {unnamed} rounds")
    promises.end()


if __name__ == "__main__":
    main()
