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
    """An authority and a certificate of it for this machine, as servers and clients use it."""
    run = lambda *words: subprocess.run(words, cwd=folder, check=True, capture_output=True)  # noqa: E731
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=ca")
    run("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.csr", "-subj", "/CN=edgecask")
    Path(folder, "names").write_text("subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n")
    run(
        "openssl", "x509", "-req", "-in", "cert.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
        "-extfile", "names", "-out", "cert.pem",
    )


def encrypted(cluster):
    """A cluster that wants TLS and certificates: everything works, links between servers included, and without a certificate nothing does."""
    with tempfile.TemporaryDirectory() as folder:
        certificates(folder)
        under_tls = Cluster(cluster.edgecask, tls=folder)
        try:
            flags = [word for name in ("ca", "cert", "key") for word in (f"--pd-{name}", f"{folder}/{name}.pem")]
            gateways = [under_tls.start("tls", *flags) for _ in range(2)]
            until(LINK_LIMIT_S, "the servers are linked", lambda: all(gateway.fact("peers_linked") == 1 for gateway in gateways))
            flows(*(gateway.client() for gateway in gateways))
            refused = under_tls.begin_to_start("tls", is_quiet=True)
            assert refused.process.wait(60) != 0, "a server without a certificate serves"
        finally:
            under_tls.end()


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


ACCESS = (keyspaces, encrypted, long_names, ready_or_not)
