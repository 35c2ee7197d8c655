#!/usr/bin/env python3
"""kill -9 under load, again and again, with a ledger of what was acknowledged.

Writers send SET, HSET, RPUSH and MULTI batches with values that count upwards, alone and in pipelines. Each remembers
what it sent and what was acknowledged. After every kill the server is started on the same directory, and every key must
hold an acknowledged value or a later one that was sent: less is a loss, more an invention; a MULTI must be there whole.
"""

import argparse
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

WRITERS = 8


def request(*words):
    parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)


class Client:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.input = self.socket.makefile("rb")

    def reply(self):
        line = self.input.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server is gone")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise AssertionError(f"an error reply: {rest!r}")
        if kind == b"$":
            if rest == b"-1":
                return None
            body = self.input.read(int(rest) + 2)
            if len(body) != int(rest) + 2:
                raise ConnectionError("the server is gone")
            return body[:-2]
        if kind == b"*":
            return [self.reply() for _ in range(int(rest))]
        return rest

    def call(self, *words):
        self.socket.sendall(request(*words))
        return self.reply()


class Writer:
    """One connection's writes; `sent` and `acknowledged` are counters, and every value is a counter's."""

    def __init__(self, number):
        self.number = number
        self.sent = self.acknowledged = 0

    def batch(self, count):
        """What write `count` consists of, as bytes and number of replies."""
        number, slot = self.number, count % 50
        kind = count % 4
        if kind == 0:
            return request("SET", f"s:{number}:{slot}", f"{count}:" + "x" * (count % 300)), 1
        if kind == 1:
            return request("HSET", f"h:{number}", f"f{slot}", count), 1
        if kind == 2:
            return request("RPUSH", f"l:{number}", count), 1
        return (request("MULTI") + request("SET", f"a:{number}", count) + request("SET", f"b:{number}", count)
                + request("EXEC")), 4

    def run(self, port, dice):
        try:
            client = Client(port)
            while True:
                width = dice.choice([1, 1, 4, 32])
                batches = []
                for _ in range(width):
                    self.sent += 1
                    batches.append(self.batch(self.sent))
                client.socket.sendall(b"".join(bytes_ for bytes_, _ in batches))
                for _, replies in batches:
                    for _ in range(replies):
                        client.reply()
                    self.acknowledged += 1
        except (OSError, ConnectionError):
            pass

    def check(self, client):
        """What is missing or invented after a restart, and how far the log got."""
        troubles, number = [], self.number
        last = {}
        for count in range(max(1, self.acknowledged - 400), self.acknowledged + 1):
            key = (count % 4, count % 50 if count % 4 < 2 else 0)
            last[key] = count

        def judge(name, found, wanted):
            found = int(found) if found is not None else 0
            if found < wanted:
                troubles.append(f"{name}: acknowledged {wanted}, found {found}")
            if found > self.sent:
                troubles.append(f"{name}: sent {self.sent}, found {found}")

        for (kind, slot), wanted in last.items():
            if kind == 0:
                value = client.call("GET", f"s:{number}:{slot}")
                judge(f"s:{number}:{slot}", value and value.split(b":")[0], wanted)
            elif kind == 1:
                judge(f"h:{number} f{slot}", client.call("HGET", f"h:{number}", f"f{slot}"), wanted)
        if (2, 0) in last:
            elements = [int(element) for element in client.call("LRANGE", f"l:{number}", 0, -1)]
            if elements != sorted(set(elements)):
                troubles.append(f"l:{number}: out of order or repeated")
            missing = {count for count in range(1, self.acknowledged + 1) if count % 4 == 2} - set(elements)
            if missing:
                troubles.append(f"l:{number}: {len(missing)} acknowledged elements are missing, first {min(missing)}")
        pair = client.call("GET", f"a:{number}"), client.call("GET", f"b:{number}")
        if pair[0] != pair[1]:
            troubles.append(f"a:{number} and b:{number} of one MULTI differ: {pair}")
        if (3, 0) in last:
            judge(f"a:{number}", pair[0], last[(3, 0)])
        return troubles


def start(binary, directory, policy):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = open(directory + ".log", "a")
    process = subprocess.Popen([binary, "serve", "--port", str(port), "--dir", directory, "--appendfsync", policy],
                               stdout=log, stderr=log)
    deadline = time.monotonic() + 30
    while True:
        try:
            Client(port).call("PING")
            return process, port
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                sys.exit("the server did not start:\n" + open(log.name).read()[-4000:])
            time.sleep(0.01)


def cycles(binary, policy, count, dice):
    folder = tempfile.mkdtemp(prefix="edgecask-kill-")
    directory = os.path.join(folder, "data")
    writers = [Writer(number) for number in range(WRITERS)]
    acknowledged, troubles = 0, []
    process, port = start(binary, directory, policy)
    try:
        for _ in range(count):
            before = sum(writer.acknowledged for writer in writers)
            threads = [threading.Thread(target=writer.run, args=(port, random.Random(dice.random())))
                       for writer in writers]
            for thread in threads:
                thread.start()
            time.sleep(dice.uniform(0.2, 1.0))
            process.send_signal(signal.SIGKILL)
            process.wait()
            for thread in threads:
                thread.join()
            acknowledged += sum(writer.acknowledged for writer in writers) - before
            process, port = start(binary, directory, policy)
            client = Client(port)
            for writer in writers:
                troubles += writer.check(client)
            # Nobody can know what became of writes that were sent and not acknowledged: every cycle begins anew.
            client.call("FLUSHALL")
            for writer in writers:
                writer.sent = writer.acknowledged = 0
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)
    return acknowledged, troubles


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edgecask", required=True)
    parser.add_argument("--cycles", type=int, default=10, help="for each policy")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    print(f"seed {options.seed}")
    dice = random.Random(options.seed)
    lost = 0
    for policy in ("always", "everysec"):
        acknowledged, troubles = cycles(options.edgecask, policy, options.cycles, dice)
        for trouble in troubles[:20]:
            print(trouble)
        lost += len(troubles)
        print(f"kill -9 with {policy}: {options.cycles} cycles, {acknowledged} acknowledged, {len(troubles)} lost")
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()
