"""The loads: redis-benchmark, and readers and writers whose keys follow Zipf's law, which redis-benchmark cannot do.

A sample is requests a second, latencies in ms (of a whole pipeline, if there is one), server CPU in µs a request. CPU
is counted from the first request to the last reply, without making and closing connections.
"""

import array
import functools
import itertools
import math
import multiprocessing
import random
import re
import socket
import struct
import subprocess
import textwrap
import threading
import time

from servers import Failed

ZIPF_EXPONENT = 0.99  # as YCSB
ZIPF_READS = 0.9
ZIPF_PROCESSES = 8  # each with one connection
ZIPF_PREPARED = 16_384  # pipelines made before the clock starts; each process goes round them from another place
PATIENCE_S = 60


def redis_benchmark(server, case, requests):
    command = ["redis-benchmark", "-p", str(server.port), "--precision", "3", *case.benchmark_arguments(requests)]
    # Line by line, or the report would only come at the end.
    with subprocess.Popen(["stdbuf", "-oL", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        process.stdin.write(case.stdin)
        process.stdin.close()
        # The first output comes when all connections stand and the first requests leave.
        output = process.stdout.read(1)
        before = server.cpu_seconds()
        # The report begins when the last reply has come; the connections are closed after it.
        while b"======" not in output and (line := process.stdout.readline()):
            output += line
        cpu = server.cpu_seconds() - before
        output = (output + process.stdout.read()).decode(errors="replace")
    if process.returncode != 0:
        raise Failed(textwrap.shorten("".join(output.splitlines()[-1:]), 80, placeholder=" ..."))
    return {**parsed(output), "cpu_us": cpu / requests * 1e6}


def parsed(output):
    """Throughput and latencies from redis-benchmark's report.

    The summary has p50 and p99. p99.9 is the first line of the distribution that covers it: `99.902% <= 2.687
    milliseconds (cumulative count 19981)`.
    """
    distribution = output.split("Latency by percentile distribution:")[1].split("\n\n")[0]
    lines = re.findall(r"([\d.]+)% <= ([\d.]+) milliseconds", distribution)
    summary = re.search(r"avg +min +p50 +p95 +p99 +max\s+([\d. ]+)", output).group(1).split()
    return {
        "rps": float(re.search(r"throughput summary: ([\d.]+|inf)", output).group(1)),
        "p50_ms": float(summary[2]),
        "p99_ms": float(summary[4]),
        "p999_ms": next(float(latency) for percent, latency in lines if float(percent) >= 99.9),
    }


def zipf(server, case, requests, keys, size):
    """Processes with a connection each, which send a pipeline, read its replies, and send the next."""
    pipelines = prepared(keys, size, case.pipeline)
    count = max(1, requests // (ZIPF_PROCESSES * case.pipeline))
    fork = multiprocessing.get_context("fork")
    together = fork.Barrier(ZIPF_PROCESSES + 1)
    workers = []
    for number in range(ZIPF_PROCESSES):
        result, sender = fork.Pipe(duplex=False)
        first = number * ZIPF_PREPARED // ZIPF_PROCESSES
        worker = fork.Process(target=ask, args=(server.port, pipelines, first, count, together, sender))
        worker.start()
        sender.close()
        workers.append((worker, result))
    try:
        before = server.cpu_seconds()
        together.wait(PATIENCE_S)
        begin = time.monotonic()
        ends, latencies = zip(*(result.recv() for _, result in workers))
        cpu = server.cpu_seconds() - before
    except (EOFError, threading.BrokenBarrierError) as error:
        raise Failed("a reply was wrong or did not come") from error
    finally:
        for worker, _ in workers:
            worker.join()
    latencies = sorted(itertools.chain(*latencies))
    done = len(latencies) * case.pipeline

    def percentile(share):
        return latencies[math.ceil(share * len(latencies)) - 1] / 1000

    return {"rps": done / (max(ends) - begin), "p50_ms": percentile(0.5), "p99_ms": percentile(0.99),
            "p999_ms": percentile(0.999), "cpu_us": cpu / done * 1e6}


@functools.lru_cache(maxsize=1)
def prepared(keys, size, pipeline):
    """Pipelines as (what is sent, what must come back), known since every key exists and all values are the same."""
    value = b"$%d\r\n%s\r\n" % (size, b"x" * size)
    chance = random.Random(1)
    weights = list(itertools.accumulate(rank ** -ZIPF_EXPONENT for rank in range(1, keys + 1)))
    ranks = iter(chance.choices(range(keys), cum_weights=weights, k=ZIPF_PREPARED * pipeline))
    pipelines = []
    for _ in range(ZIPF_PREPARED):
        sent, expected = [], []
        for rank in itertools.islice(ranks, pipeline):
            # A prime factor scatters the popular keys.
            key = b"$16\r\nkey:%012d\r\n" % (rank * 7919 % keys)
            if chance.random() < ZIPF_READS:
                sent.append(b"*2\r\n$3\r\nGET\r\n" + key)
                expected.append(value)
            else:
                sent.append(b"*3\r\n$3\r\nSET\r\n" + key + value)
                expected.append(b"+OK\r\n")
        pipelines.append((b"".join(sent), b"".join(expected)))
    return pipelines


def ask(port, pipelines, first, count, together, sender):
    """One connection's work, in a process of its own. Sends when it ended and its latencies in µs."""
    client = socket.create_connection(("127.0.0.1", port))
    # The kernel's timeout: Python's own would cost a system call for each of the socket's.
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", PATIENCE_S, 0))
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    latencies = array.array("I")
    together.wait(PATIENCE_S)
    for sent, expected in itertools.islice(itertools.cycle(pipelines[first:] + pipelines[:first]), count):
        begin = time.perf_counter_ns()
        client.sendall(sent)
        received = client.recv(65536)
        while 0 < len(received) < len(expected):
            if not (more := client.recv(65536)):
                break
            received += more
        latencies.append((time.perf_counter_ns() - begin) // 1000)
        if received != expected:
            raise SystemExit(f"expected {expected!r}, received {received!r}")
    sender.send((time.monotonic(), latencies))
