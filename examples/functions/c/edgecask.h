/* Functions for EdgeCask in C: the imports of edgecask_1, and a few helpers. docs/functions.md describes them.
 *
 *   clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -o take.wasm take.c
 *
 * There is no C library: what is here needs none. */
#ifndef EDGECASK_H
#define EDGECASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes in the memory of the guest. */
typedef struct {
  const void *at;
  size_t length;
} edgecask_span;

/* The first byte of every value. */
enum edgecask_kind {
  EDGECASK_NIL = 0,
  EDGECASK_INTEGER = 1,
  EDGECASK_BULK = 2,
  EDGECASK_STATUS = 3,
  EDGECASK_ERROR = 4,
  EDGECASK_DOUBLE = 5,
  EDGECASK_BOOLEAN = 6,
  EDGECASK_ARRAY = 7,
  EDGECASK_MAP = 8,
  EDGECASK_SET = 9,
  EDGECASK_NUMBER = 10,
  EDGECASK_TEXT = 11,
};

enum edgecask_flags {
  EDGECASK_NO_WRITES = 1,
  EDGECASK_ALLOW_OOM = 2,
  EDGECASK_ALLOW_STALE = 4,
  EDGECASK_NO_CLUSTER = 8,
  EDGECASK_ALLOW_CROSS_SLOT_KEYS = 16,
  EDGECASK_DETERMINISTIC = 32,
};

enum edgecask_level { EDGECASK_DEBUG = 0, EDGECASK_VERBOSE = 1, EDGECASK_NOTICE = 2, EDGECASK_WARNING = 3 };

#define EDGECASK_IMPORT(name) __attribute__((import_module("edgecask_1"), import_name(#name)))

/* Makes a function visible to the host: EDGECASK_EXPORT(take) void take(void) { … } */
#define EDGECASK_EXPORT(name) __attribute__((export_name(#name)))

/* No key or argument has this index. */
#define EDGECASK_NONE UINT32_MAX

EDGECASK_IMPORT(register)
void edgecask_register(const char *name, size_t name_length, const char *text, size_t text_length, uint32_t flags);
EDGECASK_IMPORT(key_count) uint32_t edgecask_key_count(void);
EDGECASK_IMPORT(key) uint32_t edgecask_key(uint32_t index, void *into, size_t capacity);
EDGECASK_IMPORT(argument_count) uint32_t edgecask_argument_count(void);
EDGECASK_IMPORT(argument) uint32_t edgecask_argument(uint32_t index, void *into, size_t capacity);
EDGECASK_IMPORT(call)
uint32_t edgecask_call(const edgecask_span *arguments, uint32_t count, void *into, size_t capacity);
EDGECASK_IMPORT(reply) uint32_t edgecask_reply(size_t offset, void *into, size_t capacity);
EDGECASK_IMPORT(may_call) int32_t edgecask_may_call(const edgecask_span *arguments, uint32_t count);
EDGECASK_IMPORT(answer) void edgecask_answer(const void *value, size_t length);
EDGECASK_IMPORT(answer_integer) void edgecask_answer_integer(int64_t value);
EDGECASK_IMPORT(answer_bulk) void edgecask_answer_bulk(const void *text, size_t length);
EDGECASK_IMPORT(answer_status) void edgecask_answer_status(const char *text, size_t length);
EDGECASK_IMPORT(answer_reply) void edgecask_answer_reply(void);
EDGECASK_IMPORT(fail) _Noreturn void edgecask_fail(const char *text, size_t length);
EDGECASK_IMPORT(log) void edgecask_log(uint32_t level, const char *text, size_t length);
EDGECASK_IMPORT(time) int64_t edgecask_time(void);
EDGECASK_IMPORT(random) int64_t edgecask_random(void);

/* A text in quotes and its length, as two arguments. */
#define EDGECASK_LITERAL(text) (text), (sizeof(text) - 1)
#define EDGECASK_SPAN(text) ((edgecask_span){(text), sizeof(text) - 1})

/* Answers the beginning of an array, map or set; its values are answered next. */
static inline void edgecask_answer_many(enum edgecask_kind kind, uint32_t count) {
  unsigned char header[5] = {(unsigned char)kind, count & 255, count >> 8 & 255, count >> 16 & 255, count >> 24};
  edgecask_answer(header, sizeof header);
}

static inline void edgecask_answer_boolean(bool value) {
  unsigned char bytes[2] = {EDGECASK_BOOLEAN, value};
  edgecask_answer(bytes, sizeof bytes);
}

static inline void edgecask_answer_nil(void) {
  unsigned char kind = EDGECASK_NIL;
  edgecask_answer(&kind, 1);
}

static inline void edgecask_answer_double(double value) {
  unsigned char bytes[9] = {EDGECASK_DOUBLE};
  __builtin_memcpy(bytes + 1, &value, sizeof value);
  edgecask_answer(bytes, sizeof bytes);
}

/* The integer in a reply of this kind, read from where the reply lies. */
static inline int64_t edgecask_integer(const void *reply) {
  int64_t value;
  __builtin_memcpy(&value, (const unsigned char *)reply + 1, sizeof value);
  return value;
}

#endif
