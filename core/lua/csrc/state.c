/* An interpreter with Redis' sandbox: how it is made, and how scripts run in it. Whatever may raise runs under luaD_pcall. */
#include "state.h"

#include <math.h>
#include <string.h>

/* Garbage beyond so many bytes is collected bit by bit after each run; beyond the second number where there is time for it. */
#define GARBAGE_BYTES (4 * 1024 * 1024)
#define LITTLE_GARBAGE_BYTES (256 * 1024)

/* Kilobytes that one step of the collection goes over. */
#define COLLECTED_KB 512

static void *allocate(void *ud, void *block, size_t old_size, size_t new_size) {
  struct ec *s = ud;
  return s->calls->allocate(s->host, block, old_size, new_size);
}

/* ---- steps and kills ---- */

/* True if the run is to end. */
static int tick(lua_State *L) {
  struct ec *s = EC(L);
  global_State *g = G(L);
  uint64_t steps = (uint64_t)(EC_TICK_STEPS - g->stepsleft);
  g->stepsleft = EC_TICK_STEPS;
  return s->running && !g->killed && s->calls->tick(s->host, steps) == EC_KILL;
}

static void hook(lua_State *L, lua_Debug *ar) {
  (void)ar;
  luai_work(L, EC_HOOK_COUNT);
}

int ec_kill(lua_State *L) {
  struct ec *s = EC(L);
  lua_Debug ar;
  s->killed_line = 0;
  for (int level = 0; level < 8 && lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "Sl", &ar);
    if (ar.currentline > 0) {
      s->killed_line = ar.currentline;
      strncpy(s->killed_source, ar.source, sizeof s->killed_source - 1);
      break;
    }
  }
  lua_kill(L);
  for (;;) {
  } /* not reached */
}

/* ---- the sandbox ---- */

/* As Redis: an error is a table with the text, and the place where it was raised or the call of C that raised it. */
static int error_handler(lua_State *L) {
  lua_Debug ar;
  int has_place = lua_getstack(L, 1, &ar);
  lua_settop(L, 1);
  if (has_place) {
    lua_getinfo(L, "nSl", &ar);
    if (ar.what[0] == 'C') {
      has_place = lua_getstack(L, 2, &ar);
      if (has_place) lua_getinfo(L, "nSl", &ar);
    }
  }
  if (!lua_istable(L, 1)) {
    lua_newtable(L);
    lua_pushliteral(L, "err");
    lua_pushliteral(L, "ERR ");
    lua_rawgeti(L, LUA_REGISTRYINDEX, EC(L)->tostring);
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    if (!lua_isstring(L, -1)) {
      lua_pop(L, 1);
      lua_pushstring(L, lua_typename(L, lua_type(L, 1)));
    }
    lua_concat(L, 2);
    lua_rawset(L, 2);
    lua_replace(L, 1);
  }
  if (has_place && !lua_isreadonly(L, 1)) {
    lua_pushliteral(L, "source");
    lua_pushstring(L, ar.source);
    lua_rawset(L, 1);
    lua_pushliteral(L, "line");
    lua_pushinteger(L, ar.currentline);
    lua_rawset(L, 1);
  }
  return 1;
}

static int no_such_global(lua_State *L) {
  if (lua_gettop(L) != 2) return luaL_error(L, "Wrong number of arguments to luaProtectedTableError");
  if (!lua_isstring(L, 2)) return luaL_error(L, "Second argument to luaProtectedTableError must be a string or number");
  return luaL_error(L, "Script attempted to access nonexistent global variable '%s'", lua_tostring(L, 2));
}

/* Gives the table on top a metatable that refuses names it does not have. */
static void refuse_unknown(lua_State *L) {
  lua_newtable(L);
  lua_pushcfunction(L, no_such_global);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
}

/* Makes the table on top readonly, with its metatable and the tables in it. These are the sandbox's own, a few levels deep. */
static void protect(lua_State *L) {
  if (lua_isreadonly(L, -1)) return;
  lua_setreadonly(L, -1, 1);
  luaL_checkstack(L, 4, "too many nested tables");
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    if (lua_istable(L, -1)) protect(L);
    lua_pop(L, 1);
  }
  if (lua_getmetatable(L, -1)) {
    protect(L);
    lua_pop(L, 1);
  }
}

/* An error that is a table with a text is the text alone, as it was before Redis 7. */
static int text_pcall(lua_State *L) {
  if (lua_gettop(L) == 0) {
    /* Redis calls the place where the outcome is to stand. */
    lua_pushboolean(L, 0);
    lua_pushliteral(L, "attempt to call a boolean value");
    return 2;
  }
  if (lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0) == 0) {
    lua_pushboolean(L, 1);
    lua_insert(L, 1);
    return lua_gettop(L);
  }
  if (lua_istable(L, -1)) {
    lua_getfield(L, -1, "err");
    if (lua_isstring(L, -1))
      lua_replace(L, -2);
    else
      lua_pop(L, 1);
  }
  lua_pushboolean(L, 0);
  lua_insert(L, -2);
  return 2;
}

/* Redis' numbers, the same everywhere: drand48's sequence, of which 31 bits are taken. */
static uint32_t next_random(struct ec *s) {
  s->random = (s->random * 0x5DEECE66Dull + 0xB) & 0xFFFFFFFFFFFFull;
  return (uint32_t)(s->random >> 17);
}

static void seed(struct ec *s, int32_t value) { s->random = (uint64_t)(uint32_t)value << 16 | 0x330E; }

static int math_random(lua_State *L) {
  struct ec *s = EC(L);
  double part;
  if (!s->running) return luaL_error(L, "math.random can only be called inside a script invocation");
  part = (double)(next_random(s) % INT32_MAX) / (double)INT32_MAX;
  switch (lua_gettop(L)) {
    case 0: lua_pushnumber(L, part); return 1;
    case 1: {
      int upper = luaL_checkint(L, 1);
      luaL_argcheck(L, 1 <= upper, 1, "interval is empty");
      lua_pushnumber(L, floor(part * upper) + 1);
      return 1;
    }
    case 2: {
      int lower = luaL_checkint(L, 1), upper = luaL_checkint(L, 2);
      luaL_argcheck(L, lower <= upper, 2, "interval is empty");
      lua_pushnumber(L, floor(part * ((double)upper - lower + 1)) + lower);
      return 1;
    }
    default: return luaL_error(L, "wrong number of arguments");
  }
}

static int math_randomseed(lua_State *L) {
  struct ec *s = EC(L);
  if (!s->running) return luaL_error(L, "math.randomseed can only be called inside a script invocation");
  seed(s, luaL_checkint(L, 1));
  return 0;
}

static int os_clock(lua_State *L) {
  struct ec *s = EC(L);
  double seconds = 0;
  if (s->running && s->calls->clock(s->host, &seconds) == EC_KILL) ec_kill(L);
  lua_pushnumber(L, seconds);
  return 1;
}

static void forget(lua_State *L, const char *name) {
  lua_pushnil(L);
  lua_setglobal(L, name);
}

static void set_function(lua_State *L, const char *table, const char *name, lua_CFunction function) {
  lua_getglobal(L, table);
  lua_pushcfunction(L, function);
  lua_setfield(L, -2, name);
  lua_pop(L, 1);
}

/* Scripts of libraries get a table of globals that is empty; what they find stands behind it and is changed for the time while
 * a library's body runs. */
static void hide_globals(lua_State *L, const struct ec_options *options) {
  struct ec *s = EC(L);
  ec_push_library_api(L, options);
  lua_getfield(L, -1, "redis");
  refuse_unknown(L);
  lua_pop(L, 1);
  refuse_unknown(L);
  protect(L);
  s->library_api = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_pushvalue(L, LUA_GLOBALSINDEX);
  s->globals = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_newtable(L);
  lua_newtable(L);
  lua_pushvalue(L, LUA_GLOBALSINDEX);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_setreadonly(L, -1, 1);
  lua_replace(L, LUA_GLOBALSINDEX);
}

static void open(lua_State *L, lua_CFunction library, const char *name) {
  lua_pushcfunction(L, library);
  lua_pushstring(L, name);
  lua_call(L, 1, 0);
}

/* What scripts of EVAL find their keys and arguments in. */
static const char *const array_names[] = {"KEYS", "ARGV"};

static int make_sandbox(lua_State *L) {
  const struct ec_options *options = lua_touserdata(L, 1);
  struct ec *s = EC(L);
  lua_settop(L, 0);
  open(L, luaopen_base, "");
  open(L, luaopen_table, LUA_TABLIBNAME);
  open(L, luaopen_string, LUA_STRLIBNAME);
  open(L, luaopen_math, LUA_MATHLIBNAME);
  ec_open_libraries(L);
  ec_open_bit(L);
  ec_open_redis(L, options);
  lua_pushcfunction(L, text_pcall);
  lua_setglobal(L, "pcall");
  set_function(L, "math", "random", math_random);
  set_function(L, "math", "randomseed", math_randomseed);
  lua_newtable(L);
  lua_setglobal(L, "os");
  set_function(L, "os", "clock", os_clock);
  /* Redis' recent patch releases took these away; with them a script reaches tables that are not its own. */
  forget(L, "getfenv");
  forget(L, "setfenv");
  if (!options->with_newproxy) forget(L, "newproxy");
  lua_getglobal(L, "tostring");
  s->tostring = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_pushcfunction(L, error_handler);
  s->error_handler = luaL_ref(L, LUA_REGISTRYINDEX);
  if (options->environment == EC_EVAL) {
    lua_pushcfunction(L, error_handler);
    lua_setglobal(L, "__redis__err__handler");
    /* The slots are there before the first run. */
    for (int i = 0; i < 2; i++) {
      lua_newtable(L);
      s->no_node = ((Table *)lua_topointer(L, -1))->node;
      lua_pushvalue(L, -1);
      s->arrays[i] = luaL_ref(L, LUA_REGISTRYINDEX);
      lua_setglobal(L, array_names[i]);
    }
  }
  lua_pushvalue(L, LUA_GLOBALSINDEX);
  refuse_unknown(L);
  protect(L);
  lua_pop(L, 1);
  lua_pushliteral(L, "");
  if (lua_getmetatable(L, -1)) protect(L);
  lua_settop(L, 0);
  if (options->environment == EC_FUNCTIONS) hide_globals(L, options);
  lua_sethook(L, hook, LUA_MASKCOUNT, EC_HOOK_COUNT);
  lua_gc(L, LUA_GCCOLLECT, 0);
  s->floor = G(L)->totalbytes;
  return 0;
}

struct ec *ec_new(const struct ec_calls *calls, void *host, const struct ec_options *options) {
  struct ec *s = calls->allocate(host, NULL, 0, sizeof *s);
  if (s == NULL) return NULL;
  memset(s, 0, sizeof *s);
  s->calls = calls;
  s->host = host;
  s->environment = options->environment;
  s->L = lua_newstate(allocate, s);
  if (s->L != NULL) {
    G(s->L)->tick = tick;
    G(s->L)->kill = ec_kill;
    if (lua_cpcall(s->L, make_sandbox, (void *)options) == 0) return s;
  }
  ec_free(s);
  return NULL;
}

void ec_free(struct ec *s) {
  if (s->L) {
    luaM_realloc_(s->L, s->flat, s->flat_size, 0);
    luaM_realloc_(s->L, s->frames, s->frame_count * sizeof(struct ec_frame), 0);
    lua_close(s->L);
  }
  s->calls->allocate(s->host, s, sizeof *s, 0);
}

uint64_t ec_memory(struct ec *s) { return G(s->L)->totalbytes; }

/* ---- runs ---- */

struct work {
  struct ec *s;
  struct ec_bytes source;
  const struct ec_run *run;
  int32_t script;
  int is_syntax;
};

static void collect(lua_State *L, void *ud) {
  struct ec *s = ud;
  if (lua_gc(L, LUA_GCSTEP, COLLECTED_KB) && --s->cycles == 0) s->floor = G(L)->totalbytes;
}

static void collect_step(struct ec *s) {
  if (luaD_pcall(s->L, collect, s, savestack(s->L, s->L->top), 0) != 0) lua_settop(s->L, 0);
}

int ec_collect(struct ec *s) {
  if (s->cycles == 0 && G(s->L)->totalbytes > s->floor + LITTLE_GARBAGE_BYTES) s->cycles = 2;
  if (s->cycles > 0) collect_step(s);
  return s->cycles > 0;
}

static void give_error(lua_State *L, void *ud) {
  static const char *const names[] = {"err", "source", "line", "ignore_error_stats_update"};
  struct ec *s = ud;
  ec_flat_reset(s);
  for (int i = 0; i < 4; i++) {
    lua_pushstring(L, names[i]);
    lua_rawget(L, 1);
    ec_flatten(L, -1, 0);
    lua_pop(L, 1);
  }
}

static void give_text(lua_State *L, void *ud) {
  ec_flat_reset(ud);
  ec_flatten(L, 1, 0);
}

static void begin(struct ec *s, int running, uint64_t memory_bytes) {
  global_State *g = G(s->L);
  lu_mem free = MAX_LUMEM - g->totalbytes;
  s->running = running;
  g->limit = memory_bytes < free ? g->totalbytes + (lu_mem)memory_bytes : MAX_LUMEM;
  g->stepsleft = EC_TICK_STEPS;
  g->gcpause = LUAI_GCPAUSE;
  g->gcstepmul = LUAI_GCMUL;
  /* A script may have stopped the collector, or the limit of the last run may have put it off. */
  if (g->GCthreshold > g->limit) g->GCthreshold = g->totalbytes;
  ec_reset_settings(s->L);
}

/* Ends a run: says how it went, with flat bytes, and clears the stack. */
static int end(struct ec *s, int status, int is_syntax, struct ec_bytes *out) {
  lua_State *L = s->L;
  global_State *g = G(L);
  int answer = EC_DONE;
  s->running = 0;
  g->killed = 0;
  g->limit = MAX_LUMEM;
  if (status == LUA_ERRKILL) {
    answer = EC_KILLED;
  } else if (status != 0) {
    int is_table = lua_istable(L, 1);
    answer = is_table ? EC_FAILED : is_syntax ? EC_SYNTAX : EC_PLAIN;
    if (luaD_pcall(L, is_table ? give_error : give_text, s, savestack(L, L->top), 0) != 0) answer = EC_KILLED;
  }
  lua_settop(L, 0);
  if (g->totalbytes > s->floor + GARBAGE_BYTES) s->cycles = 2;
  if (s->cycles > 0) collect_step(s);
  out->at = s->flat;
  out->len = answer == EC_KILLED ? 0 : s->flat_len;
  return answer;
}

static int protect_call(struct ec *s, Pfunc body, void *ud) {
  lua_State *L = s->L;
  lua_settop(L, 0);
  return luaD_pcall(L, body, ud, savestack(L, L->top), 0);
}

static void compile(lua_State *L, void *ud) {
  struct work *w = ud;
  int status = luaL_loadbuffer(L, (const char *)w->source.at, w->source.len, "@user_script");
  if (status != 0) {
    w->is_syntax = status == LUA_ERRSYNTAX;
    luaD_throw(L, status == LUA_ERRSYNTAX ? LUA_ERRRUN : status);
  }
  w->script = luaL_ref(L, LUA_REGISTRYINDEX);
}

int ec_compile(struct ec *s, struct ec_bytes source, uint64_t memory_bytes, int32_t *script, struct ec_bytes *out) {
  struct work w = {s, source, NULL, LUA_NOREF, 0};
  int status;
  begin(s, 1, memory_bytes);
  ec_flat_reset(s);
  status = protect_call(s, compile, &w);
  *script = w.script;
  return end(s, status, w.is_syntax, out);
}

/* Puts the strings into the table on top. */
static void fill(lua_State *L, const struct ec_bytes *strings, size_t count) {
  for (size_t i = 0; i < count; i++) {
    lua_pushlstring(L, (const char *)strings[i].at, strings[i].len);
    lua_rawseti(L, -2, (int)i + 1);
  }
}

static void push_array(lua_State *L, const struct ec_bytes *strings, size_t count) {
  lua_createtable(L, count < INT32_MAX ? (int)count : INT32_MAX, 0);
  fill(L, strings, count);
}

/* Sets KEYS or ARGV. The table of the run before is used again if it is as a new one would be: then nothing can tell the two
 * apart, since nothing of a script outlives its run that could refer to it. Otherwise a new one takes its place. */
static void set_array(lua_State *L, int which, const struct ec_bytes *strings, size_t count) {
  struct ec *s = EC(L);
  const Table *t;
  lua_rawgeti(L, LUA_REGISTRYINDEX, s->arrays[which]);
  t = lua_topointer(L, -1);
  if (t->metatable == NULL && t->node == s->no_node && (size_t)t->sizearray == count) {
    fill(L, strings, count);
    lua_pop(L, 1);
    return;
  }
  lua_pop(L, 1);
  push_array(L, strings, count);
  lua_pushstring(L, array_names[which]);
  lua_pushvalue(L, -2);
  /* Nothing from here on allocates, so the globals are readonly again whatever happens, and both places have the same table. */
  lua_setreadonly(L, LUA_GLOBALSINDEX, 0);
  lua_rawset(L, LUA_GLOBALSINDEX);
  lua_setreadonly(L, LUA_GLOBALSINDEX, 1);
  lua_rawseti(L, LUA_REGISTRYINDEX, s->arrays[which]);
}

static void run(lua_State *L, void *ud) {
  struct work *w = ud;
  struct ec *s = w->s;
  int arguments = 0;
  lua_rawgeti(L, LUA_REGISTRYINDEX, s->error_handler);
  if (s->environment == EC_EVAL) {
    set_array(L, 0, w->run->keys, w->run->key_count);
    set_array(L, 1, w->run->arguments, w->run->argument_count);
    lua_rawgeti(L, LUA_REGISTRYINDEX, w->script);
  } else {
    lua_rawgeti(L, LUA_REGISTRYINDEX, w->script);
    push_array(L, w->run->keys, w->run->key_count);
    push_array(L, w->run->arguments, w->run->argument_count);
    arguments = 2;
  }
  L->errfunc = savestack(L, L->base);
  lua_call(L, arguments, 1);
  L->errfunc = 0;
  ec_flat_reset(s);
  ec_flatten(L, -1, EC_RESULT_DEPTH);
}

int ec_call(struct ec *s, int32_t script, const struct ec_run *call, struct ec_bytes *out) {
  struct work w = {s, {NULL, 0}, call, script, 0};
  begin(s, 1, call->memory_bytes);
  seed(s, call->seed);
  return end(s, protect_call(s, run, &w), 0, out);
}

static void show_behind_globals(lua_State *L, void *ud) {
  int ref = *(int *)ud;
  lua_getmetatable(L, LUA_GLOBALSINDEX);
  lua_pushliteral(L, "__index");
  lua_rawgeti(L, LUA_REGISTRYINDEX, ref);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

static void load(lua_State *L, void *ud) {
  struct work *w = ud;
  struct ec *s = w->s;
  int status;
  show_behind_globals(L, &s->library_api);
  lua_rawgeti(L, LUA_REGISTRYINDEX, s->error_handler);
  status = luaL_loadbuffer(L, (const char *)w->source.at, w->source.len, "@user_function");
  if (status != 0) {
    w->is_syntax = status == LUA_ERRSYNTAX;
    luaD_throw(L, status == LUA_ERRSYNTAX ? LUA_ERRRUN : status);
  }
  L->errfunc = savestack(L, L->base);
  lua_call(L, 0, 0);
  L->errfunc = 0;
}

int ec_load(struct ec *s, struct ec_bytes source, uint64_t memory_bytes, struct ec_bytes *out) {
  struct work w = {s, source, NULL, LUA_NOREF, 0};
  lua_State *L = s->L;
  int status;
  begin(s, 2, memory_bytes);
  ec_flat_reset(s);
  status = protect_call(s, load, &w);
  s->running = 0;
  G(L)->killed = 0;
  G(L)->limit = MAX_LUMEM;
  if (luaD_pcall(L, show_behind_globals, &s->globals, savestack(L, L->top), 0) != 0) lua_settop(L, 1);
  return end(s, status, w.is_syntax, out);
}

static void drop(lua_State *L, void *ud) { luaL_unref(L, LUA_REGISTRYINDEX, *(int32_t *)ud); }

void ec_drop(struct ec *s, int32_t script) {
  if (luaD_pcall(s->L, drop, &script, savestack(s->L, s->L->top), 0) != 0) lua_settop(s->L, 0);
}

void ec_killed_at(struct ec *s, struct ec_place *place) {
  memcpy(place->source, s->killed_source, sizeof place->source);
  place->line = s->killed_line;
}
