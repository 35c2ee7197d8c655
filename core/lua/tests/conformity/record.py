#!/usr/bin/env python3
"""Records what redis-server answers to the snippets: `python3 core/lua/tests/conformity/record.py` rewrites *.recorded.

language.txt has snippets of Lua, each run inside wrapper.lua, so that all results show as text. redis.txt has scripts for EVAL; a
first line `-- resp3` asks for RESP3, a first line `-- function` makes the rest the body of a library whose function f is called. A
snippet that ends the server is recorded as CRASH. The server is the one on the machine (7.0.15 of Debian 12)."""
import hashlib
import pathlib
import socket
import subprocess
import tempfile
import time

# Redis keeps settings of cjson from script to script.
RESET = """cjson.encode_max_depth(1000) cjson.decode_max_depth(1000) cjson.encode_number_precision(14)
cjson.encode_sparse_array(false, 2, 10) cjson.encode_invalid_numbers(false) cjson.decode_invalid_numbers(true)"""

# Longer answers are recorded by their hash.
LONGEST = 4096

HERE = pathlib.Path(__file__).parent


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    def __init__(self, folder):
        self.folder = folder
        self.start()

    def start(self):
        port = free_port()
        arguments = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", self.folder, "--logfile", "log"]
        self.process = subprocess.Popen(["redis-server", *arguments])
        for _ in range(200):
            try:
                self.socket = socket.create_connection(("127.0.0.1", port))
                break
            except OSError:
                time.sleep(0.05)
        self.file = self.socket.makefile("rb")

    def command(self, *arguments):
        arguments = [a.encode() if isinstance(a, str) else a for a in arguments]
        request = b"*%d\r\n" % len(arguments) + b"".join(b"$%d\r\n%s\r\n" % (len(a), a) for a in arguments)
        try:
            self.socket.sendall(request)
            return self.reply()
        except (OSError, EOFError):
            self.process.wait()
            self.start()
            return b"CRASH"

    def reply(self):
        line = self.file.readline()
        if not line:
            raise EOFError
        kind = line[:1]
        if kind in b"+-:,#_(":
            return line
        count = int(line[1:])
        if kind in b"$=":
            return line + (self.file.read(count + 2) if count >= 0 else b"")
        return line + b"".join(self.reply() for _ in range(count * 2 if kind == b"%" else count))


def run(server, snippet):
    head, _, body = snippet.partition("\n")
    protocol = "3" if head == "-- resp3" else "2"
    server.command("FLUSHALL")
    server.command("EVAL", RESET, "0")
    server.command("HELLO", protocol)
    if head == "-- function":
        answer = server.command("FUNCTION", "LOAD", "REPLACE", "#!lua name=l\n" + body)
        return answer if answer.startswith(b"-") else answer + server.command("FCALL", "f", "1", "key:1", "arg:1")
    return server.command("EVAL", snippet, "1", "key:1", "arg:1")


def escaped(answer):
    if len(answer) > LONGEST:
        return f"SHA1 {hashlib.sha1(answer).hexdigest()} {len(answer)}"
    return answer.decode("latin-1").encode("unicode_escape").decode()


def main():
    wrapper = (HERE / "wrapper.lua").read_text()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder)
        for name in ["language", "redis"]:
            snippets = (HERE / f"{name}.txt").read_text().rstrip("\n").split("\n----\n")
            scripts = [wrapper.replace("--SNIPPET--", s) if name == "language" else s for s in snippets]
            lines = [escaped(run(server, script)) for script in scripts]
            (HERE / f"{name}.recorded").write_text("\n".join(lines) + "\n")
            print(name, len(lines), "snippets,", lines.count("CRASH"), "of which end the server")
        server.process.kill()


if __name__ == "__main__":
    main()
