/* The table `redis`: how a script reaches the server. The texts are Redis'. */
#include "state.h"

#include <string.h>
#include <strings.h>

#define SHA1HEX 0

/* Arguments of a command that need no memory of their own. */
#define USUAL_ARGUMENTS 32

/* Levels of the log. */
enum { DEBUG, VERBOSE, NOTICE, WARNING };

void ec_push_error(lua_State *L, const char *text, size_t len) {
  luaL_checkstack(L, 4, "too many values");
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "ERR ");
  lua_pushlstring(L, text, len);
  lua_concat(L, 2);
  lua_setfield(L, -2, "err");
}

static int raise(lua_State *L, const char *text) {
  ec_push_error(L, text, strlen(text));
  return lua_error(L);
}

/* Pushes what a command answered as an error. */
static void push_command_error(lua_State *L) {
  lua_createtable(L, 0, 2);
  lua_insert(L, -2);
  lua_setfield(L, -2, "err");
  lua_pushboolean(L, 1);
  lua_setfield(L, -2, "ignore_error_stats_update");
}

/* Reads the arguments of a command from the stack. NULL if one has the wrong type; the error is then on top. */
static struct ec_argument *arguments_of(lua_State *L, struct ec_argument *usual, int count) {
  struct ec_argument *arguments = usual;
  if (count == 0) {
    static const char text[] = "Please specify at least one argument for this redis lib call";
    ec_push_error(L, text, sizeof text - 1);
    return NULL;
  }
  if (count > USUAL_ARGUMENTS) {
    luaL_checkstack(L, 8, "too many arguments");
    arguments = lua_newuserdata(L, (size_t)count * sizeof *arguments);
  }
  for (int i = 0; i < count; i++) {
    switch (lua_type(L, i + 1)) {
      case LUA_TSTRING: arguments[i].at = (const uint8_t *)lua_tolstring(L, i + 1, &arguments[i].len); break;
      case LUA_TNUMBER:
        arguments[i].at = NULL;
        arguments[i].len = 0;
        arguments[i].number = lua_tonumber(L, i + 1);
        break;
      default: {
        static const char text[] = "Lua redis lib command arguments must be strings or integers";
        ec_push_error(L, text, sizeof text - 1);
        return NULL;
      }
    }
  }
  return arguments;
}

static int call(lua_State *L, int raises) {
  struct ec *s = EC(L);
  struct ec_argument usual[USUAL_ARGUMENTS];
  int count = lua_gettop(L);
  struct ec_argument *arguments = arguments_of(L, usual, count);
  struct ec_bytes reply = {NULL, 0};
  if (arguments == NULL) return raises ? lua_error(L) : 1;
  luai_work(L, 50);
  switch (s->calls->call(s->host, arguments, (size_t)count, &reply)) {
    case EC_VALUE: return ec_push(L, reply);
    case EC_ERROR:
      if (ec_push(L, reply) != 1 || lua_type(L, -1) != LUA_TSTRING) return luaL_error(L, "value cannot be represented");
      push_command_error(L);
      return raises ? lua_error(L) : 1;
    default: ec_kill(L);
  }
}

static int redis_call(lua_State *L) { return call(L, 1); }
static int redis_pcall(lua_State *L) { return call(L, 0); }

static int single_field(lua_State *L, const char *name) {
  if (lua_gettop(L) != 1 || lua_type(L, 1) != LUA_TSTRING) {
    static const char text[] = "wrong number or type of arguments";
    ec_push_error(L, text, sizeof text - 1);
    return 1;
  }
  lua_createtable(L, 0, 1);
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, name);
  return 1;
}

static int status_reply(lua_State *L) { return single_field(L, "ok"); }

/* A text without a space is all message and gets the code ERR; line ends around it go. A hyphen before it goes too. */
static int error_reply(lua_State *L) {
  size_t len;
  const char *text, *zero, *space;
  if (lua_gettop(L) != 1 || lua_type(L, 1) != LUA_TSTRING) return single_field(L, "err");
  text = lua_tolstring(L, 1, &len);
  zero = memchr(text, 0, len);
  if (zero) len = (size_t)(zero - text);
  if (len > 0 && text[0] == '-') text++, len--;
  space = memchr(text, ' ', len);
  if (space) {
    const char *message = space + 1, *end = text + len;
    while (message < end && (*message == '\r' || *message == '\n')) message++;
    while (end > message && (end[-1] == '\r' || end[-1] == '\n')) end--;
    lua_createtable(L, 0, 1);
    lua_pushlstring(L, text, (size_t)(space - text) + 1);
    lua_pushlstring(L, message, (size_t)(end - message));
    lua_concat(L, 2);
    lua_setfield(L, -2, "err");
    return 1;
  }
  while (len > 0 && (*text == '\r' || *text == '\n')) text++, len--;
  while (len > 0 && (text[len - 1] == '\r' || text[len - 1] == '\n')) len--;
  ec_push_error(L, text, len);
  return 1;
}

static int redis_log(lua_State *L) {
  struct ec *s = EC(L);
  luaL_Buffer buffer;
  struct ec_bytes text;
  int count = lua_gettop(L), level, is_first = 1;
  if (count < 2) return raise(L, "redis.log() requires two arguments or more.");
  if (!lua_isnumber(L, 1)) return raise(L, "First argument must be a number (log level).");
  level = (int)lua_tonumber(L, 1);
  if (level < DEBUG || level > WARNING) return raise(L, "Invalid debug level.");
  luaL_buffinit(L, &buffer);
  for (int i = 2; i <= count; i++) {
    if (!lua_isstring(L, i)) continue;
    if (!is_first) luaL_addchar(&buffer, ' ');
    is_first = 0;
    lua_pushvalue(L, i);
    luaL_addvalue(&buffer);
  }
  luaL_pushresult(&buffer);
  text.at = (const uint8_t *)lua_tolstring(L, -1, &text.len);
  if (s->calls->log(s->host, level, text) == EC_KILL) ec_kill(L);
  return 0;
}

static int set_protocol(lua_State *L) {
  struct ec *s = EC(L);
  int version;
  if (lua_gettop(L) != 1) return raise(L, "redis.setresp() requires one argument.");
  version = (int)lua_tonumber(L, 1);
  if (version != 2 && version != 3) return raise(L, "RESP version must be 2 or 3.");
  if (s->calls->set_protocol(s->host, version) == EC_KILL) ec_kill(L);
  return 0;
}

/* Nothing here is replicated command by command, so every choice has the same effect. */
static int set_replication(lua_State *L) {
  if (lua_gettop(L) != 1) return raise(L, "redis.set_repl() requires two arguments.");
  if (((int)lua_tonumber(L, 1) & ~3) != 0)
    return raise(L, "Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.");
  return 0;
}

static int acl_check(lua_State *L) {
  struct ec *s = EC(L);
  struct ec_argument usual[USUAL_ARGUMENTS];
  int count = lua_gettop(L), answer = 0;
  struct ec_argument *arguments = arguments_of(L, usual, count);
  if (arguments == NULL) return lua_error(L);
  switch (s->calls->may_call(s->host, arguments, (size_t)count, &answer)) {
    case EC_VALUE: lua_pushboolean(L, answer); return 1;
    case EC_ERROR: return raise(L, "Invalid command passed to redis.acl_check_cmd()");
    default: ec_kill(L);
  }
}

/* There is no debugger. */
static int breakpoint(lua_State *L) {
  lua_pushboolean(L, 0);
  return 1;
}
static int debug(lua_State *L) {
  (void)L;
  return 0;
}

static int replicate_commands(lua_State *L) {
  lua_pushboolean(L, 1);
  return 1;
}

/* redis.register_function(name, callback) */
static void by_position(lua_State *L, struct ec_function *f, int *callback) {
  if (!lua_isstring(L, 1)) raise(L, "first argument to redis.register_function must be a string");
  if (!lua_isfunction(L, 2)) raise(L, "second argument to redis.register_function must be a function");
  f->name.at = (const uint8_t *)lua_tolstring(L, 1, &f->name.len);
  *callback = 2;
}

/* The flags become an array of bytes in userdata, which is left on the stack; the strings stay in the table. */
static void read_flags(lua_State *L, int table, struct ec_function *f) {
  struct ec_bytes *flags;
  size_t count = lua_objlen(L, table);
  if (count > 64) raise(L, "unknown flag given");
  flags = lua_newuserdata(L, (count + 1) * sizeof *flags);
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, table, (int)i + 1);
    if (lua_type(L, -1) != LUA_TSTRING) raise(L, "unknown flag given");
    flags[i].at = (const uint8_t *)lua_tolstring(L, -1, &flags[i].len);
    lua_pop(L, 1);
  }
  f->flags = flags;
  f->flag_count = count;
}

/* redis.register_function{function_name=…, callback=…, flags={…}, description=…}; slots 2 to 5 hold what was found. */
static void by_name(lua_State *L, struct ec_function *f, int *callback) {
  if (!lua_istable(L, 1))
    raise(L, "calling redis.register_function with a single argument is only applicable to Lua table (representing named "
             "arguments).");
  lua_settop(L, 5);
  lua_pushnil(L);
  while (lua_next(L, 1)) {
    const char *key;
    if (lua_type(L, -2) == LUA_TNUMBER) raise(L, "unknown argument given to redis.register_function");
    if (!lua_isstring(L, -2)) raise(L, "named argument key given to redis.register_function is not a string");
    key = lua_tostring(L, -2);
    if (!strcasecmp(key, "function_name")) {
      if (!lua_isstring(L, -1)) raise(L, "function_name argument given to redis.register_function must be a string");
      lua_replace(L, 2);
    } else if (!strcasecmp(key, "description")) {
      if (!lua_isstring(L, -1)) raise(L, "description argument given to redis.register_function must be a string");
      lua_replace(L, 3);
    } else if (!strcasecmp(key, "callback")) {
      if (!lua_isfunction(L, -1)) raise(L, "callback argument given to redis.register_function must be a function");
      lua_replace(L, 4);
    } else if (!strcasecmp(key, "flags")) {
      if (!lua_istable(L, -1))
        raise(L, "flags argument to redis.register_function must be a table representing function flags");
      lua_replace(L, 5);
    } else {
      raise(L, "unknown argument given to redis.register_function");
    }
  }
  if (lua_isnil(L, 2)) raise(L, "redis.register_function must get a function name argument");
  if (lua_isnil(L, 4)) raise(L, "redis.register_function must get a callback argument");
  f->name.at = (const uint8_t *)lua_tolstring(L, 2, &f->name.len);
  if (!lua_isnil(L, 3)) f->description.at = (const uint8_t *)lua_tolstring(L, 3, &f->description.len);
  if (!lua_isnil(L, 5)) read_flags(L, 5, f);
  *callback = 4;
}

static int register_function(lua_State *L) {
  struct ec *s = EC(L);
  struct ec_function f;
  struct ec_bytes error = {NULL, 0};
  int count = lua_gettop(L), callback = 0, answer;
  memset(&f, 0, sizeof f);
  if (s->running != 2) return raise(L, "redis.register_function can only be called on FUNCTION LOAD command");
  if (count < 1 || count > 2) return raise(L, "wrong number of arguments to redis.register_function");
  if (count == 1)
    by_name(L, &f, &callback);
  else
    by_position(L, &f, &callback);
  lua_pushvalue(L, callback);
  f.id = luaL_ref(L, LUA_REGISTRYINDEX);
  answer = s->calls->register_function(s->host, &f, &error);
  if (answer == EC_VALUE) return 0;
  luaL_unref(L, LUA_REGISTRYINDEX, f.id);
  if (answer == EC_KILL) ec_kill(L);
  ec_push_error(L, (const char *)error.at, error.len);
  return lua_error(L);
}

struct number {
  const char *name;
  int value;
};

static void set_numbers(lua_State *L, const struct number *numbers) {
  for (; numbers->name; numbers++) {
    lua_pushinteger(L, numbers->value);
    lua_setfield(L, -2, numbers->name);
  }
}

/* What both the table of scripts and that of a library's body have. */
static void set_common(lua_State *L, const struct ec_options *options) {
  static const struct number levels[] = {
      {"LOG_DEBUG", DEBUG}, {"LOG_VERBOSE", VERBOSE}, {"LOG_NOTICE", NOTICE}, {"LOG_WARNING", WARNING}, {NULL, 0}};
  lua_pushcfunction(L, redis_log);
  lua_setfield(L, -2, "log");
  set_numbers(L, levels);
  lua_pushnumber(L, options->version_number);
  lua_setfield(L, -2, "REDIS_VERSION_NUM");
  lua_pushstring(L, options->version);
  lua_setfield(L, -2, "REDIS_VERSION");
}

void ec_open_redis(lua_State *L, const struct ec_options *options) {
  static const luaL_Reg functions[] = {{"call", redis_call},
                                       {"pcall", redis_pcall},
                                       {"setresp", set_protocol},
                                       {"error_reply", error_reply},
                                       {"status_reply", status_reply},
                                       {"set_repl", set_replication},
                                       {"acl_check_cmd", acl_check},
                                       {NULL, NULL}};
  static const luaL_Reg of_eval[] = {
      {"breakpoint", breakpoint}, {"debug", debug}, {"replicate_commands", replicate_commands}, {NULL, NULL}};
  static const struct number replication[] = {
      {"REPL_NONE", 0}, {"REPL_AOF", 1}, {"REPL_SLAVE", 2}, {"REPL_REPLICA", 2}, {"REPL_ALL", 3}, {NULL, 0}};
  lua_newtable(L);
  luaL_register(L, NULL, functions);
  if (options->environment == EC_EVAL) luaL_register(L, NULL, of_eval);
  ec_push_function(L, SHA1HEX);
  lua_setfield(L, -2, "sha1hex");
  set_common(L, options);
  set_numbers(L, replication);
  lua_setglobal(L, "redis");
}

void ec_push_library_api(lua_State *L, const struct ec_options *options) {
  lua_newtable(L);
  lua_newtable(L);
  lua_pushcfunction(L, register_function);
  lua_setfield(L, -2, "register_function");
  set_common(L, options);
  lua_setfield(L, -2, "redis");
}
