/* The libraries that are written in Rust (cjson, cmsgpack, struct, redis.sha1hex): arguments go over as flat bytes, results
 * come back as flat bytes. */
#include "state.h"

#include <string.h>

/* The numbers are those of `Function` in src/library.rs. */
enum {
  SHA1HEX,
  JSON_ENCODE,
  JSON_DECODE,
  JSON_SPARSE_ARRAY,
  JSON_ENCODE_DEPTH,
  JSON_DECODE_DEPTH,
  JSON_PRECISION,
  JSON_KEEP_BUFFER,
  JSON_ENCODE_INVALID,
  JSON_DECODE_INVALID,
  PACK,
  UNPACK,
  UNPACK_ONE,
  UNPACK_LIMIT,
  STRUCT_PACK,
  STRUCT_UNPACK,
  STRUCT_SIZE
};

/* Settings of one cjson, which Rust reads and writes. The first four bytes are the depth to which values are walked; all zero
 * stands for the defaults. */
#define SETTINGS 32
#define JSON_DEPTH 1000
#define MESSAGE_PACK_DEPTH 16

static int depth_of(int function, const uint8_t *settings) {
  uint32_t depth;
  switch (function) {
    case JSON_ENCODE:
      memcpy(&depth, settings, 4);
      return depth == 0 ? JSON_DEPTH : depth > EC_DEPTH_MAX ? EC_DEPTH_MAX : (int)depth;
    case PACK: return MESSAGE_PACK_DEPTH;
    default: return 0;
  }
}

static int in_rust(lua_State *L) {
  struct ec *s = EC(L);
  int function = (int)lua_tointeger(L, lua_upvalueindex(1)), count = lua_gettop(L), argument = 1;
  uint8_t *settings = lua_touserdata(L, lua_upvalueindex(2));
  size_t settings_len = settings ? SETTINGS : 0;
  struct ec_bytes in, out = {NULL, 0};
  ec_flat_reset(s);
  for (int i = 1; i <= count; i++) ec_flatten(L, i, depth_of(function, settings));
  in.at = s->flat;
  in.len = s->flat_len;
  switch (s->calls->library(s->host, function, settings, settings_len, in, &out, &argument)) {
    case EC_VALUE: lua_settop(L, 0); return ec_push(L, out);
    case EC_ERROR:
      luaL_where(L, 1);
      lua_pushlstring(L, (const char *)out.at, out.len);
      lua_concat(L, 2);
      return lua_error(L);
    case EC_ARGUMENT:
      lua_pushlstring(L, (const char *)out.at, out.len);
      return luaL_argerror(L, argument, lua_tostring(L, -1));
    case EC_BARE: lua_pushlstring(L, (const char *)out.at, out.len); return lua_error(L);
    case EC_REDIS: ec_push_error(L, (const char *)out.at, out.len); return lua_error(L);
    default: ec_kill(L);
  }
}

/* Expects the settings, or nil, on top and takes them. */
static void push_with_settings(lua_State *L, int function) {
  lua_pushinteger(L, function);
  lua_insert(L, -2);
  lua_pushcclosure(L, in_rust, 2);
}

void ec_push_function(lua_State *L, int function) {
  lua_pushnil(L);
  push_with_settings(L, function);
}

struct entry {
  const char *name;
  int function;
};

static const struct entry json[] = {{"encode", JSON_ENCODE},
                                    {"decode", JSON_DECODE},
                                    {"encode_sparse_array", JSON_SPARSE_ARRAY},
                                    {"encode_max_depth", JSON_ENCODE_DEPTH},
                                    {"decode_max_depth", JSON_DECODE_DEPTH},
                                    {"encode_number_precision", JSON_PRECISION},
                                    {"encode_keep_buffer", JSON_KEEP_BUFFER},
                                    {"encode_invalid_numbers", JSON_ENCODE_INVALID},
                                    {"decode_invalid_numbers", JSON_DECODE_INVALID},
                                    {NULL, 0}};
static const struct entry message_pack[] = {
    {"pack", PACK}, {"unpack", UNPACK}, {"unpack_one", UNPACK_ONE}, {"unpack_limit", UNPACK_LIMIT}, {NULL, 0}};
static const struct entry structure[] = {
    {"pack", STRUCT_PACK}, {"unpack", STRUCT_UNPACK}, {"size", STRUCT_SIZE}, {NULL, 0}};

static void set_field(lua_State *L, const char *name, const char *value) {
  lua_pushstring(L, value);
  lua_setfield(L, -2, name);
}

static int new_json(lua_State *L);

/* Pushes a cjson with settings of its own and, below it, the settings. */
static void push_json(lua_State *L) {
  memset(lua_newuserdata(L, SETTINGS), 0, SETTINGS);
  lua_newtable(L);
  for (const struct entry *e = json; e->name; e++) {
    lua_pushvalue(L, -2);
    push_with_settings(L, e->function);
    lua_setfield(L, -2, e->name);
  }
  lua_pushcfunction(L, new_json);
  lua_setfield(L, -2, "new");
  lua_pushlightuserdata(L, NULL);
  lua_setfield(L, -2, "null");
  set_field(L, "_NAME", "cjson");
  set_field(L, "_VERSION", "2.1.0");
}

static int new_json(lua_State *L) {
  push_json(L);
  return 1;
}

static void open(lua_State *L, const struct entry *entries) {
  lua_newtable(L);
  for (const struct entry *e = entries; e->name; e++) {
    ec_push_function(L, e->function);
    lua_setfield(L, -2, e->name);
  }
}

void ec_reset_settings(lua_State *L) {
  memset(EC(L)->settings, 0, SETTINGS);
}

void ec_open_libraries(lua_State *L) {
  push_json(L);
  lua_setglobal(L, "cjson");
  EC(L)->settings = lua_touserdata(L, -1); /* it stays as long as the functions that have it as an upvalue */
  lua_pop(L, 1);
  open(L, message_pack);
  set_field(L, "_NAME", "cmsgpack");
  set_field(L, "_VERSION", "lua-cmsgpack 0.4.0");
  set_field(L, "_COPYRIGHT", "Copyright (C) 2012, Salvatore Sanfilippo");
  set_field(L, "_DESCRIPTION", "MessagePack C implementation for Lua");
  lua_setglobal(L, "cmsgpack");
  open(L, structure);
  lua_setglobal(L, "struct");
}
