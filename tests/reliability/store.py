"""A store with keys of all types, in every state that bytes can be in: sealed with hints, synced without, and not synced.

What was written last is known step by step, so that a cut of the end can be told from a loss.
"""

import dataclasses
import pathlib
import random
import signal

from client import Client, ErrorReply
from contents import read_all, read_key
from datafile import Owners, read

BLOB_MIN_BYTES = 1 << 20
DATAFILE_MAX_BYTES = 1 << 20
FAR_FUTURE_MS = 4_000_000_000_000
TAIL_STEPS = 24
# The second one is flushed once. No key has the name of one in the other.
DATABASES = (0, 1)


@dataclasses.dataclass
class Step:
    """A write that was not synced: where its frame ends in the last datafile, and what its keys were before."""

    end: int
    before: dict


@dataclasses.dataclass
class Pristine:
    """A store at rest: its directory, what is in it, and its last steps, none of which was synced."""

    directory: pathlib.Path
    contents: dict
    owners: Owners
    active: str
    synced_end: int
    steps: list

    def contents_cut_at(self, offset):
        """What is in it if the last datafile ends there."""
        contents = dict(self.contents)
        for step in reversed(self.steps):
            if step.end > offset:
                contents.update(step.before)
        return {key: value for key, value in contents.items() if value is not None}

    def written_end(self, name):
        """How many bytes of a file mean anything."""
        path = self.directory / name
        return self.owners.end(name) if name.endswith(".data") else path.stat().st_size

    def names(self, kind):
        """Files of one kind, relative to the directory."""
        patterns = {"datafile": "*.data", "blob": "*.blob", "manifest": "MANIFEST", "meta": "meta/**/*"}
        found = self.directory.glob(patterns[kind])
        return sorted(str(path.relative_to(self.directory)) for path in found if path.is_file() and path.stat().st_size)


def build(edgecask, directory, seed, older=None):
    """Makes a store. `older` is called with nothing once, when everything but the last part is written and saved."""
    directory = pathlib.Path(directory)
    draw = random.Random(seed)
    with edgecask.serve(directory, "--appendfsync", "no") as server, Client(server.port) as client:
        write_all_types(client, draw, "first")
        save(client)
        fill_datafiles(client, draw, "filler", 3)
        if older:
            server.stop(signal.SIGKILL)
            older()
    with edgecask.serve(directory, "--appendfsync", "no") as server, Client(server.port) as client:
        write_all_types(client, draw, "second")
        overwrite_some(client, draw)
        fill_datafiles(client, draw, "later", 1)
        flush_one_database(server)
        save(client)
        write_all_types(client, draw, "third", blobs=False)
        done(client.ask("WAITAOF", 1, 0, 0))
        active = last_datafile(directory)
        synced_end = end_of(directory / active, None)
        steps = write_tail(client, draw, directory / active, synced_end)
        contents = read_all(client, DATABASES)
        server.stop(signal.SIGKILL)
    return Pristine(directory, contents, Owners(directory), active, synced_end, steps)


def done(reply):
    """A reply that must not be an error."""
    for part in reply if isinstance(reply, list) else [reply]:
        if isinstance(part, ErrorReply):
            raise SystemExit(f"a write was answered {part}")
    return reply


def save(client):
    done(client.ask("SAVE"))


def write_all_types(client, draw, name, blobs=True):
    """A few keys of each type."""
    word = lambda most: draw.randbytes(draw.randrange(1, most)).hex()
    commands = []
    for number in range(12):
        at = f"{name}:{number}"
        commands += [
            ("SET", f"string:{at}", word(30)),
            ("SET", f"long:{at}", draw.randbytes(draw.randrange(100, 9000))),
            ("HSET", f"hash:{at}", *(part for field in range(6) for part in (f"field{field}", word(60)))),
            ("RPUSH", f"list:{at}", *(word(60) for _ in range(6))),
            ("SADD", f"set:{at}", *(word(60) for _ in range(6))),
            ("ZADD", f"zset:{at}", *(part for member in range(6) for part in (draw.randrange(1000), f"{member}-{word(50)}"))),
            ("XADD", f"stream:{at}", f"{number + 1}-1", "field", word(200)),
            ("XADD", f"stream:{at}", f"{number + 2}-1", "field", word(20)),
            ("SET", f"expiring:{at}", word(30), "PXAT", FAR_FUTURE_MS + number),
            ("SET", f"doomed:{at}", word(20)),
        ]
    commands += [
        ("SET", b"\x00binary \xff\"" + name.encode(), word(20)),
        ("XGROUP", "CREATE", f"stream:{name}:0", "group", "0"),
        ("XREADGROUP", "GROUP", "group", "reader", "COUNT", 1, "STREAMS", f"stream:{name}:0", ">"),
        ("DEL", *(f"doomed:{name}:{number}" for number in range(12))),
        ("SETBIT", f"bits:{name}", 70_000, 1),
        ("PFADD", f"counted:{name}", *(word(20) for _ in range(50))),
        ("MULTI",), ("SET", f"together:{name}:1", word(30)), ("SADD", f"together:{name}:2", word(30)), ("EXEC",),
        ("COPY", f"hash:{name}:1", f"copied:{name}"),
        ("RENAME", f"list:{name}:1", f"renamed:{name}"),
    ]
    if blobs:
        size = BLOB_MIN_BYTES + draw.randrange(200_000)
        commands += [
            ("SET", f"blob:{name}", draw.randbytes(size)),
            ("SET", f"patched:{name}", draw.randbytes(size)),
            ("SETRANGE", f"patched:{name}", size // 2, draw.randbytes(3000)),
            ("SETBIT", f"patched:{name}", 4096 * 8 * 3, 1),
            ("APPEND", f"patched:{name}", draw.randbytes(70_000)),
        ]
    done(client.ask_all(commands))


def fill_datafiles(client, draw, name, count):
    """Enough for some sealed datafiles."""
    for number in range(count * DATAFILE_MAX_BYTES // 20_000):
        done(client.ask("SET", f"{name}:{number}", draw.randbytes(20_000)))


def overwrite_some(client, draw):
    """Newer values, removals and a collection that changes, of keys that lie in sealed datafiles."""
    for number in range(6):
        done(client.ask_all([
            ("SET", f"string:first:{number}", draw.randbytes(20).hex()),
            ("HSET", f"hash:first:{number}", "field1", "changed", "field9", "new"),
            ("HDEL", f"hash:first:{number}", "field2"),
            ("LPOP", f"list:first:{number + 2}"),
            ("DEL", f"long:first:{number}"),
            ("PERSIST", f"expiring:first:{number}"),
        ]))


def flush_one_database(server):
    with Client(server.port, DATABASES[1]) as client:
        done(client.ask_all([("SET", f"flushed:{number}", "old") for number in range(5)]))
        done(client.ask("FLUSHDB"))
        done(client.ask_all([("SET", f"other:{number}", "new") for number in range(5)]))


def write_tail(client, draw, active, end):
    """Steps that are not synced, each of which is one frame."""
    steps = []
    for number in range(TAIL_STEPS):
        word = draw.randbytes(draw.randrange(4, 400)).hex()
        command = [
            ("SET", f"tail:{number}", word),
            ("HSET", "tail-hash", f"field{number}", word),
            ("SET", f"string:second:{number % 12}", word),
            ("RPUSH", "tail-list", word),
            ("APPEND", "blob:second", word),
            ("DEL", f"set:second:{number % 12}"),
            ("SETRANGE", "patched:second", 5000, word),
            ("ZADD", "tail-zset", number, word),
        ][number % 8]
        key = command[1].encode()
        before = {key: read_key(client, key)}
        done(client.ask(*command))
        end = end_of(active, end)
        steps.append(Step(end, before))
    return steps


def last_datafile(directory):
    """The datafile that is appended to: the last by its base sequence and id."""
    def order(path):
        with open(path, "rb") as file:
            header = file.read(36)
        return int.from_bytes(header[28:36], "little"), int.from_bytes(header[16:20], "little")
    return max(directory.glob("*.data"), key=order).name


def end_of(path, start):
    """Where the records of a datafile end, read from an offset on."""
    ends = [record.end for record in read(path, start)]
    return ends[-1] if ends else start


