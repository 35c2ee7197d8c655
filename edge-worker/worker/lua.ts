// How Lua raises errors in the module (core/lua/csrc/wasm/host_try.c): its `throw` ends the innermost `try` under way. All other
// exceptions, traps of the module and errors of its imports among them, go on and end the instance.

// Without a trace, which would cost more than the script.
const RAISED = Object.freeze({ name: 'an error of Lua outside of its try' });

// `enter` is the module's export lua_enter.
export function luaImports(enter: () => (call: number, state: number, argument: number) => void): WebAssembly.ModuleImports {
  return {
    try: (call: number, state: number, argument: number) => {
      try {
        enter()(call, state, argument);
      } catch (error) {
        if (error !== RAISED) throw error;
      }
    },
    throw: () => {
      throw RAISED;
    },
  };
}
