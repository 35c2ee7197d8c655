/* Errors of Lua in WebAssembly. The host (JavaScript, wasmtime) calls back and catches; its `throw` throws what only its `try`
 * catches. So no exceptions of WebAssembly are needed, and one module runs wherever there are imports.
 *
 *   import lua.try(function, state, argument): calls the export lua_enter with the same three; returns when that returns or when
 *     lua.throw has thrown in it; every other exception goes on
 *   import lua.throw(): throws
 *
 * Between the two no frame of Rust is left without its own error handling: Rust never calls Lua's API, and its callbacks return
 * before an error is raised. */
#include "ldo.h"

__attribute__((import_module("lua"), import_name("try"))) void host_try(Pfunc f, lua_State *L, void *ud);
__attribute__((import_module("lua"), import_name("throw"))) _Noreturn void host_throw(void);

extern void *ec_stack_get(void);
extern void ec_stack_set(void *stack);

/* The host knows nothing of the stack in the module's memory, so it is set back here. */
void hosttry(Pfunc f, lua_State *L, void *ud) {
  void *stack = ec_stack_get();
  host_try(f, L, ud);
  ec_stack_set(stack);
}

_Noreturn void hostthrow(void) { host_throw(); }

/* The host has no view of the module's table of functions. */
__attribute__((export_name("lua_enter"))) void lua_enter(Pfunc f, lua_State *L, void *ud) { f(L, ud); }
