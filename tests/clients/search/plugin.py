"""A plugin of pytest that lets other people's suites run against one server, their files unmodified.

It deselects the tests that expected.txt excludes, writes each test's outcome as a line (identity, outcome, what was
wrong, separated by tabs), and stands in for what the suites expect around them: RedisVL's a container and a language
model, redis-py's a version of the server, redis-om's a
folder. The environment, which run.py sets:

    SUITE_NAME, SUITE_EXCLUSIONS   what to look for in which list
    SUITE_ONLY_EXCLUDED            if set, run the excluded tests and no others
    SUITE_OUTCOMES                 the file to write
    SUITE_PORT                     the server on 127.0.0.1
    SUITE_SERVER_VERSION           the version of Redis that redis-py's tests are to take the server for
"""

import fnmatch
import hashlib
import importlib
import os
import pathlib
import sys
import types

import pytest
import redis

DETAIL_CHARS = 400


def excluded_patterns():
    """Patterns of test identities by which tests of this suite are excluded."""
    for line in pathlib.Path(os.environ["SUITE_EXCLUSIONS"]).read_text().splitlines():
        if line and not line.startswith("#"):
            suite, pattern, _reason = line.split("\t")
            if fnmatch.fnmatchcase(os.environ["SUITE_NAME"], suite):
                # Brackets in an identity are no set of characters.
                yield pattern.replace("[", "[[]")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    patterns = list(excluded_patterns())
    is_excluded = [any(fnmatch.fnmatchcase(item.nodeid, pattern) for pattern in patterns) for item in items]
    wanted = bool(os.environ.get("SUITE_ONLY_EXCLUDED"))
    tell("", "excluded", str(sum(is_excluded)))
    config.hook.pytest_deselected(items=[item for item, each in zip(items, is_excluded) if each != wanted])
    items[:] = [item for item, each in zip(items, is_excluded) if each == wanted]


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session):
    """Runs after redis-py's own hook of this name has asked the server and before its tests are read."""
    version = os.environ.get("SUITE_SERVER_VERSION")
    conftest = sys.modules.get("tests.conftest")
    if version and hasattr(conftest, "REDIS_INFO"):
        conftest.REDIS_INFO["version"] = version


class RunningServer:
    """In place of a container: the server that runs already."""

    def __init__(self, **_):
        pass

    def start(self):
        pass

    def stop(self):
        pass

    def get_service_host_and_port(self, _service, _port):
        return "127.0.0.1", int(os.environ["SUITE_PORT"])


class HashedWords:
    """In place of a model that would have to be downloaded: the words' hashes. Texts that share words are near."""

    DIMENSIONS = 768

    def __init__(self, *_, **__):
        pass

    def encode(self, texts, **_):
        import numpy

        vectors = numpy.zeros((len(texts), self.DIMENSIONS), dtype=numpy.float32)
        for vector, text in zip(vectors, texts):
            for word in text.lower().split():
                digest = hashlib.sha256(word.strip(".,?!'").encode()).digest()
                vector[int.from_bytes(digest[:4], "big") % self.DIMENSIONS] += 1
            vector /= numpy.linalg.norm(vector) or 1
        return vectors


def stand_in(name, **members):
    sys.modules[name] = module = types.ModuleType(name)
    vars(module).update(members)


# Before the suites' own conftest.py, which pytest reads early, imports them.
stand_in("testcontainers")
stand_in("testcontainers.compose", DockerCompose=RunningServer)
stand_in("sentence_transformers", SentenceTransformer=HashedWords)


def ready_redis_om():
    """redis-om's tests import each other by a folder's name that their package does not have, and ask whether the server
    has a command by COMMAND INFO, whose null for one that it lacks this version of redis-py does not read."""
    sys.path.insert(0, os.getcwd())
    sys.modules["tests"] = importlib.import_module("tests_sync")
    checks = importlib.import_module("redis_om.checks")
    original = checks.check_for_command

    def check_for_command(connection, command):
        if not isinstance(connection, redis.Redis):  # a test's own double
            return original(connection, command)
        with connection.client() as client:
            client.set_response_callback("COMMAND INFO", lambda reply, **_: reply)
            client.set_response_callback("COMMAND", lambda reply, **_: reply)
            return None not in client.execute_command("COMMAND INFO", command)

    checks.check_for_command = check_for_command


if os.environ["SUITE_NAME"] == "redis-om":
    ready_redis_om()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.when == "call" or report.outcome != "passed":
        # A test that runs and then fails to end is told twice; the reader keeps the worse.
        detail = str(call.excinfo.value) if call.excinfo else ""
        kind = f"{call.excinfo.typename}: " if call.excinfo and report.failed else ""
        tell(item.nodeid, "expected to fail" if hasattr(report, "wasxfail") else report.outcome, kind + detail)


def pytest_collectreport(report):
    if report.failed:
        tell(report.nodeid, "failed", f"not read: {report.longreprtext.splitlines()[-1]}")
    elif report.skipped:
        tell(report.nodeid, "skipped", report.longrepr[2])


def tell(name, outcome, detail):
    with open(os.environ["SUITE_OUTCOMES"], "a") as file:
        print(name, outcome, " ".join(detail.split())[:DETAIL_CHARS], sep="\t", file=file)
