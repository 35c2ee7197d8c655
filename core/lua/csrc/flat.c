/* The two walkers: from values of Lua to flat bytes and back. core/src/script/value.rs draws the format. Both keep the open
 * tables in an array, not in calls, so that no script decides on the depth of C's stack. */
#include "state.h"

#include <string.h>

enum { NIL, FALSE_, TRUE_, NUMBER, TEXT, TABLE, NUL, TOO_DEEP, OTHER };

#define HEADER 25

/* A buffer larger than this is given back after its use. */
#define KEPT_BYTES (64 * 1024)

void ec_flat_reset(struct ec *s) {
  s->flat_len = 0;
  if (s->flat_size > KEPT_BYTES) {
    luaM_realloc_(s->L, s->flat, s->flat_size, 0);
    s->flat = NULL;
    s->flat_size = 0;
  }
}

static uint8_t *room(lua_State *L, struct ec *s, size_t len) {
  if (len > s->flat_size - s->flat_len) {
    size_t size = s->flat_size ? s->flat_size : 256;
    if (len > (size_t)-1 / 4 - s->flat_len) luaM_toobig(L);
    while (size < s->flat_len + len) size *= 2;
    s->flat = luaM_realloc_(L, s->flat, s->flat_size, size);
    s->flat_size = size;
  }
  s->flat_len += len;
  return s->flat + s->flat_len - len;
}

static struct ec_frame *frame(lua_State *L, struct ec *s, size_t depth) {
  if (depth >= s->frame_count) {
    size_t count = s->frame_count ? s->frame_count * 2 : 16;
    s->frames = luaM_realloc_(L, s->frames, s->frame_count * sizeof(struct ec_frame), count * sizeof(struct ec_frame));
    s->frame_count = count;
  }
  return &s->frames[depth];
}

static void put64(uint8_t *at, uint64_t value) {
  for (int i = 0; i < 8; i++) at[i] = (uint8_t)(value >> (8 * i));
}

static void write_text(lua_State *L, struct ec *s, const char *text, size_t len) {
  uint8_t *at = room(L, s, 9 + len);
  at[0] = TEXT;
  put64(at + 1, len);
  if (!luaE_copy(L, (char *)at + 9, text, len)) ec_kill(L);
}

/* Writes the value on top unless it is a table; true if it is one. */
static int write_scalar(lua_State *L, struct ec *s) {
  switch (lua_type(L, -1)) {
    case LUA_TNIL: *room(L, s, 1) = NIL; return 0;
    case LUA_TBOOLEAN: *room(L, s, 1) = lua_toboolean(L, -1) ? TRUE_ : FALSE_; return 0;
    case LUA_TNUMBER: {
      double number = lua_tonumber(L, -1);
      uint64_t bits;
      uint8_t *at = room(L, s, 9);
      memcpy(&bits, &number, 8);
      at[0] = NUMBER;
      put64(at + 1, bits);
      return 0;
    }
    case LUA_TSTRING: {
      size_t len;
      const char *text = lua_tolstring(L, -1, &len);
      write_text(L, s, text, len);
      return 0;
    }
    case LUA_TTABLE: return 1;
    case LUA_TLIGHTUSERDATA:
      if (lua_touserdata(L, -1) == NULL) {
        *room(L, s, 1) = NUL;
        return 0;
      } /* fall through */
    default: {
      uint8_t *at = room(L, s, 2);
      at[0] = OTHER;
      at[1] = lua_isfunction(L, -1) ? 0 : lua_isthread(L, -1) ? 2 : 1;
      return 0;
    }
  }
}

static void write_header(lua_State *L, struct ec *s, size_t depth) {
  struct ec_frame *f = frame(L, s, depth);
  f->items = f->pairs = 0;
  f->place = s->flat_len;
  memset(room(L, s, HEADER), 0, HEADER);
  s->flat[f->place] = TABLE;
}

/* The first keys that lua_next gives as 1, 2, 3 and so on are items, all others pairs: so the order is kept. A table that is a
 * key is written as an empty one. */
void ec_flatten(lua_State *L, int index, int max_depth) {
  struct ec *s = EC(L);
  size_t depth = 0;
  luaL_checkstack(L, 6, "too many values");
  lua_pushvalue(L, index);
  if (!write_scalar(L, s)) {
    lua_pop(L, 1);
    return;
  }
  if (max_depth == 0) {
    *room(L, s, 1) = TOO_DEEP;
    lua_pop(L, 1);
    return;
  }
  write_header(L, s, depth++);
  lua_pushnil(L);
  while (depth > 0) {
    struct ec_frame *f = &s->frames[depth - 1];
    luai_work(L, 4);
    if (!lua_next(L, -2)) {
      put64(s->flat + f->place + 1, s->flat_len - f->place - HEADER);
      put64(s->flat + f->place + 9, f->items);
      put64(s->flat + f->place + 17, f->pairs);
      lua_pop(L, 1);
      depth--;
      continue;
    }
    if (f->pairs == 0 && lua_type(L, -2) == LUA_TNUMBER && lua_tonumber(L, -2) == (double)(f->items + 1)) {
      f->items++;
    } else {
      f->pairs++;
      lua_pushvalue(L, -2);
      if (write_scalar(L, s)) {
        size_t at = s->flat_len;
        memset(room(L, s, HEADER), 0, HEADER);
        s->flat[at] = TABLE;
      }
      lua_pop(L, 1);
    }
    if (!write_scalar(L, s)) {
      lua_pop(L, 1);
    } else if (depth >= (size_t)max_depth) {
      *room(L, s, 1) = TOO_DEEP;
      lua_pop(L, 1);
    } else {
      luaL_checkstack(L, 6, "too many nested tables");
      write_header(L, s, depth++);
      lua_pushnil(L);
    }
  }
}

static uint64_t get64(const uint8_t *at) {
  uint64_t value = 0;
  for (int i = 0; i < 8; i++) value |= (uint64_t)at[i] << (8 * i);
  return value;
}

/* As many slots as a table has that grew item by item, so that it is walked in the same order. */
static int slots(uint64_t items, size_t left) {
  uint64_t slots = 1;
  if (items == 0) return 0;
  if (items > left) items = left;
  while (slots < items) slots *= 2;
  return slots > (1u << 24) ? (1 << 24) : (int)slots;
}

int ec_push(lua_State *L, struct ec_bytes flat) {
  struct ec *s = EC(L);
  const uint8_t *at = flat.at, *end = flat.at + flat.len;
  size_t depth = 0;
  int count = 0;
  while (at < end) {
    size_t left = (size_t)(end - at) - 1;
    luaL_checkstack(L, 4, "too many values");
    luai_work(L, 2);
    switch (*at++) {
      case NIL: lua_pushnil(L); break;
      case FALSE_: lua_pushboolean(L, 0); break;
      case TRUE_: lua_pushboolean(L, 1); break;
      case NUL: lua_pushlightuserdata(L, NULL); break;
      case NUMBER: {
        uint64_t bits;
        double number;
        if (left < 8) goto damaged;
        bits = get64(at);
        memcpy(&number, &bits, 8);
        at += 8;
        lua_pushnumber(L, number);
        break;
      }
      case TEXT: {
        uint64_t len;
        if (left < 8 || (len = get64(at)) > left - 8) goto damaged;
        lua_pushlstring(L, (const char *)at + 8, (size_t)len);
        at += 8 + len;
        break;
      }
      case TABLE: {
        struct ec_frame *f;
        if (left < HEADER - 1 || depth >= EC_DEPTH_MAX) goto damaged;
        f = frame(L, s, depth);
        f->items = get64(at + 8);
        f->pairs = get64(at + 16);
        f->place = 0;
        f->has_key = 0;
        at += HEADER - 1;
        lua_createtable(L, slots(f->items, left), 0);
        depth++;
        if (f->items != 0 || f->pairs != 0) continue;
        depth--;
        break;
      }
      default: goto damaged;
    }
    /* A whole value is on top: it goes where it belongs, and may complete the table that it goes to. */
    for (;;) {
      struct ec_frame *f;
      if (depth == 0) {
        count++;
        break;
      }
      f = &s->frames[depth - 1];
      if (f->items > 0) {
        f->items--;
        lua_rawseti(L, -2, (int)++f->place);
      } else if (!f->has_key) {
        f->has_key = 1;
        break;
      } else {
        f->has_key = 0;
        f->pairs--;
        if (lua_isnil(L, -2) || (lua_type(L, -2) == LUA_TNUMBER && lua_tonumber(L, -2) != lua_tonumber(L, -2)))
          lua_pop(L, 2);
        else
          lua_rawset(L, -3);
      }
      if (f->items != 0 || f->pairs != 0) break;
      depth--;
    }
  }
  if (depth == 0) return count;
damaged:
  return luaL_error(L, "value cannot be represented");
}
