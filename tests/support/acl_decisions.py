#!/usr/bin/env python3
"""Records what a redis-server decides by ACL DRYRUN, in the form of core/src/acl/tests/decisions_7_0_15.txt.

    acl_decisions.py PORT > core/src/acl/tests/decisions_7_0_15.txt

PORT is that of an empty redis-server of its own. Requests are those of core/src/catalog/laws/getkeys.txt, and one of the least
length for every command and subcommand; each is asked of every user below.
"""

import pathlib
import socket
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
REQUESTS = ROOT / "core/src/catalog/laws/getkeys.txt"

# Further requests: with channels, and with options that change what happens to keys.
OTHERS = """\
PUBLISH chan message
SPUBLISH chan message
SUBSCRIBE chan other
SUBSCRIBE other chan
SSUBSCRIBE chan other
PSUBSCRIBE chan
PSUBSCRIBE cha*
PSUBSCRIBE other chan
UNSUBSCRIBE other
PUNSUBSCRIBE other
SUNSUBSCRIBE other
BLPOP a b 0
BLMOVE a b LEFT RIGHT 0
BRPOPLPUSH a b 0
BLMPOP 0 2 a b LEFT
BZMPOP 0 2 a b MIN
BZPOPMIN a b 0
EXISTS a b
RENAME a b
COPY b a
MSETNX b 1 a 2
SINTERSTORE b a c
SMOVE b a m
XREAD COUNT 1 STREAMS b a 0 0
LCS b a"""

# Each user is made anew of these rules. {name} is the command asked for, {command} its container or itself, {category} one of
# its categories, {foreign} a category that it is not in, {sibling} another command, of the same container if there is one,
# {key} the first key of the request.
USERS = {
    "off": "off nopass ~* &* +@all",
    "allowed": "on nopass ~* &* -@all +{name}",
    "container": "on nopass ~* &* -@all +{command}",
    "nothing": "on nopass ~* &*",
    "denied": "on nopass ~* &* +@all -{name}",
    "denied container": "on nopass ~* &* +@all -{command}",
    "category": "on nopass ~* &* -@all +@{category}",
    "denied category": "on nopass ~* &* +@all -@{category}",
    "foreign category": "on nopass ~* &* -@all +@{foreign}",
    "sibling": "on nopass ~* &* -@all +{sibling}",
    "denied sibling": "on nopass ~* &* +@all -{sibling}",
    "category without": "on nopass ~* &* -@all +@{category} -{name}",
    "first argument": "on nopass ~* &* -@all +select|1 +debug|object",
    "no key": "on nopass &* +@all",
    "key read": "on nopass &* +@all %R~*",
    "key write": "on nopass &* +@all %W~*",
    "first key": "on nopass &* +@all ~{key}",
    "first key read": "on nopass &* +@all %R~{key} %W~other",
    "first key written": "on nopass &* +@all %W~{key} %R~*",
    "other key": "on nopass &* +@all ~nothing*",
    "no channel": "on nopass ~* resetchannels +@all",
    "channel": "on nopass ~* resetchannels &chan +@all",
    "pattern of channels": "on nopass ~* resetchannels &cha* +@all",
    "selector": "on nopass resetchannels -@all (~* &* +{name})",
    "two halves": "on nopass ~* resetchannels -@all +get (&* +{name})",
    "read here, write there": "on nopass resetchannels -@all (+{name} %R~* &*) (+{name} %W~* &*)",
    "key in one, command in another": "on nopass ~* resetchannels -@all (+{name})",
}


class Server:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.replies = self.socket.makefile("rb")

    def call(self, *words):
        data = b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in (word.encode() for word in words))
        self.socket.sendall(b"*%d\r\n" % len(words) + data)
        return self.read()

    def read(self):
        line = self.replies.readline()
        kind, rest = line[:1], line[1:-2].decode()
        if kind == b"$":
            return None if rest == "-1" else self.replies.read(int(rest) + 2)[:-2].decode()
        if kind == b"*":
            return [self.read() for _ in range(int(rest))]
        if kind == b"-":
            raise Refused(rest)
        return int(rest) if kind == b":" else rest


class Refused(Exception):
    pass


def main():
    server = Server(int(sys.argv[1]))
    print("# What redis-server 7.0.15 decides by ACL DRYRUN; tests/support/acl_decisions.py makes this file.")
    print("# user: rules, which are applied to a new user")
    for name, rules in USERS.items():
        print(f"{name}: {rules}")
    print("# request; category; foreign; sibling; key; a letter for each user: + allowed, c command, k key, h channel denied")
    categories = server.call("ACL", "CAT")
    members = {category: set(server.call("ACL", "CAT", category)) for category in categories}
    names = sorted(server.call("COMMAND", "LIST"))
    for request in requests(server, names):
        line = decided(server, request, categories, members, names)
        if line:
            print(line)


def requests(server, names):
    known = [line.split(" => ")[0] for line in REQUESTS.read_text().splitlines() if not line.startswith("#")]
    for name in names:
        info = server.call("COMMAND", "INFO", name)[0]
        words = name.split("|")
        yield words + ["1"] * (abs(info[1]) - len(words))
    for line in known + OTHERS.splitlines():
        yield line.split(" ")


def decided(server, request, categories, members, names):
    first = request[0].lower()
    inner = f"{first}|{request[1].lower()}" if len(request) > 1 else first
    name = inner if inner in names else first
    if name == first and any(other.startswith(first + "|") for other in names) and len(request) > 1:
        return None
    siblings = [other for other in names if other.startswith(first + "|") and other != name] if "|" in name else ["get", "set"]
    own = [category for category in categories if name in members[category]]
    facts = {
        "name": name,
        "command": first,
        "category": own[0],
        "foreign": next(category for category in categories if category not in own),
        "sibling": next(other for other in siblings if other != name),
        "key": first_key(server, request),
    }
    letters = ""
    for rules in USERS.values():
        # ACL SETUSER joins the parts of a selector again.
        filled = [rule.format(**facts) for rule in rules.split(" ")]
        server.call("ACL", "SETUSER", "probe", "reset", *filled)
        try:
            letters += letter(server.call("ACL", "DRYRUN", "probe", *request))
        except Refused:
            return None
    fields = [" ".join(request), facts["category"], facts["foreign"], facts["sibling"], facts["key"], letters]
    return "; ".join(fields)


def first_key(server, request):
    try:
        keys = server.call("COMMAND", "GETKEYS", *request)
    except Refused:
        keys = []
    return keys[0] if keys else "none"


def letter(reply):
    if reply == "OK":
        return "+"
    return {"command": "c", "key": "k", "channel": "h"}[reply.split(" ")[-1]]


if __name__ == "__main__":
    main()
