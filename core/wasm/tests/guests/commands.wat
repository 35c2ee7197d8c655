;; Functions whose arguments are a command, and what they do once it has run.
(module
  (import "edgecask_1" "register" (func $register (param i32 i32 i32 i32 i32)))
  (import "edgecask_1" "argument_count" (func $argument_count (result i32)))
  (import "edgecask_1" "argument" (func $argument (param i32 i32 i32) (result i32)))
  (import "edgecask_1" "call" (func $call (param i32 i32 i32 i32) (result i32)))
  (import "edgecask_1" "answer_reply" (func $answer_reply))
  (import "edgecask_1" "answer_integer" (func $answer_integer (param i64)))
  (import "edgecask_1" "fail" (func $fail (param i32 i32)))
  (memory (export "memory") 16)
  (global $calls (mut i64) (i64.const 0))
  (data (i32.const 0) "run     read    trap    spin    fail    count   note    ")
  (data (i32.const 64) "ERR it failed")
  (data (i32.const 80) "RPUSH")
  (data (i32.const 96) "notes")
  ;; 4096: the arguments of the command, each its address and its length; 65536: their bytes

  (func $span (param $index i32) (param $at i32) (param $length i32)
    (local.set $index (i32.add (i32.const 4096) (i32.shl (local.get $index) (i32.const 3))))
    (i32.store (local.get $index) (local.get $at))
    (i32.store offset=4 (local.get $index) (local.get $length)))

  (func $command (local $index i32) (local $at i32) (local $length i32)
    (if (i32.eqz (call $argument_count)) (then (return)))
    (local.set $at (i32.const 65536))
    (loop $next
      (local.set $length (call $argument (local.get $index) (local.get $at) (i32.const 65536)))
      (call $span (local.get $index) (local.get $at) (local.get $length))
      (local.set $at (i32.add (local.get $at) (local.get $length)))
      (local.set $index (i32.add (local.get $index) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $index) (call $argument_count))))
    (drop (call $call (i32.const 4096) (local.get $index) (i32.const 0) (i32.const 0))))

  (func $answered (call $command) (call $answer_reply))
  (export "run" (func $answered))
  (export "read" (func $answered))
  (func (export "trap") (call $command) (unreachable))
  (func (export "spin") (call $command) (loop $again (br $again)))
  (func (export "fail") (call $command) (call $fail (i32.const 64) (i32.const 13)))

  ;; How often this instance has been asked.
  (func (export "count")
    (global.set $calls (i64.add (global.get $calls) (i64.const 1)))
    (call $answer_integer (global.get $calls)))

  ;; The first argument onto a list.
  (func (export "note")
    (call $span (i32.const 0) (i32.const 80) (i32.const 5))
    (call $span (i32.const 1) (i32.const 96) (i32.const 5))
    (call $span (i32.const 2) (i32.const 65536) (call $argument (i32.const 0) (i32.const 65536) (i32.const 65536)))
    (drop (call $call (i32.const 4096) (i32.const 3) (i32.const 0) (i32.const 0)))
    (call $answer_reply))

  (func $add (param $name i32) (param $length i32) (param $flags i32)
    (call $register (local.get $name) (local.get $length) (i32.const 0) (i32.const 0) (local.get $flags)))

  (func (export "edgecask_load")
    (call $add (i32.const 0) (i32.const 3) (i32.const 0))
    (call $add (i32.const 8) (i32.const 4) (i32.const 1)) ;; no-writes
    (call $add (i32.const 16) (i32.const 4) (i32.const 0))
    (call $add (i32.const 24) (i32.const 4) (i32.const 0))
    (call $add (i32.const 32) (i32.const 4) (i32.const 0))
    (call $add (i32.const 40) (i32.const 5) (i32.const 1))
    (call $add (i32.const 48) (i32.const 4) (i32.const 0)))
)
