/* The border between C and Rust: plain bytes, numbers and pointers. src/ffi.rs has the same declarations in Rust; the two
 * must say the same. No error of Lua ever passes a frame of Rust, since Rust never calls Lua's API, and no panic passes a frame
 * of C. */
#ifndef EDGECASK_BORDER_H
#define EDGECASK_BORDER_H

#include <stddef.h>
#include <stdint.h>

/* What Rust answers. */
enum {
  EC_VALUE = 0,    /* flat bytes, or nothing to say */
  EC_ERROR = 1,    /* a text: the error of a command, or of a library with the place of the call */
  EC_KILL = 2,     /* end the run; nothing catches it */
  EC_ARGUMENT = 3, /* a library's error on one of its arguments */
  EC_REDIS = 4,    /* a library's error in the shape of redis.call's */
  EC_BARE = 5      /* a library's error without the place of the call */
};

struct ec_bytes {
  const uint8_t *at;
  size_t len;
};

/* An argument of a command: bytes, or a number where `at` is NULL. */
struct ec_argument {
  const uint8_t *at;
  size_t len;
  double number;
};

struct ec_function {
  struct ec_bytes name;
  struct ec_bytes description; /* NULL if there is none */
  const struct ec_bytes *flags;
  size_t flag_count;
  int32_t id;
};

/* What C calls of Rust. `host` is what ec_new got; bytes that come back stay until the next call. */
struct ec_calls {
  int (*call)(void *host, const struct ec_argument *arguments, size_t count, struct ec_bytes *reply);
  int (*may_call)(void *host, const struct ec_argument *arguments, size_t count, int *answer);
  int (*log)(void *host, int level, struct ec_bytes text);
  int (*set_protocol)(void *host, int version);
  int (*register_function)(void *host, const struct ec_function *function, struct ec_bytes *error);
  int (*tick)(void *host, uint64_t steps);
  int (*clock)(void *host, double *seconds);
  int (*library)(void *host, int function, uint8_t *settings, size_t settings_len, struct ec_bytes arguments,
                 struct ec_bytes *results, int *argument);
  void *(*allocate)(void *host, void *block, size_t old_size, size_t new_size);
};

/* Where a run was killed. */
struct ec_place {
  char source[64];
  int line; /* 0 if unknown */
};

enum { EC_EVAL = 0, EC_FUNCTIONS = 1 };

/* How a call of the interpreter ended. */
enum {
  EC_DONE = 0,   /* flat bytes */
  EC_FAILED = 1, /* flat bytes: what was raised */
  EC_KILLED = 2, /* nothing */
  EC_PLAIN = 3,  /* flat bytes: a text, the interpreter gave up */
  EC_SYNTAX = 4  /* flat bytes: a text of the compiler */
};

struct ec_run {
  const struct ec_bytes *keys;
  size_t key_count;
  const struct ec_bytes *arguments;
  size_t argument_count;
  uint64_t memory_bytes;
  int32_t seed;
};

struct ec;

struct ec_options {
  int environment;
  int with_newproxy; /* for the test of finalizers */
  const char *version;
  uint32_t version_number;
};

/* NULL if there is no memory. */
struct ec *ec_new(const struct ec_calls *calls, void *host, const struct ec_options *options);
void ec_free(struct ec *state);

/* Compiles; *script is what ec_call takes. */
int ec_compile(struct ec *state, struct ec_bytes source, uint64_t memory_bytes, int32_t *script, struct ec_bytes *out);
int ec_load(struct ec *state, struct ec_bytes source, uint64_t memory_bytes, struct ec_bytes *out);
int ec_call(struct ec *state, int32_t script, const struct ec_run *run, struct ec_bytes *out);
void ec_drop(struct ec *state, int32_t script);
void ec_killed_at(struct ec *state, struct ec_place *place);

/* One step of garbage collection, about a millisecond at most; 1 if there is more to do. */
int ec_collect(struct ec *state);
uint64_t ec_memory(struct ec *state);

#endif
