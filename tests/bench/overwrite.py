#!/usr/bin/env python3
"""Clients that overwrite as fast as they can: how much room the log takes for each live byte, and how long a GET takes.

    overwrite.py --edgecask target/release/edgecask [--live-mb 200] [--seconds 30] [--writers 2]

Values have 20 kB; their keys are drawn at random. Room is what `du` would say of the directory, every 20 ms. GETs come from
a connection of their own, one after the other with a pause: first on the idle server, then beside the writers, and meanwhile
from a process of their own on a second server that nobody writes to. What these last ones wait is the machine's: processes
take turns on its cores.
"""

import argparse
import multiprocessing
import os
import pathlib
import random
import socket
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from resp import encode as request
from servers import Server

VALUE_BYTES = 20_000
# Requests a writer sends before it reads their replies.
BATCH = 16
GET_PAUSE_S = 0.001
DU_PERIOD_S = 0.02


def read_lines(stream, count):
    for _ in range(count):
        line = stream.readline()
        if not line.startswith(b"+"):
            sys.exit(f"a write was answered {line!r}")


def write(port, keys, until, written):
    """Overwrites until a time; counts the bytes of values."""
    draw, value = random.Random(os.getpid()), random.randbytes(VALUE_BYTES)
    # As little work as can be, so that the processor is left to the server.
    heads = [request(b"SET", b"key:%d" % key, value)[:-VALUE_BYTES - 2] for key in range(keys)]
    tail = value + b"\r\n"
    with socket.create_connection(("127.0.0.1", port)) as peer, peer.makefile("rb") as stream:
        while time.time() < until:
            peer.sendall(tail.join(draw.choices(heads, k=BATCH)) + tail)
            read_lines(stream, BATCH)
            with written.get_lock():
                written.value += BATCH * VALUE_BYTES


def get_times(port, keys, until):
    """Seconds of each GET until a time, sorted."""
    took = []
    with socket.create_connection(("127.0.0.1", port)) as peer, peer.makefile("rb") as stream:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while time.time() < until:
            begin = time.perf_counter()
            peer.sendall(request(b"GET", b"key:%d" % random.randrange(keys)))
            stream.read(int(stream.readline()[1:]) + 2)
            took.append(time.perf_counter() - begin)
            time.sleep(GET_PAUSE_S)
    return sorted(took)


def used_bytes(directory):
    total = 0
    for name in os.listdir(directory):
        try:
            total += os.stat(os.path.join(directory, name)).st_blocks * 512
        except FileNotFoundError:
            pass
    return total


def watch(directory, begin, until, written, room):
    """Looks at the room until a time; tells the most, and by seconds the room and the bytes written."""
    most, series = 0, []
    while time.time() < until:
        used = used_bytes(directory)
        most = max(most, used)
        if time.time() - begin >= len(series):
            series.append((used, written.value))
        time.sleep(DU_PERIOD_S)
    room.put((most, series))


def shown(times):
    quantile = lambda share: times[min(len(times) - 1, int(len(times) * share))] * 1e6
    return f"p50 {quantile(0.5):.0f} us, p99 {quantile(0.99):.0f} us, max {times[-1] * 1e3:.1f} ms, {len(times)} GETs"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edgecask", required=True)
    parser.add_argument("--live-mb", type=int, default=200)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--writers", type=int, default=2)
    parser.add_argument("--directory", help="where the store goes [default: the directory for temporary files]")
    args = parser.parse_args()
    keys = args.live_mb * 1_000_000 // VALUE_BYTES
    with tempfile.TemporaryDirectory(prefix="edgecask-overwrite-", dir=args.directory) as directory:
        data = os.path.join(directory, "data")
        other_data = os.path.join(directory, "other")
        with (Server([args.edgecask, "serve", "--dir", data], os.path.join(directory, "log")) as server,
              Server([args.edgecask, "serve", "--dir", other_data], os.path.join(directory, "other-log")) as other):
            value = random.randbytes(VALUE_BYTES)
            server.pipe(request(b"SET", b"key:%d" % key, value) for key in range(keys))
            other.pipe(request(b"SET", b"key:%d" % key, value) for key in range(keys))
            time.sleep(2)
            idle = get_times(server.port, keys, time.time() + 5)
            written = multiprocessing.Value("Q", 0)
            begin = time.time()
            until = begin + args.seconds
            writers = [multiprocessing.Process(target=write, args=(server.port, keys, until, written))
                       for _ in range(args.writers)]
            for writer in writers:
                writer.start()
            # A process of its own: threads of one take turns of milliseconds, which would show in the times of GETs.
            room = multiprocessing.Queue()
            watcher = multiprocessing.Process(target=watch, args=(data, begin, until, written, room))
            watcher.start()
            times = multiprocessing.Queue()
            beside = multiprocessing.Process(target=lambda: times.put(get_times(other.port, keys, until)))
            beside.start()
            busy = get_times(server.port, keys, until)
            most, series = room.get()
            watcher.join()
            unwritten = times.get()
            beside.join()
            for writer in writers:
                writer.join()
            live = args.live_mb * 1_000_000
            print(f"written: {written.value / 1e6 / args.seconds:.0f} MB/s over {args.seconds} s")
            print(f"most room: {most / 1e6:.0f} MB, {most / live:.2f} x live")
            print("room by seconds (MB):", " ".join(f"{used / 1e6:.0f}" for used, _ in series))
            speeds = [(after[1] - before[1]) / 1e6 for before, after in zip(series, series[1:])]
            print("MB/s by seconds:", " ".join(f"{speed:.0f}" for speed in speeds))
            print("GET idle:", shown(idle))
            print("GET busy:", shown(busy))
            print("GET of the other server meanwhile:", shown(unwritten))


if __name__ == "__main__":
    main()
