"""`edgecask copy` between directories, stores in the cluster, and a real redis-server."""

import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from access import certificates
from harness import Client, ErrorReply, check, free_port


class Server:
    """A process that listens on a port, until the end of a `with`."""

    def __init__(self, *command):
        self.port = free_port()
        self.process = subprocess.Popen([*command, "--port", str(self.port)], stdout=subprocess.DEVNULL)

    def __enter__(self):
        for _ in range(600):
            try:
                self.client = Client(self.port)
                self.client.call("DBSIZE")
                return self
            except (OSError, ErrorReply):
                time.sleep(0.05)
        raise AssertionError("a server does not listen")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)

    def url(self):
        return f"redis://127.0.0.1:{self.port}"


class Places:
    """The places of a test, and the program that copies between them."""

    def __init__(self, cluster):
        self.cluster, self.edgecask = cluster, Path(cluster.edgecask).absolute()
        self.folder = Path(tempfile.mkdtemp(prefix="edgecask-copies-"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def directory(self, name):
        return str(self.folder / name)

    def store(self, name):
        return f"tikv://{self.cluster.pd}/{name}"

    def serve(self, directory):
        return Server(self.edgecask, "serve", "--dir", directory, "--http-port", "off", "--log-level", "warn")

    def redis(self):
        return Server("redis-server", "--save", "", "--bind", "127.0.0.1")

    def command(self, *arguments):
        return [self.edgecask, "copy", *arguments, "--state", self.folder / "copy.state"]

    def copy(self, source, target, *more, code=0):
        """Copies, and returns what was printed."""
        command = self.command("--from", source, "--to", target, *more)
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode != code:
            raise AssertionError(f"copy {source} {target}: {done.returncode}, {done.stdout}{done.stderr}")
        return done.stdout + done.stderr


def digests(text):
    """The fingerprints of both sides."""
    return re.findall(r"^(?:from|to) .* keys  ([0-9a-f]{40})$", text, re.MULTILINE)


def fill(client):
    """Every type, small and large, in several databases."""
    client.call("SET", "string", b"\x00\xffbytes")
    client.call("SET", "number", "42", "PXAT", str(int(time.time() * 1000) + 3_600_000))
    client.call("SET", "long", b"long" * 50_000)
    client.call("SET", "huge", b"huge" * 1_000_000, "EX", "5000")
    client.call("SETRANGE", "huge", "100000", "patched")
    client.call("RPUSH", "list", *[f"element {number}" for number in range(3000)])
    client.call("SADD", "integers", *range(300))
    client.call("SADD", "set", *[f"member {number}" for number in range(500)])
    client.call("ZADD", "zset", "1.5", "a", "-inf", "b", "17", "c")
    client.call("HSET", "hash", "field", "value")
    for begin in range(0, 6000, 1000):
        pairs = [word for number in range(begin, begin + 1000) for word in (f"field {number}", "value" * 20)]
        client.call("HSET", "large hash", *pairs)
        client.call("ZADD", "large zset", *[word for number in range(begin, begin + 1000) for word in (number, f"m{number}")])
    client.call("PFADD", "log", *range(1000))
    for number in range(200):
        client.call("XADD", "stream", f"{number + 1}-1", "field", number, "other", "x" * number)
    client.call("XDEL", "stream", "7-1")
    client.call("XGROUP", "CREATE", "stream", "group", "0")
    client.call("XGROUP", "CREATE", "stream", "idle", "$")
    client.call("XREADGROUP", "GROUP", "group", "me", "COUNT", "20", "STREAMS", "stream", ">")
    client.call("XACK", "stream", "group", "3-1")
    client.call("SELECT", "3")
    client.call("SET", "elsewhere", "v")
    client.call("RPUSH", "queue", "a", "b")
    client.call("SELECT", "0")


def copies(cluster):
    """A round trip through all kinds of places ends with the same; what cannot be carried is told."""
    with Places(cluster) as places:
        with places.serve(places.directory("first")) as server:
            fill(server.client)
            server.client.call("SQL.EXEC", "shop", "CREATE TABLE items(name TEXT)")
            server.client.call("SQL.EXEC", "shop", "INSERT INTO items VALUES ('lamp')")
            server.client.call("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 7 end)")
            server.client.call("ACL", "SETUSER", "alice", "on", ">secret", "+@read", "~*")
            places.copy(places.directory("first"), places.store("held"), code=2)
        printed = places.copy(places.directory("first"), places.store("shop"))
        first = digests(printed)
        check("fingerprints", first[0], first[1])
        gateway = Client(cluster.serve("shop"))
        check("a function", gateway.call("FCALL", "f", "0"), b"7")
        check("a user", b"alice" in b" ".join(gateway.call("ACL", "USERS")), True)
        check("there is no SQL", "no SQL" in str(gateway.answer("SQL.QUERY", "shop", "SELECT name FROM items")), True)
        check("a patch", gateway.call("GETRANGE", "huge", "100000", "100006"), b"patched")
        check("groups", len(gateway.call("XINFO", "GROUPS", "stream")), 2)
        # It refuses to mix, and finds what was changed.
        assert "has keys already" in places.copy(places.directory("first"), places.store("shop"), code=2)
        gateway.call("HSET", "large hash", "field 17", "changed")
        gateway.call("SET", "another", "v")
        printed = places.copy(places.directory("first"), places.store("shop"), "--verify", code=1)
        assert '"large hash" of database 0' in printed and '"another" of database 0' in printed, printed
        gateway.call("DEL", "another")
        places.copy(places.directory("first"), places.store("shop"), "--add")
        check("back in a directory", digests(places.copy(places.store("shop"), places.directory("second"))), first)
        with places.redis() as redis:
            printed = places.copy(places.directory("second"), redis.url(), code=1)
            assert re.search(r"not carried: 1\n.*shop", printed), printed
            with places.serve(places.directory("second")) as server:
                check("SQL", server.client.call("SQL.QUERY", "shop", "SELECT name FROM items"), [[b"name"], [b"lamp"]])
                server.client.call("DEL", "shop")
            of_redis = digests(places.copy(places.directory("second"), redis.url(), "--verify"))
            check("fingerprints", *of_redis)
            check("from Redis", digests(places.copy(redis.url(), places.directory("third"))), of_redis)
            check("one database", digests(places.copy(redis.url() + "/3", redis.url() + "/5"))[0] != of_redis[0], True)
        with places.serve(places.directory("third")) as server, places.redis() as redis:
            check("between servers", digests(places.copy(server.url(), redis.url())), of_redis)
            check("into the cluster", digests(places.copy(redis.url(), places.store("again"))), of_redis)
            check("pending", server.client.call("XPENDING", "stream", "group")[0], b"19")


def copies_under_tls(cluster):
    """A redis-server that wants TLS and a certificate: the copy shows one, and nothing goes to a server that another authority vouches for."""
    with Places(cluster) as places:
        certificates(places.folder)
        file = lambda name: str(places.folder / f"{name}.pem")  # noqa: E731
        with places.serve(places.directory("first")) as server:
            fill(server.client)
        port = free_port()
        options = ["--tls-port", str(port), "--tls-cert-file", file("cert"), "--tls-key-file", file("key"), "--tls-ca-cert-file", file("ca")]
        with Server("redis-server", "--save", "", "--bind", "127.0.0.1", *options) as redis:
            url = f"rediss://127.0.0.1:{port}"
            identity = f"cert={file('cert')}&key={file('key')}"
            assert "UnknownIssuer" in places.copy(places.directory("first"), f"{url}?{identity}", code=2)
            places.copy(places.directory("first"), f"{url}?ca={file('ca')}", code=2)
            check("keys without a certificate", redis.client.call("DBSIZE"), b"0")
            of_both = digests(places.copy(places.directory("first"), f"{url}?ca={file('ca')}&{identity}"))
            check("fingerprints", *of_both)
            check("from it", digests(places.copy(f"{url}?ca={file('ca')}&{identity}", places.directory("second"))), of_both)


def copies_lack_nothing(cluster):
    """A store with more databases than are asked for is not copied by halves."""
    with Places(cluster) as places:
        with cluster.start("many", "--databases", "40").client() as client:
            client.call("SET", "key", "v")
            client.call("SELECT", "33")
            client.call("SET", "far", "v")
        printed = places.copy(places.store("many"), places.directory("many"), code=2)
        assert "database 33" in printed, printed
        # A directory has 16.
        places.copy(places.store("many"), places.store("more"), "--databases", "40")
        client = cluster.start("more", "--databases", "40").client()
        client.call("SELECT", "33")
        check("a key of database 33", client.call("GET", "far"), b"v")


def copies_go_on(cluster):
    """A copy that is killed goes on where it was, and damage is told."""
    with Places(cluster) as places:
        with places.serve(places.directory("first")) as server:
            for db in range(4):
                server.client.call("SELECT", db)
                for begin in range(0, 10_000, 500):
                    server.client.call("MSET", *[word for number in range(begin, begin + 500) for word in (f"key {number}", "v" * 200)])
        state = places.folder / "copy.state"
        command = places.command("--from", places.directory("first"), "--to", places.store("killed"))
        killed = 0
        for _ in range(3):
            before = state.read_text() if state.exists() else ""
            process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            while process.poll() is None and (not state.exists() or state.read_text() == before):
                time.sleep(0.002)
            process.kill()
            killed += process.wait() != 0
        assert killed and state.exists(), "it was never interrupted"
        copied = int(re.search(r"^keys (\d+)", state.read_text(), re.MULTILINE).group(1))
        printed = places.copy(places.directory("first"), places.store("killed"))
        assert f"goes on with a copy that was interrupted: {copied} keys" in printed, printed
        assert not state.exists(), "the file stays"
        check("fingerprints", *digests(printed))
        # A source that is damaged is not copied as if it were whole.
        data = max(Path(places.directory("first")).glob("*.data"), key=os.path.getsize)
        with open(data, "r+b") as file:
            file.seek(os.path.getsize(data) // 2)
            file.write(b"\xff" * 64)
        places.copy(places.directory("first"), places.store("damaged"), code=2)
