#!/usr/bin/env bash
# Nothing that was acknowledged is lost by kill -9: writes until the server dies in the middle, then looks for every write.
#
#     examples/kill-9.sh
set -euo pipefail
source "$(dirname "$0")/server.sh"

start
touch "$FOLDER/acknowledged"
# One write after the other; redis-cli prints a line for each OK that came back.
seq 1000000 | sed 's/.*/SET key:& &/' | redis-cli -p "$PORT" > "$FOLDER/acknowledged" 2> /dev/null &
writer=$!
while [ "$(grep -c OK "$FOLDER/acknowledged")" -lt 1000 ]; do sleep 0.01; done
kill_9
# It would go on to try.
kill "$writer" 2> /dev/null || true
wait "$writer" 2> /dev/null || true
acknowledged=$(grep -c OK "$FOLDER/acknowledged")
echo "killed after $acknowledged acknowledged writes"

start
seq "$acknowledged" | sed 's/.*/GET key:&/' | cli > "$FOLDER/found"
if cmp -s "$FOLDER/found" <(seq "$acknowledged"); then echo "all of them are there"; else echo "some are lost"; fi
