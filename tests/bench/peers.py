"""The servers that are measured beside each other: how each is started, and which there are on this machine."""

import os
import pathlib
import shutil
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]

# Where `.ci/valkey` unpacks it.
VALKEY = REPOSITORY / ".build/valkey/usr/bin/valkey-server"

# In the order of columns. `none` is redis-server without a log.
SERVERS = ("edgecask", "redis", "valkey", "none")
TITLES = {"edgecask": "EdgeCask", "redis": "Redis", "valkey": "Valkey", "none": "Redis none"}

# For the case with most connections.
MAXIMUM_CLIENTS = 20_000


def add_options(parser):
    """The options that say which programs are measured."""
    parser.add_argument("--edgecask", default=str(REPOSITORY / "target/release/edgecask"), help="the program [%(default)s]")
    parser.add_argument("--valkey", default=str(VALKEY), help="valkey-server; left out where it is missing [%(default)s]")
    parser.add_argument("--edgecask-args", default="", help="further arguments for edgecask serve")


def check(options, *tools):
    """Ends the script if a program that it needs cannot be run; without valkey-server it goes on with one peer less."""
    for program in (options.edgecask, "redis-server", *tools):
        if not shutil.which(program):
            sys.exit(f"{program} cannot be run")
    if not shutil.which(options.valkey):
        print(f"{options.valkey} cannot be run, so it is not measured; .ci/valkey fetches it", file=sys.stderr)
        options.valkey = ""


def there_are(options, servers=SERVERS):
    """Those of the servers that can be started."""
    return tuple(server for server in servers if server != "valkey" or options.valkey)


def command(server, folder, options, policy="everysec"):
    """The command line of a server on a folder of its own, without its port."""
    clients = ["--maxclients", str(MAXIMUM_CLIENTS)]
    if server == "edgecask":
        return [options.edgecask, "serve", "--dir", os.fspath(folder), "--appendfsync", policy, *clients,
                *options.edgecask_args.split()]
    log = ["--appendonly", "no"] if server == "none" else ["--appendonly", "yes", "--appendfsync", policy]
    program = options.valkey if server == "valkey" else "redis-server"
    return [program, "--dir", os.fspath(folder), "--save", "", *log, *clients]
