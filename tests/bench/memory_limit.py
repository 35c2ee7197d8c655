"""A limit on all memory of a process, page cache included, by a control group (cgroup v1 or v2) of its own."""

import contextlib
import os
import subprocess

# Enters the group, then becomes the server, so the process id stays.
ENTER = ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"']


@contextlib.contextmanager
def limited_memory(size_bytes):
    """What to put before a command so that it runs under the limit. An OSError tells why that cannot be had here.

    The group lies within the one this process is in, or beside it (v2 allows no group within one that has processes),
    so limits from outside stay in force.
    """
    group, limit, swap = new_group()
    os.mkdir(group)
    try:
        write(group, limit, size_bytes)
        with contextlib.suppress(OSError):
            write(group, *swap(size_bytes))
        if subprocess.run([*ENTER, group, "true"], stderr=subprocess.DEVNULL).returncode != 0:
            raise OSError(f"no process may enter {group}")
        yield [*ENTER, group]
    finally:
        os.rmdir(group)


def new_group():
    """Path of the group to make, its file for the limit, and the file and value that keep swap from helping."""
    name = f"edgecask-bench-{os.getpid()}"
    with open("/proc/self/cgroup") as lines:
        own = {controllers: path.lstrip("/") for _, controllers, path in (line.strip().split(":", 2) for line in lines)}
    if "memory" in own:
        return (os.path.join("/sys/fs/cgroup/memory", own["memory"], name), "memory.limit_in_bytes",
                lambda size_bytes: ("memory.memsw.limit_in_bytes", size_bytes))
    return (os.path.join("/sys/fs/cgroup", os.path.dirname(own.get("", "")), name), "memory.max",
            lambda _: ("memory.swap.max", 0))


def write(group, file, value):
    with open(os.path.join(group, file), "w") as out:
        out.write(str(value))
