#!/usr/bin/env python3
"""A small file system that is filled and freed from inside, again and again, without a restart.

    small_disk.py --edgecask target/release/edgecask [--rounds 20] [--seed 15] [--filesystem ext4]

Root makes a file system of 64 MB. First five keys are overwritten many times over. Then every round fills the disk with new
keys, or blobs, until they are refused, and frees it in one of several ways: DEL, UNLINK, FLUSHALL, expiry, elements
that are removed, or a file of somebody else that goes. Some rounds SAVE the full store, kill it and start it. The promises:

- overwriting is never refused for good, as dead bytes make room by themselves;
- while writes are refused reads work, `/ready` answers 503, INFO and `/metrics` say so, and when they are not, they do not;
- deleting is not refused, and frees the disk without a restart;
- a full store can be saved, killed and started, and no `meta.broken-N` pile up;
- no value is wrong.

Exits with 1 if a promise is broken.
"""

import argparse
import collections
import contextlib
import os
import random
import signal
import time
import urllib.error
import urllib.request

from client import Client, ErrorReply
from file_system import KINDS, SIZE_MB, small_file_system
from programs import SOUND, DidNotStart, Edgecask, Promises, arguments
from servers import free_port

VALUE_BYTES = 20_000
BLOB_BYTES = 3 << 20
OVERWRITTEN_KEYS = 5
OVERWRITTEN_BYTES = 1_200_000_000
# As in the adversary's report: values of strings that are no blobs.
OVERWRITTEN_VALUE_BYTES = 100_000
REFUSED_FOR_GOOD_S = 10
RECOVERY_S = 20
EXPIRY_MS = 4000
BROKEN_META_MAX = 1
TRIES = 200


class Disk:
    """A server on the small disk, and what must be in it."""

    def __init__(self, edgecask, mount, promises, draw):
        self.edgecask, self.mount, self.promises, self.draw = edgecask, mount, promises, draw
        self.directory, self.contents, self.where, self.count = mount / "store", {}, "", 0
        self.size_bytes = VALUE_BYTES
        self.begin()

    def begin(self):
        self.http_port = free_port()
        self.server = self.edgecask.serve(self.directory, "--http-port", self.http_port)
        self.client = Client(self.server.port)

    def hold(self, is_so, text):
        return self.promises.hold(is_so, f"{self.where}: {text}")

    def restart(self):
        """kill -9 and a start."""
        self.server.stop(signal.SIGKILL)
        self.begin()

    def get(self, path):
        """Status and text of a page."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.http_port}{path}", timeout=30) as page:
                return page.status, page.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def says_full(self):
        """The three places that say whether writes are refused: each is True, False or what it said."""
        ready, text = self.get("/ready")
        info = self.client.ask("INFO").decode()
        _, metrics = self.get("/metrics")
        one_of = lambda text, yes, no: True if yes in text else False if no in text else "nothing"
        return {
            "/ready": {200: False, 503: True}.get(ready, f"{ready} {text}"),
            "INFO": one_of(info, "aof_last_write_status:err", "aof_last_write_status:ok"),
            "/metrics": one_of(metrics, "redis_aof_last_write_status 0", "redis_aof_last_write_status 1"),
        }

    def overwrite(self, most_bytes):
        """Overwrites a few keys; returns the bytes written, how many were refused, and the longest time without a success."""
        written = refused = 0
        last_success, longest = time.monotonic(), 0.0
        while written < most_bytes:
            key = b"over:%d" % self.draw.randrange(OVERWRITTEN_KEYS)
            value = self.draw.randbytes(20) + bytes(OVERWRITTEN_VALUE_BYTES)
            reply = self.client.ask("SET", key, value)
            now = time.monotonic()
            longest = max(longest, now - last_success)
            if isinstance(reply, ErrorReply):
                refused += 1
                if not self.hold(now - last_success < REFUSED_FOR_GOOD_S, f"overwriting is refused for good: {reply}"):
                    break
                time.sleep(0.01)
            else:
                self.contents[key] = value
                written += len(value)
                last_success = now
        return written, refused, longest

    def fill(self, blobs=False, deadline_ms=None):
        """Writes new keys until they are refused, once more after a moment, and for good; or until the time they expire."""
        expiry = ("PXAT", deadline_ms) if deadline_ms else ()
        times_refused, self.size_bytes = 0, BLOB_BYTES if blobs else VALUE_BYTES
        while times_refused < 3 and (deadline_ms is None or time.time() * 1000 < deadline_ms):
            self.count += 1
            key = b"fill:%d" % self.count
            value = self.draw.randbytes(20) + bytes(self.size_bytes)
            reply = self.client.ask("SET", key, value, *expiry)
            if isinstance(reply, ErrorReply):
                self.hold(reply.startswith("MISCONF"), f"a SET on a full disk is answered {reply}")
                times_refused += 1
                time.sleep(0.5 if not expiry else 0.02)
            else:
                self.contents[key] = value

    def judge_full(self):
        """While writes are refused. Merge may make room between a refusal and the question, so it is asked again then."""
        says = {}
        for _ in range(TRIES):
            if self.is_refused():
                says = self.says_full()
                if set(says.values()) == {True}:
                    break
        else:
            # Nothing is to be said if merge has made room each time.
            self.hold(not says, f"writes are refused, but that is said: {says}")
        self.judge_values(5)

    def is_refused(self):
        """Whether another value is refused now; if not, it is there."""
        self.count += 1
        key = b"fill:%d" % self.count
        if isinstance(self.client.ask("SET", key, bytes(self.size_bytes)), ErrorReply):
            return True
        self.contents[key] = bytes(self.size_bytes)
        return False

    def judge_values(self, count):
        keys = self.draw.sample(sorted(self.contents), min(count, len(self.contents)))
        for key, value in zip(keys, self.client.ask_all([("GET", key) for key in keys])):
            self.hold(value == self.contents[key], f"{key!r} is {str(value)[:60]}")

    def judge_all_values(self):
        # Keys that have expired count until they are collected.
        deadline = time.monotonic() + RECOVERY_S
        while (there := self.client.ask("DBSIZE")) > len(self.contents) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.hold(there == len(self.contents), f"{there} keys are there, not {len(self.contents)}")
        self.judge_values(len(self.contents))

    def recovers(self):
        """Waits until a write is accepted; returns after how many seconds."""
        begin = time.monotonic()
        while isinstance(reply := self.client.ask("SET", "probe", bytes(VALUE_BYTES)), ErrorReply):
            if time.monotonic() > begin + RECOVERY_S:
                self.hold(False, f"no write is accepted {RECOVERY_S} s after the disk was freed: {reply}; {self.space()}")
                return RECOVERY_S
            time.sleep(0.02)
        took = time.monotonic() - begin
        self.client.ask("DEL", "probe")
        deadline = time.monotonic() + 2
        says = self.says_full()
        while set(says.values()) != {False} and time.monotonic() < deadline:
            time.sleep(0.05)
            says = self.says_full()
        self.hold(set(says.values()) == {False}, f"writes are accepted, but that is said: {says}")
        return took

    def space(self):
        free = os.statvfs(self.mount)
        names = collections.Counter(path.suffix or path.name for path in self.directory.iterdir())
        info = [line for line in self.client.ask("INFO", "bitcask").decode().split() if "bytes" in line or "log_" in line]
        return f"{free.f_bavail * free.f_frsize} bytes free, files {dict(names)}, {' '.join(info)}"

    def judge_litter(self):
        broken = [path.name for path in self.directory.iterdir() if path.name.startswith("meta.broken")]
        self.hold(len(broken) <= BROKEN_META_MAX, f"a pile of {broken}")

    def ask(self, *words):
        """A command that only takes away."""
        reply = self.client.ask(*words)
        self.hold(not isinstance(reply, ErrorReply), f"{words[0]} on a full disk is answered {reply}")

    def forget(self, keys):
        for key in keys:
            self.contents.pop(key, None)


# Ways to fill a disk and to free it. Each leaves the disk so that there is room again, at once or soon.
def by_del(disk):
    disk.fill()
    yield "DEL"
    for key in [key for key in list(disk.contents) if key.startswith(b"fill")]:
        disk.ask("DEL", key)
        disk.forget([key])


def by_some_del(disk):
    disk.fill()
    yield "DEL of every second"
    keys = [key for key in disk.contents if key.startswith(b"fill")][::2]
    disk.ask("DEL", *keys)
    disk.forget(keys)


def by_flushall(disk):
    disk.fill()
    yield "FLUSHALL"
    disk.ask("FLUSHALL")
    disk.contents.clear()


def by_blobs(disk):
    # Where a blob is refused there may be room for less.
    disk.fill(blobs=True)
    disk.fill()
    yield "UNLINK of blobs"
    keys = [key for key in disk.contents if key.startswith(b"fill")]
    disk.ask("UNLINK", *keys)
    disk.forget(keys)


def by_expiry(disk):
    before = set(disk.contents)
    deadline = time.time_ns() // 1_000_000 + EXPIRY_MS
    disk.fill(deadline_ms=deadline)
    brief = set(disk.contents) - before
    disk.forget(brief)
    yield "expiry"
    time.sleep(max(0, deadline / 1000 - time.time()) + 0.1)


def by_elements(disk):
    number = 0
    while not isinstance(disk.client.ask("RPUSH", "list", *(bytes(5000) for _ in range(20))), ErrorReply):
        number += 20
    yield "LPOP and LTRIM"
    for _ in range(number // 40):
        disk.ask("LPOP", "list", 20)
    disk.ask("LTRIM", "list", -1, 0)


def by_somebody_else(disk):
    with open(disk.mount / "somebody", "wb") as file, contextlib.suppress(OSError):
        while True:
            os.write(file.fileno(), bytes(1 << 16))
    disk.fill()
    yield "a file of somebody else goes"
    os.unlink(disk.mount / "somebody")


WAYS = (by_del, by_flushall, by_some_del, by_blobs, by_expiry, by_elements, by_somebody_else)


def a_round(disk, number, promises):
    way = WAYS[number % len(WAYS)]
    broken, what = len(promises.broken), []
    disk.where = f"round {number}, {way.__name__}"
    steps = way(disk)
    freed_by = next(steps)
    # Brief keys go meanwhile, so their values and the state of the disk are not looked at.
    if way is not by_expiry:
        disk.judge_full()
    if number % 3 == 2 and way not in (by_expiry, by_elements):
        what.append("SAVE, kill -9, start")
        disk.client.ask("SAVE")
        try:
            disk.restart()
        except DidNotStart as refusal:
            disk.hold(False, f"a full store does not start after SAVE and kill -9: {refusal}")
            raise SystemExit("a store that does not start ends the script") from refusal
        disk.judge_all_values()
    for _ in steps:
        pass
    took = disk.recovers()
    disk.judge_all_values()
    disk.judge_litter()
    result = "BROKEN" if len(promises.broken) > broken else "recovered"
    print(f"{number:5}  {freed_by:30} {result:10} after {took:5.2f} s  {' '.join(what)}", flush=True)


def main():
    parser = arguments(argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--filesystem", choices=KINDS, default="ext4")
    parser.add_argument("--overwrite-mb", type=int, default=OVERWRITTEN_BYTES // 1_000_000)
    options = parser.parse_args()
    promises = Promises(options.seed)
    with small_file_system(options.scratch, options.filesystem) as (mount, scratch):
        edgecask = Edgecask(options.edgecask, scratch)
        disk = Disk(edgecask, mount, promises, random.Random(options.seed))
        try:
            disk.where = "overwriting"
            written, refused, longest = disk.overwrite(options.overwrite_mb * 1_000_000)
            print(f"{written / 1e6:.0f} MB over {OVERWRITTEN_KEYS} keys on {SIZE_MB} MB of {options.filesystem}: "
                  f"{refused} refused, longest {longest:.2f} s without a success", flush=True)
            disk.recovers()
            disk.judge_all_values()
            for number in range(options.rounds):
                a_round(disk, number, promises)
        finally:
            disk.server.stop(signal.SIGKILL)
        disk.where = "at the end"
        status, report = edgecask.check(disk.directory)
        disk.hold(status == SOUND, f"check: {report}")
        said = disk.server.log_path.read_text(errors="replace")
        disk.hold("panicked" not in said, f"the server panicked: {said[-2000:]}")
    promises.end()


if __name__ == "__main__":
    main()
