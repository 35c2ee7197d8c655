#!/usr/bin/env bash
# The store at the edge, on this machine: wrangler serves the worker, and two examples of the gateway run against it unchanged.
#
#     examples/edge.sh
#
# Needs Node 20 and Rust; the first run builds the worker and the console, and installs wrangler below edge-worker/.
set -euo pipefail
cd "$(dirname "$0")/.."
PORT=${PORT:-8787}

make -s edge console
FOLDER=$(mktemp -d)
export WRANGLER_SEND_METRICS=false
# Not by npx, which passes no signals on.
node edge-worker/node_modules/wrangler/wrangler-dist/cli.js dev --local --ip 127.0.0.1 --port "$PORT" --persist-to "$FOLDER" > "$FOLDER/log" 2>&1 &
PID=$!
trap 'kill "$PID" 2> /dev/null; wait "$PID" 2> /dev/null; rm -rf "$FOLDER"' EXIT
until curl -sf "http://127.0.0.1:$PORT/health" > /dev/null; do
  kill -0 "$PID" 2> /dev/null || { cat "$FOLDER/log" >&2; exit 1; }
  sleep 0.2
done

echo "== REST, database one"
EDGECASK_HTTP_URL="http://127.0.0.1:$PORT/db/one" node examples/rest.mjs
echo "== RESP over WebSocket, database two"
printf 'is anybody there?\ngood bye\n' |
  EDGECASK_WS_URL="ws://127.0.0.1:$PORT/db/two/resp" node --experimental-websocket --no-warnings examples/chat/terminal.mjs ada
