#!/usr/bin/env bash
# A huge value: streamed in, read and changed in parts, there after kill -9, while the server's memory stays where it was.
#
#     SIZE_MB=1024 examples/huge-value.sh
set -euo pipefail
source "$(dirname "$0")/server.sh"
SIZE_MB=${SIZE_MB:-256}
# The allocator gives back at once what it does not need; without this it waits a moment, and there is more to see.
export MIMALLOC_PURGE_DELAY=0

size=$((SIZE_MB * 1024 * 1024))
head -c "$size" /dev/urandom > "$FOLDER/film"
start
before_kb=$(memory_kb)

cli -x SET film < "$FOLDER/film" > /dev/null
echo "stored: $(($(cli STRLEN film) / 1024 / 1024)) MB"

# A hundred bytes from the middle, without what is around them.
middle=$((size / 2))
cmp <(cli --raw GETRANGE film "$middle" $((middle + 99)) | head -c 100) <(tail -c +$((middle + 1)) "$FOLDER/film" | head -c 100)
echo "a part is read"

printf 'director'"'"'s cut' | cli -x SETRANGE film "$middle" > /dev/null
printf 'director'"'"'s cut' | dd of="$FOLDER/film" bs=1 seek="$middle" conv=notrunc status=none
echo "a part is changed"

cmp <(cli --raw GET film | head -c "$size") "$FOLDER/film"
echo "all of it is read"
grown_mb=$((($(memory_kb) - before_kb) / 1024))
if [ "$grown_mb" -lt 16 ]; then echo "the server's memory grew by less than 16 MB"; else echo "the server's memory grew by $grown_mb MB"; fi

kill_9
start
cmp <(cli --raw GET film | head -c "$size") "$FOLDER/film"
echo "all of it is there after kill -9"
