#!/usr/bin/env python3
"""Bits that flip in the files of a running server, and what reads of the keys concerned answer.

    live_flips.py --edgecask target/release/edgecask [--rounds 2000] [--seed 15]

Each round flips one bit of a datafile, a blob, the manifest or the metadata map, in turns, reads the keys that the byte
belongs to and another one, sometimes changes the blob, and flips the bit back. The promises:

- a reply is the value, or an error that names key and file; a write that builds on damage is refused;
- when the bit is back, the value is as well;
- at the end a clean stop, `check` and a start find everything as it must be.

Exits with 1 if a promise is broken.
"""

import argparse
import collections
import pathlib
import random
import signal
import tempfile
import time

from client import Client, ErrorReply, Lost
from contents import Unreadable, differences, read_all, read_key
from flips import STORE_OPTIONS, shown
from programs import SOUND, Edgecask, Promises, arguments, fresh_copy, quoted
from store import DATABASES, build

KINDS = ("datafile", "blob", "datafile", "blob", "manifest", "meta")
HEADER_SHARE = 0.05
CHANGE_SHARE = 0.2


class FlippedBit:
    """A bit of a file that is the other way round within a `with`."""

    def __init__(self, path, offset, bit):
        self.path, self.offset, self.mask = path, offset, 1 << bit

    def turn(self):
        with open(self.path, "r+b") as file:
            file.seek(self.offset)
            byte = file.read(1)
            file.seek(self.offset)
            file.write(bytes([byte[0] ^ self.mask]))

    def __enter__(self):
        self.turn()

    def __exit__(self, *_):
        self.turn()


class Live:
    """A running server on a copy of the store, and what its clients must see."""

    def __init__(self, server, directory, pristine, promises, draw):
        self.server, self.directory, self.pristine, self.promises, self.draw = server, directory, pristine, promises, draw
        self.contents = dict(pristine.contents)
        self.clients = {db: Client(server.port, db) for db in DATABASES}

    def client_of(self, key):
        return self.clients[1 if key.startswith(b"other:") else 0]

    def round(self, number, kind):
        """One flip; returns what came of it."""
        draw, pristine = self.draw, self.pristine
        name = draw.choice([name for name in pristine.names(kind) if (self.directory / name).exists()])
        end = min(pristine.written_end(name), (self.directory / name).stat().st_size)
        offset = draw.randrange(min(80, end)) if draw.random() < HEADER_SHARE else draw.randrange(end)
        bit = draw.randrange(8)
        self.where = f"round {number}, bit {bit} of byte {offset} of {name}"
        concerned = self.concerned(kind, name, offset)
        bystander = draw.choice(sorted(self.contents.keys() - concerned))
        keys = sorted(concerned)[:4] + [bystander]
        with FlippedBit(self.directory / name, offset, bit):
            verdicts = [self.judge(key, key != bystander, name) for key in keys]
            if kind == "blob" and concerned and draw.random() < CHANGE_SHARE:
                verdicts.append(self.change(sorted(concerned)[0]))
        for key in keys:
            found = self.read(key)
            expected = self.contents.get(key)
            self.promises.hold(found == expected,
                               f"{self.where}, turned back: {key!r} expected {str(expected)[:80]} found {str(found)[:200]}")
        return "an error that names it" if "error" in verdicts else "right"

    def concerned(self, kind, name, offset):
        if kind == "blob":
            return self.pristine.owners.keys_in(name)
        record = self.pristine.owners.at(name, offset) if kind == "datafile" else None
        return self.pristine.owners.keys_of(record) if record else set()

    def read(self, key):
        client = self.client_of(key)
        try:
            return read_key(client, key)
        except Lost as lost:
            client.connect()
            return Unreadable(str(lost))

    def judge(self, key, may_fail, name):
        found = self.read(key)
        if isinstance(found, Unreadable) and may_fail:
            self.promises.hold(quoted(key) in found.text and name in found.text,
                               f"{self.where}: the error for {key!r} does not say it: {found.text[:300]}")
            return "error"
        expected = self.contents.get(key)
        self.promises.hold(found == expected,
                           f"{self.where}: {key!r} expected {str(expected)[:80]} found {str(found)[:200]}")
        return "right"

    def change(self, key):
        """A command that builds on a blob, or reads a part of it; what it answers must be so, and stay so."""
        entry = self.contents[key]
        value, length = entry[1], len(entry[1])
        at = self.draw.randrange(length - 5000)
        client, expected = self.client_of(key), None
        which = self.draw.randrange(5)
        if which == 0:
            reply, expected, value = client.ask("APPEND", key, "more"), length + 4, value + b"more"
        elif which == 1:
            reply, expected = client.ask("SETRANGE", key, at, "patch"), length
            value = value[:at] + b"patch" + value[at + 5:]
        elif which == 2:
            reply, expected = client.ask("GETRANGE", key, at, at + 4000), value[at:at + 4001]
        elif which == 3:
            reply, expected = client.ask("BITCOUNT", key), bin(int.from_bytes(value, "big")).count("1")
        else:
            reply, expected = client.ask("STRLEN", key), length
        if isinstance(reply, ErrorReply):
            return "error"
        self.promises.hold(reply == expected, f"{self.where}: a command on {key!r} answered {str(reply)[:80]}")
        self.contents[key] = (entry[0], value, entry[2])
        return "right"


def main():
    parser = arguments(argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter))
    parser.add_argument("--rounds", type=int, default=2000)
    options = parser.parse_args()
    promises, outcomes, begin = Promises(options.seed), collections.Counter(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="edgecask-live-", dir=options.scratch) as scratch:
        scratch = pathlib.Path(scratch)
        edgecask = Edgecask(options.edgecask, scratch, STORE_OPTIONS)
        pristine = build(edgecask, scratch / "pristine", options.seed)
        directory = fresh_copy(pristine.directory, scratch / "live")
        with edgecask.serve(directory) as server:
            live = Live(server, directory, pristine, promises, random.Random(options.seed))
            for number in range(options.rounds):
                kind = KINDS[number % len(KINDS)]
                outcomes[kind, live.round(number, kind)] += 1
                if not promises.hold(server.process.poll() is None, f"{live.where}: the server ended"):
                    break
            server.stop(signal.SIGTERM)
        said = server.log_path.read_text(errors="replace")
        promises.hold("panicked" not in said, f"the server panicked: {said[-2000:]}")
        status, report = edgecask.check(directory)
        promises.hold(status == SOUND, f"check at the end: {report}")
        with edgecask.serve(directory) as server, Client(server.port) as client:
            unreadable, wrong = differences(live.contents, found := read_all(client, DATABASES))
            promises.hold(not unreadable | wrong, f"after a start: {shown(unreadable | wrong, live.contents, found)}")
    print(f"{len(pristine.contents)} keys, {sum(outcomes.values())} flips in {time.monotonic() - begin:.0f} s")
    for (kind, outcome), count in sorted(outcomes.items()):
        print(f"{kind:10} {outcome:26} {count:5}")
    promises.end()


if __name__ == "__main__":
    main()
