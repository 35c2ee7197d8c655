"""Clients of Redis under TLS: redis-py and redis-cli, with and without a certificate of their own.

The driver says where: TLS_PORT, and TLS_DIRECTORY with ca.crt, server.crt, server.key, client.crt, client.key; SERVER_PID
is whom to tell that the server's certificate has changed; TLS_AUTH_CLIENTS whether a client must show one (yes, optional).
"""

import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import eventually, raises, run, same

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

PROTOCOL = int(sys.argv[2])
PORT = int(os.environ["TLS_PORT"])
DIRECTORY = pathlib.Path(os.environ["TLS_DIRECTORY"])
AUTHORITY = str(DIRECTORY / "ca.crt")
OWN = {"ssl_certfile": str(DIRECTORY / "client.crt"), "ssl_keyfile": str(DIRECTORY / "client.key")}


IS_STRICT = os.environ["TLS_AUTH_CLIENTS"] == "yes"


def client(**options):
    options = {"ssl_ca_certs": AUTHORITY, **(options or (OWN if IS_STRICT else {}))}
    # What is refused is refused at once.
    return redis.Redis(host="localhost", port=PORT, protocol=PROTOCOL, ssl=True, retry=Retry(NoBackoff(), 0), **options)


def commands_and_pipelines():
    with client() as one:
        one.flushall()
        same(one.set("key", b"\x00\r\n\xff"), True)
        same(one.get("key"), b"\x00\r\n\xff")
        with one.pipeline(transaction=True) as pipeline:
            for number in range(1000):
                pipeline.rpush("list", number)
            same(pipeline.execute()[-1], 1000)
        same(one.lrange("list", 0, -1), [b"%d" % number for number in range(1000)])


def long_values_both_ways():
    value = os.urandom(1 << 20) * 20
    with client() as one:
        one.set("long", value)
        same(one.get("long") == value, True)
        same(one.getrange("long", 1_000_000, 1_000_009), value[1_000_000:1_000_010])


def a_certificate_of_its_own_or_none():
    with client(**OWN) as one:
        same(one.ping(), True)
    nameless = client(ssl_ca_certs=AUTHORITY)
    try:
        nameless.ping()
        same(IS_STRICT, False)
    except (redis.ConnectionError, ssl.SSLError, OSError):
        same(IS_STRICT, True)


def messages_and_blocked_clients():
    with client() as publisher, client() as one:
        listener = one.pubsub()
        listener.subscribe("news")
        same(listener.get_message(timeout=5)["type"], "subscribe")
        same(publisher.publish("news", "rain"), 1)
        same(listener.get_message(timeout=5)["data"], b"rain")
        listener.close()
        threading.Timer(0.1, publisher.rpush, ["queue", "element"]).start()
        same(tuple(one.blpop("queue", 5)), (b"queue", b"element"))


def an_unknown_authority_is_refused_by_the_client():
    other = client(ssl_ca_certs=str(DIRECTORY / "other.crt"))
    raises("CERTIFICATE_VERIFY_FAILED", other.ping)


def a_certificate_of_another_authority_is_refused_by_the_server():
    wrong = {"ssl_certfile": str(DIRECTORY / "other.crt"), "ssl_keyfile": str(DIRECTORY / "other.key")}
    try:
        client(**wrong).ping()
    except (redis.ConnectionError, ssl.SSLError, OSError):
        return
    raise AssertionError("a certificate that the server's authority has not signed was taken")


def plain_bytes_and_old_protocols_do_no_harm():
    with socket.create_connection(("localhost", PORT), timeout=10) as plain:
        plain.sendall(b"PING\r\n")
        same(b"PONG" in plain.recv(1024), False)
    old = ssl.create_default_context(cafile=AUTHORITY)
    old.set_ciphers("DEFAULT:@SECLEVEL=0")
    old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    try:
        with socket.create_connection(("localhost", PORT), timeout=10) as plain, \
                old.wrap_socket(plain, server_hostname="localhost"):
            raise AssertionError("TLS 1.1 was spoken")
    except (ssl.SSLError, ConnectionError):
        pass
    with client() as one:
        same(one.ping(), True)


def redis_cli():
    def cli(*arguments, own=()):
        return subprocess.run(["redis-cli", "--tls", "--cacert", AUTHORITY, *own, "-h", "localhost", "-p", str(PORT),
                               *arguments], capture_output=True, text=True, timeout=20)
    own = ["--cert", OWN["ssl_certfile"], "--key", OWN["ssl_keyfile"]]
    same(cli("SET", "key", "by cli", own=own).stdout, "OK\n")
    same(cli("-3", "GET", "key", own=own if IS_STRICT else ()).stdout, "by cli\n")


def a_new_certificate_is_taken_over_without_a_restart():
    def serial():
        context = ssl.create_default_context(cafile=AUTHORITY)
        context.load_cert_chain(OWN["ssl_certfile"], OWN["ssl_keyfile"])
        with socket.create_connection(("localhost", PORT), timeout=10) as plain, \
                context.wrap_socket(plain, server_hostname="localhost") as stream:
            return stream.getpeercert()["serialNumber"]
    first = serial()
    with client() as one:
        one.ping()
        shutil.copy(DIRECTORY / "renewed.crt", DIRECTORY / "server.crt")
        shutil.copy(DIRECTORY / "renewed.key", DIRECTORY / "server.key")
        same(serial(), first)
        os.kill(int(os.environ["SERVER_PID"]), signal.SIGHUP)
        eventually(lambda: serial() != first, "the new certificate")
        same(one.ping(), True)
        renewed = serial()
        (DIRECTORY / "server.crt").write_text("nonsense")
        os.kill(int(os.environ["SERVER_PID"]), signal.SIGHUP)
        same(serial(), renewed)
        shutil.copy(DIRECTORY / "renewed.crt", DIRECTORY / "server.crt")


if __name__ == "__main__":
    run([commands_and_pipelines, long_values_both_ways, a_certificate_of_its_own_or_none, messages_and_blocked_clients,
         an_unknown_authority_is_refused_by_the_client, a_certificate_of_another_authority_is_refused_by_the_server,
         plain_bytes_and_old_protocols_do_no_harm, redis_cli, a_new_certificate_is_taken_over_without_a_restart])
