# A server of the example's own, for scripts to source: `start` and `kill_9`; it ends with the script.
#
# EDGECASK_BIN is the program; target/release/edgecask, which `make run` builds, unless it is set.

BIN=${EDGECASK_BIN:-$(dirname "${BASH_SOURCE[0]}")/../target/release/edgecask}
FOLDER=$(mktemp -d)
PID=

finish() {
  if [ -n "$PID" ]; then kill "$PID" 2> /dev/null && wait "$PID" 2> /dev/null; fi
  rm -rf "$FOLDER"
}
trap finish EXIT

# Starts the server on a port that the system chooses and waits until it answers; sets PID and PORT.
start() {
  : > "$FOLDER/log"
  "$BIN" serve --dir "$FOLDER/data" --port 0 --http-port off "$@" 2> "$FOLDER/log" &
  PID=$!
  for _ in $(seq 600); do
    PORT=$(sed -n 's/.*edgecask is ready.*listening=\[127\.0\.0\.1:\([0-9]*\)\].*/\1/p' "$FOLDER/log")
    if [ -n "$PORT" ]; then return; fi
    kill -0 "$PID" 2> /dev/null || break
    sleep 0.05
  done
  cat "$FOLDER/log" >&2
  exit 1
}

# Ends it as a crash would.
kill_9() {
  kill -9 "$PID"
  wait "$PID" 2> /dev/null || true
  PID=
}

cli() {
  redis-cli -p "$PORT" "$@"
}

# The memory of the server's own in kB: what it has allocated, files that it maps left out.
memory_kb() {
  sed -n 's/^RssAnon:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$PID/status"
}
