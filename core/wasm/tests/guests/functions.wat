;; One small function for each import, as calls.txt calls them.
(module
  (import "edgecask_1" "register" (func $register (param i32 i32 i32 i32 i32)))
  (import "edgecask_1" "key_count" (func $key_count (result i32)))
  (import "edgecask_1" "key" (func $key (param i32 i32 i32) (result i32)))
  (import "edgecask_1" "argument_count" (func $argument_count (result i32)))
  (import "edgecask_1" "argument" (func $argument (param i32 i32 i32) (result i32)))
  (import "edgecask_1" "call" (func $call (param i32 i32 i32 i32) (result i32)))
  (import "edgecask_1" "reply" (func $reply (param i32 i32 i32) (result i32)))
  (import "edgecask_1" "may_call" (func $may_call (param i32 i32) (result i32)))
  (import "edgecask_1" "answer" (func $answer (param i32 i32)))
  (import "edgecask_1" "answer_integer" (func $answer_integer (param i64)))
  (import "edgecask_1" "answer_bulk" (func $answer_bulk (param i32 i32)))
  (import "edgecask_1" "answer_status" (func $answer_status (param i32 i32)))
  (import "edgecask_1" "answer_reply" (func $answer_reply))
  (import "edgecask_1" "fail" (func $fail (param i32 i32)))
  (import "edgecask_1" "log" (func $log (param i32 i32 i32)))
  (import "edgecask_1" "time" (func $time (result i64)))
  (import "edgecask_1" "random" (func $random (result i64)))

  (memory (export "memory") 2)

  ;; 0..1024 names, 1024..2048 texts, 2048.. spans, 4096.. what is read; 65536.. replies
  (data (i32.const 0) "hello echo get raw pieces counts status nothing fails integer no_key answer logs time random remember grow may set_then_fail initialized same_error two_answers")
  (data (i32.const 1024) "hello")
  (data (i32.const 1040) "GET")
  (data (i32.const 1044) "RAW")
  (data (i32.const 1048) "FINE")
  (data (i32.const 1056) "MYERR it failed")
  (data (i32.const 1072) "SET")
  (data (i32.const 1080) "Says hello.")
  (data (i32.const 1100) "\07\02\00\00\00") ;; an array of two

  (global $calls (mut i32) (i32.const 0))
  (global $initialized (mut i32) (i32.const 0))

  ;; The span of this number becomes these bytes.
  (func $span (param $number i32) (param $at i32) (param $length i32)
    (i32.store (i32.add (i32.const 2048) (i32.shl (local.get $number) (i32.const 3))) (local.get $at))
    (i32.store (i32.add (i32.const 2052) (i32.shl (local.get $number) (i32.const 3))) (local.get $length)))

  ;; The first argument, at 4096; its length.
  (func $first (result i32)
    (call $argument (i32.const 0) (i32.const 4096) (i32.const 61440)))

  (func (export "_initialize")
    (global.set $initialized (i32.add (global.get $initialized) (i32.const 1))))

  (func (export "edgecask_load")
    (call $register (i32.const 0) (i32.const 5) (i32.const 1080) (i32.const 11) (i32.const 1))
    (call $register (i32.const 6) (i32.const 4) (i32.const 0) (i32.const 0) (i32.const 0))
    (call $register (i32.const 11) (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 31))
    (call $register (i32.const 15) (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 0))
    (call $register (i32.const 19) (i32.const 6) (i32.const 0) (i32.const 0) (i32.const 0))
    (call $register (i32.const 26) (i32.const 6) (i32.const 0) (i32.const 0) (i32.const 0))
    (call $register (i32.const 33) (i32.const 6) (i32.const 0) (i32.const 0) (i32.const 0))
    (call $register (i32.const 40) (i32.const 7) (i32.const 0) (i32.const 0) (i32.const 0))
    (call $register (i32.const 48) (i32.const 5) (i32.const 0) (i32.const 0) (i32.const 0))
    (call $register (i32.const 54) (i32.const 7) (i32.const 0) (i32.const 0) (i32.const 0))
    (call $register (i32.const 62) (i32.const 6) (i32.const 0) (i32.const 0) (i32.const 0))
    (call $register (i32.const 69) (i32.const 6) (i32.const 0) (i32.const 0) (i32.const 0))
    (call $register (i32.const 76) (i32.const 4) (i32.const 0) (i32.const 0) (i32.const 0))
    (call $register (i32.const 81) (i32.const 4) (i32.const 0) (i32.const 0) (i32.const 0))
    (call $register (i32.const 86) (i32.const 6) (i32.const 0) (i32.const 0) (i32.const 0))
    (call $register (i32.const 93) (i32.const 8) (i32.const 0) (i32.const 0) (i32.const 0))
    (call $register (i32.const 102) (i32.const 4) (i32.const 0) (i32.const 0) (i32.const 0))
    (call $register (i32.const 107) (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 0))
    (call $register (i32.const 111) (i32.const 13) (i32.const 0) (i32.const 0) (i32.const 0))
    (call $register (i32.const 125) (i32.const 11) (i32.const 0) (i32.const 0) (i32.const 0))
    (call $register (i32.const 137) (i32.const 10) (i32.const 0) (i32.const 0) (i32.const 0))
    (call $register (i32.const 148) (i32.const 11) (i32.const 0) (i32.const 0) (i32.const 0)))

  (func (export "hello") (call $answer_bulk (i32.const 1024) (i32.const 5)))
  (func (export "echo") (call $answer_bulk (i32.const 4096) (call $first)))
  (func (export "status") (call $answer_status (i32.const 1048) (i32.const 4)))
  (func (export "nothing"))
  (func (export "integer") (call $answer_integer (i64.const 9007199254740993)))
  (func (export "answer") (call $answer (i32.const 4096) (call $first)))
  (func (export "two_answers") (call $answer_integer (i64.const 1)) (call $answer_integer (i64.const 2)))
  (func (export "time") (call $answer_integer (call $time)))
  (func (export "initialized") (call $answer_integer (i64.extend_i32_u (global.get $initialized))))

  (func (export "get")
    (call $span (i32.const 0) (i32.const 1040) (i32.const 3))
    (call $span (i32.const 1) (i32.const 4096) (call $key (i32.const 0) (i32.const 4096) (i32.const 1000)))
    (drop (call $call (i32.const 2048) (i32.const 2) (i32.const 0) (i32.const 0)))
    (call $answer_reply))

  ;; A command that replies with its argument; the reply goes through the guest's memory.
  (func $raw (result i32)
    (call $span (i32.const 0) (i32.const 1044) (i32.const 3))
    (call $span (i32.const 1) (i32.const 4096) (call $first))
    (call $call (i32.const 2048) (i32.const 2) (i32.const 65536) (i32.const 65536)))
  (func (export "raw") (call $answer (i32.const 65536) (call $raw)))

  ;; The same, read again in pieces of three bytes.
  (func (export "pieces") (local $size i32) (local $offset i32)
    (local.set $size (call $raw))
    (memory.fill (i32.const 65536) (i32.const 0) (i32.const 1000))
    (loop $next
      (drop (call $reply (local.get $offset) (i32.add (i32.const 65536) (local.get $offset)) (i32.const 3)))
      (local.set $offset (i32.add (local.get $offset) (i32.const 3)))
      (br_if $next (i32.lt_u (local.get $offset) (local.get $size))))
    (call $answer (i32.const 65536) (local.get $size)))

  (func (export "counts")
    (call $answer (i32.const 1100) (i32.const 5))
    (call $answer_integer (i64.extend_i32_u (call $key_count)))
    (call $answer_integer (i64.extend_i32_u (call $argument_count))))

  (func (export "no_key")
    (call $answer_integer (i64.extend_i32_s (call $key (i32.const 9) (i32.const 4096) (i32.const 10)))))

  (func (export "fails")
    (call $fail (i32.const 1056) (i32.const 15))
    (call $answer_integer (i64.const 1)))

  ;; An error of a command, raised by its text.
  (func (export "same_error")
    (drop (call $raw))
    (call $fail (i32.const 65541) (i32.load (i32.const 65537))))

  (func (export "set_then_fail")
    (call $span (i32.const 0) (i32.const 1072) (i32.const 3))
    (call $span (i32.const 1) (i32.const 4096) (call $key (i32.const 0) (i32.const 4096) (i32.const 1000)))
    (call $span (i32.const 2) (i32.const 1024) (i32.const 5))
    (drop (call $call (i32.const 2048) (i32.const 3) (i32.const 0) (i32.const 0)))
    (call $fail (i32.const 0) (i32.const 0)))

  (func (export "logs") (call $log (i32.const 2) (i32.const 1024) (i32.const 5)))

  (func (export "random")
    (call $answer (i32.const 1100) (i32.const 5))
    (call $answer_integer (call $random))
    (call $answer_integer (call $random)))

  (func (export "remember")
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (call $answer_integer (i64.extend_i32_u (global.get $calls))))

  ;; Takes as many pages as the argument is long.
  (func (export "grow")
    (call $answer_integer (i64.extend_i32_s (memory.grow (call $first)))))

  (func (export "may")
    (call $span (i32.const 0) (i32.const 4096) (call $first))
    (call $answer_integer (i64.extend_i32_s (call $may_call (i32.const 2048) (i32.const 1)))))
)
