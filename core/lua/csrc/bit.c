/* The library `bit`: operations on 32 bits, as LuaBitOp has them. */
#include "state.h"

/* The lowest 32 bits of a number, rounded. The constant makes the fraction fall out of a double. */
static uint32_t bits(lua_State *L, int index) {
  union {
    double number;
    uint64_t bits;
  } wide;
  wide.number = lua_tonumber(L, index);
  wide.number += 6755399441055744.0;
  if ((uint32_t)wide.bits == 0 && !lua_isnumber(L, index)) luaL_typerror(L, index, "number");
  return (uint32_t)wide.bits;
}

static int result(lua_State *L, uint32_t value) {
  lua_pushnumber(L, (double)(int32_t)value);
  return 1;
}

static uint32_t left(uint32_t value, uint32_t by) { return value << by; }
static uint32_t right(uint32_t value, uint32_t by) { return value >> by; }
static uint32_t right_signed(uint32_t value, uint32_t by) {
  return by == 0 || !(value >> 31) ? value >> by : (value >> by) | ~(UINT32_MAX >> by);
}
static uint32_t rotated(uint32_t value, uint32_t by) { return by == 0 ? value : value << by | value >> (32 - by); }

static int to_bit(lua_State *L) { return result(L, bits(L, 1)); }
static int bit_not(lua_State *L) { return result(L, ~bits(L, 1)); }
static int left_shift(lua_State *L) { return result(L, left(bits(L, 1), bits(L, 2) & 31)); }
static int right_shift(lua_State *L) { return result(L, right(bits(L, 1), bits(L, 2) & 31)); }
static int arithmetic_shift(lua_State *L) { return result(L, right_signed(bits(L, 1), bits(L, 2) & 31)); }
static int rotate_left(lua_State *L) { return result(L, rotated(bits(L, 1), bits(L, 2) & 31)); }
static int rotate_right(lua_State *L) { return result(L, rotated(bits(L, 1), (32 - (bits(L, 2) & 31)) & 31)); }
static int swap(lua_State *L) { return result(L, __builtin_bswap32(bits(L, 1))); }

#define FOLD(name, operation)                                                                  \
  static int name(lua_State *L) {                                                              \
    uint32_t value = bits(L, 1);                                                               \
    for (int i = lua_gettop(L); i > 1; i--) value operation bits(L, i);                        \
    return result(L, value);                                                                   \
  }
FOLD(bit_and, &=)
FOLD(bit_or, |=)
FOLD(bit_xor, ^=)

/* As many digits as asked for, eight at most; capital letters if the count is negative. */
static int to_hex(lua_State *L) {
  uint32_t value = bits(L, 1);
  int64_t count = lua_isnone(L, 2) ? 8 : (int64_t)(int32_t)bits(L, 2);
  const char *digits = count < 0 ? "0123456789ABCDEF" : "0123456789abcdef";
  char text[8];
  if (count < 0) count = -count;
  if (count > 8) count = 8;
  for (int i = (int)count; i-- > 0; value >>= 4) text[i] = digits[value & 15];
  lua_pushlstring(L, text, (size_t)count);
  return 1;
}

static const luaL_Reg functions[] = {
    {"tobit", to_bit},   {"bnot", bit_not},       {"band", bit_and},       {"bor", bit_or},
    {"bxor", bit_xor},   {"lshift", left_shift},  {"rshift", right_shift}, {"arshift", arithmetic_shift},
    {"rol", rotate_left}, {"ror", rotate_right},  {"bswap", swap},         {"tohex", to_hex},
    {NULL, NULL}};

void ec_open_bit(lua_State *L) {
  luaL_register(L, "bit", functions);
  lua_pop(L, 1);
}
