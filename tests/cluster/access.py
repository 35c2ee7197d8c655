"""Ways to a cluster: keyspaces, TLS, what TiKV does not take, and what a server says of itself while the cluster is gone."""

import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from harness import Cluster, ErrorReply, check, free_port, until

# TiKV takes keys of 8 KiB as it stores them.
TOO_LONG = 8 * 1024
# The servers of a store find each other within this time.
LINK_LIMIT_S = 15


def flows(first, second):
    """A little of everything that goes to the cluster, by two servers."""
    check("SET", first.call("SET", "key", "value"), b"OK")
    check("GET", second.call("GET", "key"), b"value")
    check("MSET", first.call("MSET", *[word for number in range(40) for word in (f"key:{number}", "v")]), b"OK")
    check("SETs", [second.call("SET", f"key:{number}", "w") for number in range(40)], [b"OK"] * 40)
    check("MGET", first.call("MGET", *[f"key:{number}" for number in range(40)]), [b"w"] * 40)
    members = [word for number in range(400) for word in (str(number), f"member:{number}")]
    check("ZADD", first.call("ZADD", "sorted", *members), b"400")
    check("ZRANK", second.call("ZRANK", "sorted", "member:300"), b"300")
    check("INCR", [client.call("INCR", "count") for client in (first, second)], [b"1", b"2"])
    second.send("BLPOP", "queue", "20")
    time.sleep(0.2)
    first.call("RPUSH", "queue", "job")
    check("BLPOP", second.read(), [b"queue", b"job"])
    check("FLUSHDB", first.call("FLUSHDB"), b"OK")
    check("EXISTS", second.call("EXISTS", "key", "sorted", "count"), b"0")


def keyspaces(cluster):
    """Stores of one name in two keyspaces, and one in none, do not see each other."""
    outside = cluster.start("store").client()
    outside.call("SET", "key", "outside")
    for keyspace in ("one", "two"):
        first, second = (cluster.start("store", "--tikv-keyspace", keyspace).client() for _ in range(2))
        check("keys", first.call("DBSIZE"), b"0")
        flows(first, second)
        check("SET", second.call("SET", "key", keyspace), b"OK")
        for client in (first, second):
            client.close()
    check("GET", outside.call("GET", "key"), b"outside")


def certificates(folder):
    """An authority and two certificates of it, as servers and clients use them: for this machine, and for another address."""
    run = lambda *words: subprocess.run(words, cwd=folder, check=True, capture_output=True)  # noqa: E731
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=ca")
    run("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.csr", "-subj", "/CN=edgecask")
    for name, address in (("cert", "127.0.0.1"), ("elsewhere", "127.0.0.2")):
        Path(folder, "names").write_text(f"subjectAltName=IP:{address}\nextendedKeyUsage=serverAuth,clientAuth\n")
        run(
            "openssl", "x509", "-req", "-in", "cert.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "names", "-out", f"{name}.pem",
        )


def under_tls(folder, certificate="cert"):
    """Options of a server."""
    return ["--pd-ca", f"{folder}/ca.pem", "--pd-cert", f"{folder}/{certificate}.pem", "--pd-key", f"{folder}/key.pem"]


def encrypted(cluster):
    """A cluster that wants TLS and certificates: everything works, links between servers included, and without a certificate nothing does."""
    with tempfile.TemporaryDirectory() as folder:
        certificates(folder)
        with_tls = Cluster(cluster.edgecask, tls=folder)
        try:
            gateways = [with_tls.start("tls", *under_tls(folder)) for _ in range(2)]
            until(LINK_LIMIT_S, "the servers are linked", lambda: all(gateway.fact("peers_linked") == 1 for gateway in gateways))
            flows(*(gateway.client() for gateway in gateways))
            refused = with_tls.begin_to_start("tls", is_quiet=True)
            assert refused.process.wait(60) != 0, "a server without a certificate serves"
        finally:
            with_tls.end()


def out_of_reach(cluster):
    """The oldest server cannot be reached, since its certificate is for another address. It is in nobody's way, and shows what is right."""
    with tempfile.TemporaryDirectory() as folder:
        certificates(folder)
        with_tls = Cluster(cluster.edgecask, tls=folder)
        try:
            lonely = with_tls.start("reach", *under_tls(folder, "elsewhere"), is_quiet=True)
            # By default a server says in the log what it cannot reach; so it does here.
            pair = [with_tls.start("reach", *under_tls(folder), is_quiet=True) for _ in range(2)]
            until(LINK_LIMIT_S, "the two are linked", lambda: all(gateway.fact("peers_linked") == 1 for gateway in pair))
            standing = lambda: [gateway.fact("peers_stands_apart") for gateway in (lonely, *pair)]  # noqa: E731
            until(LINK_LIMIT_S, "the one that reaches nobody stands apart, and only that one", lambda: standing() == [1, 0, 0])
            here, there, apart = (gateway.client() for gateway in (*pair, lonely))
            flows(here, there)
            for client in (here, there):
                begin = time.monotonic()
                client.call("SET", "key", "value")
                check("FLUSHDB", client.call("FLUSHDB"), b"OK")
                check("GET at the lonely one", apart.call("GET", "key"), None)
                took = time.monotonic() - begin
                assert took < 1, f"a flush took {took:.1f} s"
            with pair[0].client() as listener:
                check("SUBSCRIBE", listener.call("SUBSCRIBE", "news"), [b"subscribe", b"news", b"1"])
            check("SET at the lonely one", apart.call("SET", "key", "its"), b"OK")
            check("GET", here.call("GET", "key"), b"its")
            waits(lonely, here)
            refuses(lonely, ("FLUSHDB",), ("SUBSCRIBE", "news"), ("CLIENT", "TRACKING", "ON"))
            check("GET", here.call("GET", "key"), b"its")
        finally:
            with_tls.end()


def waits(lonely, here):
    """A client that blocks at a server that is told of nothing waits a second longer at most."""
    with lonely.client() as waiter:
        waiter.send("BLPOP", "queue", "20")
        time.sleep(0.2)
        begin = time.monotonic()
        here.call("RPUSH", "queue", "job")
        check("BLPOP", waiter.read(), [b"queue", b"job"])
        took = time.monotonic() - begin
        assert took < 2, f"woken after {took:.1f} s"


def refuses(lonely, *commands):
    """What another server would have to know of ends with an error. They wait side by side."""
    clients = [lonely.client() for _ in commands]
    for client, words in zip(clients, commands):
        client.send(*words)
    for client, words in zip(clients, commands):
        with client:
            try:
                raise AssertionError(f"{words} at the lonely one: {client.read()}")
            except ErrorReply as error:
                assert error.is_refusal(), error


def long_names(cluster):
    """Keys, fields and members that TiKV would not take are refused, and nothing else is: the error says why."""
    client = cluster.start("long").client()
    fits, long = "k" * 6000, "k" * TOO_LONG
    check("SET", client.call("SET", fits, "v"), b"OK")
    many = [word for number in range(400) for word in (f"f{number}", "v")]
    check("HSET", client.call("HSET", "hash", *many, fits, "v"), b"401")
    check("ZADD", client.call("ZADD", "sorted", *[word for number in range(400) for word in (number, f"m{number}")], "1", fits), b"401")
    for words in (("SET", long, "v"), ("HSET", "hash", long, "v"), ("ZADD", "sorted", "1", long), ("SADD", "set", *map(str, range(2000)), long)):
        try:
            raise AssertionError(f"{words[0]} has replied {client.call(*words)}")
        except ErrorReply as error:
            assert "too long" in str(error), f"{words[0]}: {error}"
    check("GET", client.call("GET", fits), b"v")
    check("HLEN", client.call("HLEN", "hash"), b"401")
    check("EXISTS", client.call("EXISTS", long, "set"), b"0")


def ready_or_not(cluster):
    """`/ready` says when the cluster is gone, and when it is back; `/metrics` and the console's page go on meanwhile."""
    port = free_port()
    gateway = cluster.start("ready", "--http-port", port, "--tikv-timeout-ms", "500", is_quiet=True)

    def status(path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def is_ready(expected):
        with gateway.client() as client:
            try:
                client.call("GET", "key")
            except ErrorReply:
                pass
        return status("/ready") == expected

    check("/ready", status("/ready"), 200)
    for what, breaks, heals in (("PD", "/pd?up=0", "/pd?up=1"), ("all stores", None, None)):
        stores = [f"/store?id={number}&up=" for number in (1, 2, 3)]
        for path in [breaks] if breaks else [f"{path}0" for path in stores]:
            cluster.ask(path)
        until(20, f"/ready says that {what} is gone", lambda: is_ready(503))
        check("/metrics", status("/metrics"), 200)
        for path in [heals] if heals else [f"{path}1" for path in stores]:
            cluster.ask(path)
        until(20, f"/ready says that {what} is back", lambda: is_ready(200))


ACCESS = (keyspaces, encrypted, out_of_reach, long_names, ready_or_not)
