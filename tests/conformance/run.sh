#!/usr/bin/env bash
# Starts a server on a free port, runs the compatibility cases against it, and ends it by its own pid.
set -euo pipefail
binary=$1 python=$2
here=$(cd "$(dirname "$0")" && pwd)
directory=$(mktemp -d)
port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$binary" serve --port "$port" --dir "$directory/data" > "$directory/log" 2>&1 &
server=$!
trap 'kill "$server" 2> /dev/null || true; wait "$server" 2> /dev/null || true; rm -rf "$directory"' EXIT
for _ in $(seq 100); do
    [ "$(redis-cli -p "$port" ping 2> /dev/null)" = PONG ] && break
    sleep 0.1
done
"$python" "$here/run.py" --port "$port" --expected "$here/expected.txt"
