#!/usr/bin/env python3
"""A start after kill -9: when the server answers at all, and when it is ready, with as many keys as asked for.

    crash_start.py --edgecask target/release/edgecask [--keys 10000000]

Keys have 16 bytes and values 3. Nobody asks for a checkpoint. Times run from exec; a first answer is any reply to PING, one
that says LOADING included.
"""

import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from servers import Server


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edgecask", required=True)
    parser.add_argument("--keys", type=int, default=10_000_000)
    parser.add_argument("--pause-s", type=float, default=0, help="how long after the last write it is killed")
    parser.add_argument("--directory", help="where the store goes [default: the directory for temporary files]")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="edgecask-start-", dir=args.directory) as directory:
        data, log = os.path.join(directory, "data"), os.path.join(directory, "log")
        command = [args.edgecask, "serve", "--dir", data]
        with Server(command, log) as server:
            begin = time.monotonic()
            server.pipe(b"*3\r\n$3\r\nSET\r\n$16\r\nkey:%012d\r\n$3\r\nabc\r\n" % key for key in range(args.keys))
            print(f"loaded in {time.monotonic() - begin:.1f} s")
            time.sleep(args.pause_s)
            server.stop(signal.SIGKILL)
        for round_number in range(2):
            # As Server starts one, but noting the first answer.
            started = FirstAnswer(command, log)
            with started as server:
                keys = int(server.call("DBSIZE").strip().lstrip(b":"))
                if keys != args.keys:
                    sys.exit(f"{keys} keys are there")
                print(f"first answer {started.first_s:.2f} s ({started.first!r}), ready {server.started_s:.2f} s, "
                      f"{server.started_s * 1e6 / args.keys:.2f} s a million keys")
                server.stop(signal.SIGKILL)
        subprocess.run(["grep", "-h", "recovered", log], check=False)


class FirstAnswer(Server):
    """A server that remembers its first answer."""

    first = b""
    first_s = 0.0

    def __init__(self, command, log_path):
        self.begin = time.monotonic()
        super().__init__(command, log_path)

    def call(self, line):
        reply = super().call(line)
        if reply and not self.first:
            self.first, self.first_s = reply, time.monotonic() - self.begin
        return reply


if __name__ == "__main__":
    main()
