// How Lua raises errors in the module (core/lua/csrc/wasm/host_try.c): its `throw` ends the innermost `try` under way. All other
// exceptions, traps of the module and errors of its imports among them, go on and end the instance.

type Enter = (call: number, state: number, argument: number) => void;

// Without a trace, which would cost more than most scripts.
const RAISED = Object.freeze({ name: 'an error of Lua outside of its try' });

export class LuaErrors {
  // The module's export lua_enter, once there is an instance.
  enter: Enter = () => {
    throw new Error('the module runs before it is there');
  };

  readonly imports: WebAssembly.ModuleImports = {
    try: (call: number, state: number, argument: number) => {
      try {
        this.enter(call, state, argument);
      } catch (error) {
        if (error !== RAISED) throw error;
      }
    },
    throw: () => {
      throw RAISED;
    },
  };
}
