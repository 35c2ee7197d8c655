"""Which key each byte of a whole store belongs to, by core/FORMAT.md and not by EdgeCask's code."""

import dataclasses
import pathlib
import struct

HEADER_MIN_BYTES = 16
ROOT, ROOT_TOMBSTONE, SUBKEY, SUBKEY_TOMBSTONE, DATABASES, SYNCED = range(1, 7)
HAS_EXPIRY, HAS_COLLECTION, HAS_BLOB = 4, 8, 16


@dataclasses.dataclass(frozen=True)
class Record:
    """One record; offsets in bytes from the beginning of the file."""

    offset: int
    end: int
    kind: int
    flags: int
    sequence: int
    owner: int
    key: bytes
    value: bytes
    collection: int

    @property
    def value_offset(self):
        return self.end - len(self.value)

    @property
    def blob(self):
        """The id of the blob that a root names, if it names one."""
        return struct.unpack_from("<Q", self.value)[0] if self.kind == ROOT and self.flags & HAS_BLOB else None


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def header_end(data):
    return HEADER_MIN_BYTES + struct.unpack_from("<I", data, 12)[0] + 4


def read(path, start=None):
    """The records of a datafile that is not damaged, from an offset at which one begins."""
    data = pathlib.Path(path).read_bytes()
    at = header_end(data) if start is None else start
    while at + 24 < len(data) and data[at + 4] != 0:
        kind, flags = data[at + 4], data[at + 5]
        sequence = struct.unpack_from("<Q", data, at + 8)[0]
        owner, place = varint(data, at + 24)
        key_len, place = varint(data, place)
        value_len, place = varint(data, place)
        place += 8 if flags & HAS_EXPIRY else 0
        collection = 0
        if flags & HAS_COLLECTION:
            collection, place = varint(data, place)
        key, value = data[place:place + key_len], data[place + key_len:place + key_len + value_len]
        end = place + key_len + value_len
        yield Record(at, end, kind, flags, sequence, owner, key, value, collection)
        at = end


class Owners:
    """The records of a whole store, and the keys that they belong to."""

    def __init__(self, directory):
        self.files = {path.name: list(read(path)) for path in sorted(pathlib.Path(directory).glob("*.data"))}
        self.names, self.blobs = {}, {}
        for records in self.files.values():
            for record in records:
                if record.kind == ROOT and record.collection:
                    self.names.setdefault(record.collection, set()).add(record.key)
                if record.blob is not None:
                    self.blobs.setdefault(f"{record.blob:020}.blob", set()).add(record.key)

    def end(self, name):
        """Where the records of a datafile end."""
        return self.files[name][-1].end if self.files[name] else 0

    def at(self, name, offset):
        """The record with this byte, if one has it."""
        return next((record for record in self.files[name] if record.offset <= offset < record.end), None)

    def keys_of(self, record):
        """The keys that a record is about; more than one if its collection had more than one name."""
        if record.kind in (ROOT, ROOT_TOMBSTONE):
            return {record.key}
        if record.kind in (SUBKEY, SUBKEY_TOMBSTONE):
            return self.names.get(record.owner, set())
        return set()

    def keys_in(self, name, start=0, end=1 << 62):
        """The keys that the records of a part of a datafile are about, or those of a blob."""
        if name.endswith(".blob"):
            return set(self.blobs.get(name, set()))
        touched = (record for record in self.files[name] if record.end > start and record.offset < end)
        return set().union(*(self.keys_of(record) for record in touched))
