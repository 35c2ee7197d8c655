"""Requests about scripts and functions, sent to both servers in RESP2 and in RESP3, whose replies must be the same bytes.

A line of a file is a request; its words are in quotes if need be, and `\\n`, `\\x00` and their like stand for bytes:

    # a comment
    eval "return 1" 0
    2> get a                 connection 2 sends it
    1>| get a | get b        connection 1 sends several requests at once
    ? function dump          the reply is not compared

`$redis` and `$edgecask` stand for what each of them answered to the last FUNCTION DUMP.
Every connection begins with HELLO, on empty servers. What differs from run to run (microseconds, ages, addresses, the ids of
connections) is made equal first, and the lines of INFO are put in order.
"""

import re
import shlex

from connection import Connection
from explained import shown

VARYING = [
    (rb"usec=\d+,usec_per_call=[\d.]+", b"usec=<n>,usec_per_call=<n>"),
    (rb"127\.0\.0\.1:\d+", b"<address>"),
    (rb" laddr=\S+| (id|fd|age|idle|qbuf|qbuf-free|argv-mem|tot-mem|rbs|rbp|multi-mem|watch)=\d+", b""),
]


def read(path):
    """The text of each step, whether its replies are compared, the connection's number, and requests that are sent together."""
    for line in path.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        match = re.fullmatch(r"(\? )?(?:(\d)>(\|?) )?(.*)", line)
        several = match[4].split(" | ") if match[3] else [match[4]]
        yield line, not match[1], match[2] or "1", [[filled(word) for word in shlex.split(text)] for text in several]


def filled(word):
    return word.encode("latin-1").decode("unicode_escape").encode("latin-1")


def alike(reply, words):
    """A reply without what differs from run to run."""
    if words[0].lower() == b"info":
        head, _, body = reply.partition(b"\r\n")
        reply = head[:1] + b"\r\n".join(sorted(body.split(b"\r\n")))
    for pattern, text in VARYING:
        reply = re.sub(pattern, text, reply)
    return shown(reply)


class Side:
    """One server and the connections to it, all in one protocol."""

    def __init__(self, port, protocol):
        self.port = port
        self.protocol = protocol
        self.connections = {}
        self.ask("1", [[b"flushall"], [b"function", b"flush"], [b"script", b"flush"], [b"config", b"resetstat"]])

    def ask(self, name, requests):
        """The replies to requests that are sent together."""
        if name not in self.connections:
            self.connections[name] = Connection(self.port)
            self.connections[name].call("hello", self.protocol)
        connection = self.connections[name]
        connection.send(*requests)
        return [connection.reply() for _ in requests]

    def close(self):
        for connection in self.connections.values():
            connection.close()


def compare(path, ports, explained):
    """The number of replies, and those that differ without a reason."""
    count, problems = 0, []
    for protocol in (2, 3):
        ours, theirs = (Side(port, protocol) for port in ports)
        dumps = {}
        for line, is_compared, name, requests in read(path):
            requests = [[dumps.get(word, word) for word in words] for words in requests]
            answers = theirs.ask(name, requests), ours.ask(name, requests)
            if requests[0] == [b"function", b"dump"]:
                dumps = {b"$redis": payload(answers[0][0]), b"$edgecask": payload(answers[1][0])}
            for words, *both in zip(requests, *answers):
                redis, edgecask = (alike(reply, words) for reply in both)
                count += is_compared
                if is_compared and redis != edgecask and not explained.covers(line, redis, edgecask):
                    problems.append(f"{path.name}, RESP{protocol}: {line}\n  redis:    {redis}\n  edgecask: {edgecask}")
        ours.close()
        theirs.close()
    return count, problems


def payload(reply):
    """What is in a bulk string."""
    return reply.partition(b"\r\n")[2][:-2]
