/* One interpreter: what all files of the shim share. */
#ifndef EDGECASK_STATE_H
#define EDGECASK_STATE_H

#include "border.h"

#include "lua.h"

#include "lauxlib.h"
#include "ldo.h"
#include "lmem.h"
#include "lstate.h"
#include "lualib.h"

/* An open table of a walk. */
struct ec_frame {
  uint64_t items, pairs; /* written, or left to read */
  size_t place;          /* of the header, or the index of the last item read */
  int has_key;
};

struct ec {
  lua_State *L;
  const struct ec_calls *calls;
  void *host;
  int environment;
  int running; /* 0: no script, 1: a script or function, 2: the body of a library */
  uint64_t random;
  int killed_line;
  char killed_source[64];
  /* Refs in the registry. */
  int error_handler, tostring, library_api, globals;
  int arrays[2];       /* KEYS and ARGV */
  const Node *no_node; /* what a table without pairs has in place of them */
  uint8_t *settings; /* of cjson */
  struct ec_frame *frames;
  size_t frame_count;
  uint8_t *flat;
  size_t flat_len, flat_size;
  size_t floor; /* bytes that were allocated when garbage was last collected as a whole */
  int cycles;   /* cycles of the collector that are still to be finished: the one under way began before the garbage was */
};

/* The allocator's argument is the state. */
#define EC(L) ((struct ec *)G(L)->ud)

/* Tables nested so deeply are walked at most: what fits Lua's stack for one function of C, with room to spare. */
#define EC_DEPTH_MAX 2000

/* A value that a script returns is walked so deeply. */
#define EC_RESULT_DEPTH 512

/* Steps between two calls of the host's tick: some ten microseconds. */
#define EC_TICK_STEPS 10000

/* Instructions between two looks at the steps. */
#define EC_HOOK_COUNT 1000

/* flat.c: the two walkers. */
void ec_flat_reset(struct ec *state);
void ec_flatten(lua_State *L, int index, int depth);
/* Pushes all values in the bytes and returns how many. */
int ec_push(lua_State *L, struct ec_bytes flat);

/* Ends the run. */
int ec_kill(lua_State *L) __attribute__((noreturn));

/* redis.c */
void ec_open_redis(lua_State *L, const struct ec_options *options);
void ec_push_library_api(lua_State *L, const struct ec_options *options);
/* Pushes {err='ERR text'}. */
void ec_push_error(lua_State *L, const char *text, size_t len);

/* libraries.c */
void ec_open_libraries(lua_State *L);
void ec_reset_settings(lua_State *L);
/* Pushes a function of Rust's. */
void ec_push_function(lua_State *L, int function);

/* bit.c */
void ec_open_bit(lua_State *L);

#endif
