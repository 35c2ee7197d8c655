/* The function `take` in C: a counter that allows so many calls in a time.
 *
 *   FCALL take 1 KEY LIMIT WINDOW_MS   =>   [whether it is allowed, how many are left] */
#include "edgecask.h"

/* A number in decimal digits; ends the function if it is none. */
static int64_t number(const char *text, uint32_t length) {
  int64_t number = 0;
  if (length == 0 || length > 15) edgecask_fail(EDGECASK_LITERAL("ERR wrong arguments: KEY LIMIT WINDOW_MS"));
  for (uint32_t i = 0; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') edgecask_fail(EDGECASK_LITERAL("ERR wrong arguments: KEY LIMIT WINDOW_MS"));
    number = number * 10 + (text[i] - '0');
  }
  return number;
}

EDGECASK_EXPORT(take) void take(void) {
  static char key[1024], limit_text[16], window[16];
  static unsigned char reply[64];
  uint32_t key_length = edgecask_key(0, key, sizeof key);
  if (key_length > sizeof key) edgecask_fail(EDGECASK_LITERAL("ERR wrong arguments: KEY LIMIT WINDOW_MS"));
  int64_t limit = number(limit_text, edgecask_argument(0, limit_text, sizeof limit_text));
  uint32_t window_length = edgecask_argument(1, window, sizeof window);
  number(window, window_length);

  edgecask_span incr[] = {EDGECASK_SPAN("INCR"), {key, key_length}};
  edgecask_call(incr, 2, reply, sizeof reply);
  if (reply[0] != EDGECASK_INTEGER) { /* an error of the command */
    edgecask_answer_reply();
    return;
  }
  int64_t count = edgecask_integer(reply);
  if (count == 1) {
    edgecask_span expire[] = {EDGECASK_SPAN("PEXPIRE"), {key, key_length}, {window, window_length}};
    edgecask_call(expire, 3, reply, sizeof reply);
  }
  edgecask_answer_many(EDGECASK_ARRAY, 2);
  edgecask_answer_boolean(count <= limit);
  edgecask_answer_integer(count < limit ? limit - count : 0);
}

EDGECASK_EXPORT(edgecask_load) void load(void) {
  edgecask_register(EDGECASK_LITERAL("take"), EDGECASK_LITERAL("Allows LIMIT calls in WINDOW_MS."), 0);
}
