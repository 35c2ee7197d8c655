#!/usr/bin/env python3
"""The edge worker's WebAssembly under wasmtime: what edge-worker/worker/core.ts and object.ts are to it, without workerd.

    wasmtime_home.py [--forget]     prints its port on this machine, and serves until its input ends

The first line of a connection says what it is for:

    NAME          what follows is RESP with the object of this name
    NAME PAUSE    the object's clock goes on by so many milliseconds; closed when all that was due has happened

An object's clock begins where the in-process runs of the transcripts begin and stands still but for that, so that every
time in a reply is exact. An alarm rings when the clock comes to it. It also rings after a message that has set it and got
no answer: whoever sent it waits, and nobody else is there (core/src/command/tests.rs has it so, too).

With --forget an object's instance is thrown away after every event: what outlives it are rows and attachments. An error
ends the program, as ctx.abort() ends an object.
"""

import asyncio
import os
import pathlib
import random
import sqlite3
import struct
import sys
import traceback

from wasmtime import Config, Engine, FuncType, Linker, Module, Store, ValType

WASM = pathlib.Path(__file__).resolve().parents[2] / "edge-worker/dist/edgecask.wasm"
START_MS = 1_700_000_000_000
# A request is to come in one piece.
READ_BYTES = 16 * 1024 * 1024
# Kinds of messages, as edge-worker/src/outbox.rs has them.
SEND, CLOSE, ATTACH, ALARM = 1, 2, 3, 7
HEADER = struct.Struct("<BII")
I32, F64 = ValType.i32(), ValType.f64()

config = Config()
config.cache = True
engine = Engine(config)
module = Module.from_file(engine, WASM)
# The same with every run; no transcript tells of them.
seeds = random.Random(7)


class Socket:
    """A peer, and what its socket keeps for it."""

    def __init__(self, writer):
        self.writer = writer
        self.seat = None
        self.attached = None


class LuaError(Exception):
    """What Lua throws (edge-worker/worker/lua.ts)."""


class Rows:
    """An object's rows, as core.ts has them, and the imports that reach them."""

    def __init__(self, give, bytes_at, deliver, enter_lua):
        self.sql = sqlite3.connect(":memory:", isolation_level=None)
        self.sql.execute("CREATE TABLE chunk (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)")
        self.sql.execute(
            "CREATE TABLE entry (key BLOB, part INTEGER, bytes BLOB NOT NULL, PRIMARY KEY (key, part)) WITHOUT ROWID"
        )
        self.give, self.bytes_at, self.out, self.enter_lua = give, bytes_at, deliver, enter_lua
        self.linker = Linker(engine)
        self.linker.define_func("lua", "try", FuncType([I32, I32, I32], []), self.lua_try)
        self.linker.define_func("lua", "throw", FuncType([], []), self.lua_throw)
        for function, takes, gives in (
            (self.insert_chunk, [F64, I32, I32], []),
            (self.read_chunks, [F64, F64], []),
            (self.remove_chunks, [F64, F64], []),
            (self.read_entries, [I32, I32, I32, I32, I32, I32], []),
            (self.insert_entry, [I32, I32, I32, I32, I32], []),
            (self.remove_entry, [I32, I32], []),
            (self.stored_bytes, [], [F64]),
            (self.read_random, [I32], []),
            (self.deliver, [I32, I32], []),
            (self.write_log, [I32, I32, I32], []),
        ):
            self.linker.define_func("edgecask", function.__name__, FuncType(takes, gives), function)

    def lua_try(self, *call):
        try:
            self.enter_lua(*call)
        except LuaError:
            pass

    def lua_throw(self):
        raise LuaError

    def read_random(self, length):
        self.give(os.urandom(length))

    def insert_chunk(self, number, at, length):
        self.sql.execute("INSERT INTO chunk VALUES (?, ?)", (int(number), self.bytes_at(at, length)))

    def read_chunks(self, begin, end):
        first = "(SELECT max(id) FROM chunk WHERE id <= ?)"
        query = f"SELECT id, bytes FROM chunk WHERE id >= coalesce({first}, 0) AND id < ? ORDER BY id"
        for number, chunk in self.sql.execute(query, (int(begin), int(end))).fetchall():
            self.give(chunk, number)

    def remove_chunks(self, begin, end):
        self.sql.execute("DELETE FROM chunk WHERE id >= ? AND id < ?", (int(begin), int(end)))

    def read_entries(self, begin, begin_length, part, end, end_length, most):
        values = [self.bytes_at(begin, begin_length), part & 0xFFFF_FFFF]
        if end_length > 0:
            values.append(self.bytes_at(end, end_length))
        below = " AND key < ?" if end_length > 0 else ""
        query = f"SELECT key, part, bytes FROM entry WHERE (key, part) >= (?, ?){below} ORDER BY key, part LIMIT {most}"
        for key, part, content in self.sql.execute(query, values).fetchall():
            self.give(key, part)
            self.give(content)

    def insert_entry(self, key, key_length, part, at, length):
        row = (self.bytes_at(key, key_length), part, self.bytes_at(at, length))
        self.sql.execute("INSERT INTO entry VALUES (?, ?, ?)", row)

    def remove_entry(self, key, key_length):
        self.sql.execute("DELETE FROM entry WHERE key = ?", (self.bytes_at(key, key_length),))

    def stored_bytes(self):
        pages = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
        return float(self.sql.execute(pages).fetchone()[0])

    def deliver(self, at, length):
        self.out(self.bytes_at(at, length))

    def write_log(self, level, at, length):
        print(level, self.bytes_at(at, length).decode(errors="replace"), file=sys.stderr)


class Core:
    """One instance, and what passes its border."""

    def __init__(self, linker):
        self.store = Store(engine)
        self.exports = linker.instantiate(self.store, module).exports(self.store)
        self.memory = self.exports["memory"]

    def call(self, name, *arguments):
        return self.exports[f"edgecask_{name}"](self.store, *arguments)

    def give(self, what, number=0):
        at = self.call("take", float(number), len(what)) & 0xFFFF_FFFF
        self.memory.write(self.store, what, at)

    def bytes_at(self, at, length):
        at &= 0xFFFF_FFFF
        return bytes(self.memory.read(self.store, at, at + length))


class Object:
    """One Durable Object."""

    def __init__(self, forgets):
        self.forgets = forgets
        self.rows = Rows(
            lambda *row: self.core.give(*row),
            lambda *place: self.core.bytes_at(*place),
            self.carry_all_out,
            lambda *call: self.core.exports["lua_enter"](self.core.store, *call),
        )
        # Kinds of what the running event has led to.
        self.done = set()
        self.core = None
        self.seats = {}
        self.next_seat = 1
        self.now_ms = START_MS
        self.alarm_ms = 0

    def connect(self, socket):
        def act(core):
            seat = self.sit(socket)
            core.give(b"")
            core.call("connect", seat, seeds.getrandbits(63), float(self.now_ms))

        self.event(act)

    def receive(self, socket, message):
        def act(core):
            if socket.seat is not None:
                core.give(message)
                core.call("receive", socket.seat, float(self.now_ms))

        done = self.event(act)
        if SEND not in done and ALARM in done:
            self.ring()

    def leave(self, socket):
        def act(core):
            seat = self.rise(socket)
            if seat is not None:
                core.call("disconnect", seat)

        self.event(act)

    def advance(self, pause_ms):
        end_ms = self.now_ms + pause_ms
        while 0 < self.alarm_ms <= end_ms:
            self.ring()
        self.now_ms = end_ms

    def ring(self):
        """Has the alarm ring; the clock shows its time meanwhile."""
        shown_ms = self.now_ms
        self.now_ms, self.alarm_ms = max(shown_ms, self.alarm_ms), 0
        self.event(lambda core: core.call("alarm", float(self.now_ms)))
        self.now_ms = shown_ms

    def event(self, act):
        """Has the core see one event; gives the kinds of what it led to."""
        if self.core is None:
            self.wake()
        core = self.core
        self.done = set()
        core.call("begin")
        act(core)
        core.call("finish", float(self.now_ms))
        if self.forgets:
            self.core = None
            core.store.close()
        return self.done

    def wake(self):
        self.core = core = Core(self.rows.linker)
        core.give(b"")
        # As the in-process runs of the transcripts have it.
        core.give(b"enable-debug-command yes\nlatency-tracking yes")
        length = core.call("open", seeds.getrandbits(63), float(self.now_ms))
        assert length == 0, core.bytes_at(core.call("error"), length)
        core.call("begin")
        sockets = list(self.seats.values())
        self.seats.clear()
        for socket in sockets:
            socket.seat = None
            if socket.attached is not None:
                seat = self.sit(socket)
                core.give(socket.attached)
                core.call("thaw", seat, float(self.now_ms))
        core.call("all_are_thawed")

    def carry_all_out(self, out):
        at = 0
        while at < len(out):
            kind, seat, length = HEADER.unpack_from(out, at)
            begin, at = at + HEADER.size, at + HEADER.size + length
            self.carry_out(kind, self.seats.get(seat), out[begin:at])
            self.done.add(kind)

    def carry_out(self, kind, socket, content):
        if kind == ALARM:
            (self.alarm_ms,) = struct.unpack("<Q", content)
        elif socket is None:
            return
        elif kind == SEND:
            socket.writer.write(content)
        elif kind == ATTACH:
            socket.attached = content
        elif kind == CLOSE:
            self.rise(socket)
            socket.writer.close()

    def sit(self, socket):
        socket.seat = self.next_seat
        self.seats[socket.seat] = socket
        self.next_seat += 1
        return socket.seat

    def rise(self, socket):
        seat, socket.seat = socket.seat, None
        self.seats.pop(seat, None)
        return seat


objects = {}


async def serve(reader, writer):
    try:
        name, *pause_ms = (await reader.readline()).decode().split()
        if name not in objects:
            objects[name] = Object(forgets="--forget" in sys.argv)
        database = objects[name]
        if pause_ms:
            database.advance(int(pause_ms[0]))
        else:
            socket = Socket(writer)
            database.connect(socket)
            while message := await reader.read(READ_BYTES):
                database.receive(socket, message)
            database.leave(socket)
        writer.close()
    except ConnectionError:
        pass
    except BaseException:
        traceback.print_exc()
        os._exit(1)


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=READ_BYTES)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    os._exit(0)


asyncio.run(main())
