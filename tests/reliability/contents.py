"""What clients see of a store: every key with its type, value and expiry."""

import dataclasses

from client import ErrorReply, Lost

SCAN_COUNT = 1000
KEYS_AT_ONCE = 64


@dataclasses.dataclass(frozen=True)
class Unreadable:
    """A key whose read was answered by an error, or by the end of the connection."""

    text: str


def read_key(client, key):
    return read_keys(client, [key])[key]


def read_keys(client, keys):
    """A dict of what was read. `None` for a key that is not there, else (type, value, expiry in ms or -1) or Unreadable."""
    found = {}
    for first in range(0, len(keys), KEYS_AT_ONCE):
        some = keys[first:first + KEYS_AT_ONCE]
        try:
            found.update(read_some(client, some))
        except Lost:
            client.connect()
            found.update((key, read_alone(client, key)) for key in some)
    return found


def read_alone(client, key):
    """A key whose read may end the connection."""
    try:
        return read_some(client, [key])[key]
    except Lost as lost:
        client.connect()
        return Unreadable(str(lost))


def read_some(client, some):
    """The same as read_keys, of keys that are asked for at once."""
    found = {}
    if some:
        replies = client.ask_all([command for key in some for command in (("TYPE", key), ("PEXPIRETIME", key))])
        types, expiries = replies[::2], replies[1::2]
        values = client.ask_all([READS.get(kind, lambda key: ("PING",))(key) for kind, key in zip(types, some)])
        for key, kind, expiry, value in zip(some, types, expiries, values):
            found[key] = shaped(client, key, kind, expiry, value)
    return found


READS = {
    "string": lambda key: ("GET", key),
    "hash": lambda key: ("HGETALL", key),
    "list": lambda key: ("LRANGE", key, 0, -1),
    "set": lambda key: ("SMEMBERS", key),
    "zset": lambda key: ("ZRANGE", key, 0, -1, "WITHSCORES"),
    "stream": lambda key: ("XRANGE", key, "-", "+"),
}


def shaped(client, key, kind, expiry, value):
    """A value in a form that compares equal to another of the same meaning."""
    wrong = next((reply for reply in (kind, expiry, value) if isinstance(reply, ErrorReply)), None)
    if wrong is not None:
        return Unreadable(wrong)
    if kind == "none" or value is None:
        return None
    if kind == "hash":
        value = dict(zip(value[::2], value[1::2]))
    elif kind == "set":
        value = frozenset(value)
    elif kind == "list":
        value = tuple(value)
    elif kind == "zset":
        value = tuple(zip(value[::2], value[1::2]))
    elif kind == "stream":
        entries = tuple((entry, tuple(fields)) for entry, fields in value)
        groups = client.ask("XINFO", "GROUPS", key)
        if isinstance(groups, ErrorReply):
            return Unreadable(groups)
        value = (entries, tuple(tuple(group[1::2]) for group in groups))
    return (kind, value, expiry)


def scan(client):
    """All keys of the selected database, sorted."""
    keys, cursor = set(), b"0"
    while True:
        reply = client.ask("SCAN", cursor, "COUNT", SCAN_COUNT)
        if isinstance(reply, ErrorReply):
            raise Lost(f"SCAN was answered {reply}")
        cursor, some = reply
        keys.update(some)
        if cursor == b"0":
            return sorted(keys)


def read_all(client, databases=(0,)):
    """Everything in some databases, which must not have keys of the same name. Keys that cannot be read are Unreadable."""
    contents = {}
    for db in databases:
        client.select(db)
        found = read_keys(client, scan(client))
        contents.update((key, value) for key, value in found.items() if value is not None)
    client.select(databases[0])
    return contents


def differences(expected, found):
    """Keys that are not as expected: (those that cannot be read, those that are wrong or missing or should not be there)."""
    unreadable = {key for key, value in found.items() if isinstance(value, Unreadable)}
    wrong = {key for key in expected.keys() | found.keys() if expected.get(key) != found.get(key)} - unreadable
    return unreadable, wrong
