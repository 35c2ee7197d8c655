"""What a database must hold after commands of all types: a model in a few lines of Python, one method a command."""

import random

NEVER = -1
# Names of a client's keys, by type; every command finds keys of its type, and some replace one type by another.
KEYS_OF_A_TYPE = 5
BLOB_KEYS = 3
BLOB_BYTES = (70_000, 200_000)
COLLECTION_MAX = 60
FAR_FUTURE_MS = 4_000_000_000_000
# A number to tell values apart; a value that is found says which write it came from.
VALUE_BYTES = (1, 300)


def duplicate(entry):
    """An entry that changes alone. What collections hold never changes."""
    kind, value, expiry = entry
    return [kind, value if isinstance(value, bytes) else value.copy(), expiry]


class Model:
    """A database as (type, value, expiry) by key, in the same form as contents.py reads it."""

    def __init__(self):
        self.keys = {}

    def copy(self):
        model = Model()
        model.keys = {key: duplicate(entry) for key, entry in self.keys.items()}
        return model

    def value(self, key, kind, empty):
        """The value of a key to change, made if it is not there."""
        if key not in self.keys or self.keys[key][0] != kind:
            self.keys[key] = [kind, empty, NEVER]
        return self.keys[key]

    def drop_empty(self, key):
        if key in self.keys and not self.keys[key][1]:
            del self.keys[key]

    def contents(self, now_ms):
        """As contents.read_all returns it, without what has expired."""
        shape = {
            "string": bytes, "hash": dict, "list": tuple, "set": frozenset,
            "zset": lambda value: tuple((member, b"%d" % score)
                                        for member, score in sorted(value.items(), key=lambda item: (item[1], item[0]))),
            "stream": lambda value: (tuple(value), ()),
        }
        return {key: (kind, shape[kind](value), expiry) for key, (kind, value, expiry) in self.keys.items()
                if expiry == NEVER or expiry > now_ms}

    def apply(self, command):
        getattr(self, command[0].lower())(*command[1:])

    def set(self, key, value, *expiry):
        self.keys[key] = ["string", value, expiry[1] if expiry else NEVER]

    def append(self, key, value):
        self.value(key, "string", b"")[1] += value

    def setrange(self, key, at, value):
        entry = self.value(key, "string", b"")
        old = entry[1].ljust(at, b"\0")
        entry[1] = old[:at] + value + old[at + len(value):]

    def incr(self, key):
        entry = self.value(key, "string", b"0")
        entry[1] = b"%d" % (int(entry[1]) + 1)

    def hset(self, key, *pairs):
        self.value(key, "hash", {})[1].update(zip(pairs[::2], pairs[1::2]))

    def hdel(self, key, *fields):
        value = self.keys.get(key, ["hash", {}])[1]
        for field in fields:
            value.pop(field, None)
        self.drop_empty(key)

    def rpush(self, key, *elements):
        self.value(key, "list", [])[1].extend(elements)

    def lpush(self, key, *elements):
        self.value(key, "list", [])[1][:0] = elements[::-1]

    def lpop(self, key, count):
        del self.keys.get(key, ["list", []])[1][:count]
        self.drop_empty(key)

    def sadd(self, key, *members):
        self.value(key, "set", set())[1].update(members)

    def srem(self, key, *members):
        self.keys.get(key, ["set", set()])[1].difference_update(members)
        self.drop_empty(key)

    def zadd(self, key, *pairs):
        self.value(key, "zset", {})[1].update(zip(pairs[1::2], pairs[::2]))

    def zrem(self, key, *members):
        value = self.keys.get(key, ["zset", {}])[1]
        for member in members:
            value.pop(member, None)
        self.drop_empty(key)

    def xadd(self, key, entry, *fields):
        self.value(key, "stream", [])[1].append((entry, fields))

    def xdel(self, key, *entries):
        # A stream stays when it is empty.
        if key in self.keys:
            self.keys[key][1][:] = [entry for entry in self.keys[key][1] if entry[0] not in entries]

    def pexpireat(self, key, at_ms):
        if key in self.keys:
            self.keys[key][2] = at_ms

    def persist(self, key):
        if key in self.keys:
            self.keys[key][2] = NEVER

    def unlink(self, *keys):
        for key in keys:
            self.keys.pop(key, None)

    delete = unlink

    def rename(self, source, target):
        self.keys[target] = self.keys.pop(source)

    def copy_key(self, source, target):
        if source in self.keys:
            self.keys[target] = duplicate(self.keys[source])

    def flushdb(self):
        self.keys.clear()


# Methods whose names are taken by Python or by the model itself.
METHODS = {"DEL": "delete", "COPY": "copy_key"}


def apply_unit(model, unit):
    """A unit is a list of commands that take effect as a whole."""
    for command in unit:
        name = METHODS.get(command[0])
        if name == "copy_key":
            model.copy_key(command[1], command[2])
        elif name:
            getattr(model, name)(*command[1:])
        else:
            model.apply(command)


class Writer:
    """Draws units for one database. It knows the model, so that no command of it can fail."""

    def __init__(self, draw: random.Random, prefix):
        self.draw, self.prefix, self.count = draw, prefix, 0

    def key(self, kind, count=KEYS_OF_A_TYPE):
        return b"%s:%s:%d" % (self.prefix, kind, self.draw.randrange(count))

    def word(self):
        self.count += 1
        text = b"%d:" % self.count
        return text + b"x" * (self.draw.randrange(*VALUE_BYTES) if self.draw.random() < 0.3 else 3)

    def unit(self, model, now_ms):
        """One command, or a MULTI of some."""
        if self.draw.random() < 0.15:
            commands, ahead = [], model.copy()
            for _ in range(self.draw.randrange(2, 6)):
                command = self.command(ahead, now_ms)
                apply_unit(ahead, [command])
                commands.append(command)
            return commands
        return [self.command(model, now_ms)]

    def command(self, model, now_ms):
        return self.draw.choice(COMMANDS)(self, model, now_ms)

    def expiring(self, _, now_ms):
        """A key of its own that no other command touches, since the moment of its end is not known exactly."""
        self.count += 1
        return ("SET", b"%s:brief:%d" % (self.prefix, self.count), self.word(), "PXAT",
                now_ms + self.draw.randrange(200, 4000))

    def pop(self, model, _):
        key = self.key(b"list")
        length = len(model.keys.get(key, ["list", []])[1])
        return ("LPOP", key, max(1, length // 2) if length > COLLECTION_MAX else self.draw.randrange(1, 3))

    def shrinking(self, model, kind, name, member):
        """Removes some of a collection that grows too long, else one that may be there."""
        key = self.key(kind)
        value = model.keys.get(key, [kind, ()])[1]
        some = list(value)[:len(value) // 2] if len(value) > COLLECTION_MAX else [member]
        return (name, key, *(entry[0] if isinstance(entry, tuple) else entry for entry in some))

    def entry(self, model, _):
        self.count += 1
        return ("XADD", self.key(b"stream"), b"%d-1" % self.count, b"field", self.word())

    def rename(self, model, now_ms):
        kind = self.draw.choice((b"string", b"hash", b"list", b"set", b"zset", b"stream", b"blob"))
        count = BLOB_KEYS if kind == b"blob" else KEYS_OF_A_TYPE
        there = [key for key in (b"%s:%s:%d" % (self.prefix, kind, number) for number in range(count)) if key in model.keys]
        if not there:
            return self.text(model, now_ms)
        # Streams are not mixed, since the next entry needs a larger id.
        name = "COPY" if self.draw.random() < 0.4 else "RENAME"
        source, target = self.draw.choice(there), self.key(kind, count)
        if source == target:
            return ("PERSIST", source)
        return ("COPY", source, target, "REPLACE") if name == "COPY" else ("RENAME", source, target)

    def remove(self, _, __):
        kind = self.draw.choice((b"string", b"hash", b"list", b"set", b"zset", b"stream", b"blob"))
        return (self.draw.choice(("DEL", "UNLINK")), self.key(kind), self.key(kind, BLOB_KEYS))

    def expire(self, _, now_ms):
        key = self.key(self.draw.choice((b"string", b"hash", b"list", b"set", b"zset", b"stream", b"blob")), BLOB_KEYS)
        return ("PEXPIREAT", key, FAR_FUTURE_MS + self.draw.randrange(1000))

    def text(self, _, __):
        return ("SET", self.key(b"string"), self.word())

    def blob(self, _, __):
        return ("SET", self.key(b"blob", BLOB_KEYS), self.draw.randbytes(self.draw.randrange(*BLOB_BYTES)))

    def blob_change(self, model, now_ms):
        key = self.key(b"blob", BLOB_KEYS)
        length = len(model.keys.get(key, ["string", b""])[1])
        if length > 2 * BLOB_BYTES[1]:
            return self.blob(model, now_ms)
        if self.draw.random() < 0.5:
            return ("APPEND", key, self.draw.randbytes(self.draw.randrange(1, 40_000)))
        return ("SETRANGE", key, self.draw.randrange(length + 1000), self.draw.randbytes(self.draw.randrange(1, 5000)))

    def flush(self, model, now_ms):
        return ("FLUSHDB",) if self.draw.random() < 0.05 else self.text(model, now_ms)


COMMANDS = [
    Writer.text, Writer.text, Writer.text,
    lambda self, *_: ("APPEND", self.key(b"string"), self.word()),
    lambda self, *_: ("SETRANGE", self.key(b"string"), self.draw.randrange(50), self.word()),
    lambda self, *_: ("INCR", self.key(b"counter")),
    lambda self, *_: ("HSET", self.key(b"hash"), b"f%d" % self.draw.randrange(20), self.word(), b"last", self.word()),
    lambda self, *_: ("HDEL", self.key(b"hash"), b"f%d" % self.draw.randrange(20)),
    lambda self, *_: ("RPUSH", self.key(b"list"), self.word(), self.word()),
    lambda self, *_: ("LPUSH", self.key(b"list"), self.word(), self.word()),
    Writer.pop,
    lambda self, *_: ("SADD", self.key(b"set"), self.word(), b"m%d" % self.draw.randrange(20)),
    lambda self, model, _: self.shrinking(model, b"set", "SREM", b"m%d" % self.draw.randrange(20)),
    lambda self, *_: ("ZADD", self.key(b"zset"), self.draw.randrange(100), b"m%d" % self.draw.randrange(40)),
    lambda self, model, _: self.shrinking(model, b"zset", "ZREM", b"m%d" % self.draw.randrange(40)),
    Writer.entry,
    lambda self, model, _: self.shrinking(model, b"stream", "XDEL", b"1-1"),
    Writer.expire, Writer.expiring, Writer.rename, Writer.remove, Writer.blob, Writer.blob_change, Writer.blob_change,
    Writer.flush,
]
