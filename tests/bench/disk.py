#!/usr/bin/env python3
"""Is SET of long values bound by the disk? Bytes to the device, its busy time and dirty pages, beside other servers.

    disk.py --edgecask target/release/edgecask [--size 20000] [--requests 100000] [--rounds 3] [--folder DIR]

First what the device takes: a process writes a file from its beginning to its end, with fdatasync every 16 MiB, and once more past
the page cache. Then redis-benchmark's SET with 50 connections on each server in turn. *device* is what the block device was
given meanwhile, *busy* the share of the time in which it had requests under way (/sys/block/NAME/stat), *dirty* the most dirty
pages as a part of the amount at which the kernel slows writers down (/proc/vmstat). A server that keeps no log shows what the
client and the sockets alone take.
"""

import argparse
import contextlib
import mmap
import os
import pathlib
import statistics
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from servers import Server

import load
import peers
from cases import Case

SYNCED_BYTES = 16 << 20
WRITTEN_BYTES = 1 << 30
LOOK_S = 0.02


def device_of(folder):
    """The statistics of the block device that a folder is on."""
    number = os.stat(folder).st_dev
    path = pathlib.Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/stat")
    return path if path.exists() else sys.exit(f"{folder} is on no block device")


def bytes_and_busy_ms(device):
    fields = device.read_text().split()
    return int(fields[6]) * 512, int(fields[9])


def dirty_share():
    facts = dict(line.split() for line in pathlib.Path("/proc/vmstat").read_text().splitlines())
    return (int(facts["nr_dirty"]) + int(facts["nr_writeback"])) / max(1, int(facts["nr_dirty_threshold"]))


@contextlib.contextmanager
def watched(device):
    """Fills a dictionary with MB/s to the device, its busy share, and the largest share of dirty pages."""
    seen, found, ends = [dirty_share()], {}, threading.Event()

    def look():
        while not ends.wait(LOOK_S):
            seen.append(dirty_share())

    watcher = threading.Thread(target=look)
    watcher.start()
    before, begin = bytes_and_busy_ms(device), time.monotonic()
    try:
        yield found
    finally:
        took = time.monotonic() - begin
        written, busy_ms = (after - earlier for earlier, after in zip(before, bytes_and_busy_ms(device)))
        ends.set()
        watcher.join()
        found |= {"device": written / took / 1e6, "busy": busy_ms / 1000 / took, "dirty": max(seen)}


def write_speed(folder, flags):
    """MB/s of a file that is written from the beginning to the end and synced."""
    path = os.path.join(folder, "plain")
    with mmap.mmap(-1, 1 << 20) as piece:  # aligned, as O_DIRECT wants it
        piece.write(os.urandom(len(piece)))
        file = os.open(path, os.O_CREAT | os.O_WRONLY | flags)
        begin = time.monotonic()
        for number in range(WRITTEN_BYTES // len(piece)):
            os.write(file, piece)
            if (number + 1) * len(piece) % SYNCED_BYTES == 0:
                os.fdatasync(file)
        took = time.monotonic() - begin
    os.close(file)
    os.unlink(path)
    return WRITTEN_BYTES / took / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    peers.add_options(parser)
    parser.add_argument("--size", type=int, default=20_000)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", default=tempfile.gettempdir(), help="on the disk that is meant")
    options = parser.parse_args()
    peers.check(options, "redis-benchmark")
    device = device_of(options.folder)
    case = Case("SET", ("-t", "set", "-d", str(options.size), "-r", "2000"))
    with tempfile.TemporaryDirectory(prefix="edgecask-disk-", dir=options.folder) as folder, contextlib.ExitStack() as stack:
        print(f"the device takes {write_speed(folder, 0):.0f} MB/s through the page cache, "
              f"{write_speed(folder, os.O_DIRECT):.0f} MB/s past it", flush=True)
        servers = {}
        for name in peers.there_are(options):
            data = os.path.join(folder, name)
            os.mkdir(data)
            servers[name] = stack.enter_context(Server(peers.command(name, data, options), data + ".log"))
        samples = {name: [] for name in servers}
        for _ in range(options.rounds):
            for name, server in servers.items():
                with watched(device) as found:
                    sample = load.redis_benchmark(server, case, options.requests)
                os.sync()  # what one leaves to the disk is not the next one's
                samples[name].append({**sample, **found})
    print("| | requests/s | values, MB/s | device, MB/s | busy | dirty | CPU, µs | p99, ms |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, taken in samples.items():
        middle = {key: statistics.median(sample[key] for sample in taken) for key in taken[0]}
        print(f"| {peers.TITLES[name]} | {middle['rps']:,.0f} | {middle['rps'] * options.size / 1e6:.0f} | {middle['device']:.0f} "
              f"| {middle['busy']:.0%} | {middle['dirty']:.0%} | {middle['cpu_us']:.1f} | {middle['p99_ms']:.1f} |")


if __name__ == "__main__":
    main()
