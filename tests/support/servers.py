"""Servers as processes, for the scripts that measure and judge them from outside: started, asked, counted, ended.

A script puts this file's folder on its path first:

    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
"""

import itertools
import os
import signal
import socket
import subprocess
import time

# No step takes longer on a healthy machine; it only bounds how long a broken one hangs.
PATIENCE_S = 300
STOP_LIMIT_S = 60
CLOCK_TICK = os.sysconf("SC_CLK_TCK")


class Failed(Exception):
    """A load that did not end well; the text says why."""


class DidNotStart(SystemExit):
    """A server that ended before it answered. Its text is the server's log; uncaught, it ends the script with it."""


# Below the ports that the system gives to outgoing connections, which could take one before its server binds it.
FIRST_PORT, PORTS = 10_000, 20_000
next_port = itertools.count(os.getpid() * 7919)


def free_port():
    """A loopback port that nobody listens on, another one with every call."""
    for _ in range(PORTS):
        port = FIRST_PORT + next(next_port) % PORTS
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise Failed("no port is free")


class Server:
    """A server process on a free loopback port, which is added to `command`; what it says is appended to `log_path`.

    `started_s` is the seconds from exec to its first PONG. The end of a `with` ends the server if it still runs.
    """

    def __init__(self, command, log_path):
        self.port = free_port()
        begin = time.monotonic()
        with open(log_path, "ab") as log:
            self.process = subprocess.Popen(
                [*command, "--port", str(self.port)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                # Several may run at a time; a flag in the command wins.
                env={"EDGECASK_HTTP_PORT": "off", **os.environ})
        while self.call("PING") != b"+PONG\r\n":
            if self.process.poll() is not None or time.monotonic() > begin + PATIENCE_S:
                self.process.kill()
                self.process.wait()
                with open(log_path, errors="replace") as log:
                    raise DidNotStart(f"{command[0]} did not start:\n{log.read()}")
            time.sleep(0.002)
        self.started_s = time.monotonic() - begin

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def call(self, line):
        """The reply to an inline request on a connection of its own, as far as it comes at once; empty if none does."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S) as client:
                client.sendall(line.encode() + b"\r\n")
                return client.recv(65536)
        except OSError:
            return b""

    def pipe(self, requests):
        """Feeds encoded requests through `redis-cli --pipe`; an error reply or a lost connection is a `Failed`."""
        with subprocess.Popen(["redis-cli", "-p", str(self.port), "--pipe"], stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as pipe:
            try:
                pipe.stdin.writelines(requests)
            except BrokenPipeError:
                pass  # It ended early, which its exit code tells.
        if pipe.returncode != 0:
            raise Failed("redis-cli --pipe was answered errors or lost the connection")

    def cpu_seconds(self):
        """User and system time since the start, of all threads and of children that have ended."""
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return sum(map(int, fields[11:15])) / CLOCK_TICK

    def memory_bytes(self):
        """Resident memory: RssAnon and RssFile."""
        with open(f"/proc/{self.process.pid}/status") as lines:
            status = dict(line.split(":", 1) for line in lines if ":" in line)
        return {name: int(status[name].split()[0]) * 1024 for name in ("RssAnon", "RssFile")}

    def stop(self, how=signal.SIGTERM):
        """Ends the server by a signal; one that does not end is an error."""
        self.process.send_signal(how)
        self.process.wait(STOP_LIMIT_S)
