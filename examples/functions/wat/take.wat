;; The function `take` by hand: a counter that allows so many calls in a time.
;;
;;   FCALL take 1 KEY LIMIT WINDOW_MS   =>   [whether it is allowed, how many are left]
;;
;; Convert it with `wat2wasm take.wat` or `wasm-tools parse take.wat -o take.wasm`; docs/functions.md says how to load it.
(module
  (import "edgecask_1" "register" (func $register (param i32 i32 i32 i32 i32)))
  (import "edgecask_1" "key" (func $key (param i32 i32 i32) (result i32)))
  (import "edgecask_1" "argument" (func $argument (param i32 i32 i32) (result i32)))
  (import "edgecask_1" "call" (func $call (param i32 i32 i32 i32) (result i32)))
  (import "edgecask_1" "answer" (func $answer (param i32 i32)))
  (import "edgecask_1" "answer_integer" (func $answer_integer (param i64)))
  (import "edgecask_1" "answer_reply" (func $answer_reply))
  (import "edgecask_1" "fail" (func $fail (param i32 i32)))

  (memory (export "memory") 1)
  (data (i32.const 0) "take")
  (data (i32.const 16) "Allows LIMIT calls in WINDOW_MS.")
  (data (i32.const 64) "INCR")
  (data (i32.const 80) "PEXPIRE")
  (data (i32.const 96) "ERR wrong arguments: KEY LIMIT WINDOW_MS")
  (data (i32.const 144) "\07\02\00\00\00\06") ;; an array of two, whose first is a boolean that follows
  ;; 256: the arguments of a command, each its address and its length
  ;; 512: the key, 2048: the limit, 2112: the window, 3072: a reply

  (func $span (param $place i32) (param $at i32) (param $length i32)
    (i32.store (local.get $place) (local.get $at))
    (i32.store offset=4 (local.get $place) (local.get $length)))

  ;; A number in decimal digits; ends the function if it is none.
  (func $number (param $at i32) (param $length i32) (result i64) (local $number i64) (local $digit i32)
    (if (i32.or (i32.le_s (local.get $length) (i32.const 0)) (i32.gt_s (local.get $length) (i32.const 15)))
      (then (call $fail (i32.const 96) (i32.const 40))))
    (loop $next
      (local.set $digit (i32.sub (i32.load8_u (local.get $at)) (i32.const 48)))
      (if (i32.gt_u (local.get $digit) (i32.const 9)) (then (call $fail (i32.const 96) (i32.const 40))))
      (local.set $number (i64.add (i64.mul (local.get $number) (i64.const 10)) (i64.extend_i32_u (local.get $digit))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (local.tee $length (i32.sub (local.get $length) (i32.const 1)))))
    (local.get $number))

  (func (export "take") (local $key i32) (local $window i32) (local $limit i64) (local $count i64)
    (local.set $key (call $key (i32.const 0) (i32.const 512) (i32.const 1024)))
    (if (i32.gt_u (local.get $key) (i32.const 1024)) (then (call $fail (i32.const 96) (i32.const 40))))
    (local.set $limit (call $number (i32.const 2048) (call $argument (i32.const 0) (i32.const 2048) (i32.const 64))))
    (local.set $window (call $argument (i32.const 1) (i32.const 2112) (i32.const 64)))
    (drop (call $number (i32.const 2112) (local.get $window)))

    ;; INCR KEY
    (call $span (i32.const 256) (i32.const 64) (i32.const 4))
    (call $span (i32.const 264) (i32.const 512) (local.get $key))
    (drop (call $call (i32.const 256) (i32.const 2) (i32.const 3072) (i32.const 64)))
    ;; Kind 1 is an integer; all else is an error of the command.
    (if (i32.ne (i32.load8_u (i32.const 3072)) (i32.const 1)) (then (call $answer_reply) (return)))
    (local.set $count (i64.load (i32.const 3073)))

    ;; PEXPIRE KEY WINDOW, for the first
    (if (i64.eq (local.get $count) (i64.const 1))
      (then
        (call $span (i32.const 256) (i32.const 80) (i32.const 7))
        (call $span (i32.const 272) (i32.const 2112) (local.get $window))
        (drop (call $call (i32.const 256) (i32.const 3) (i32.const 3072) (i32.const 64)))))

    (i32.store8 (i32.const 150) (i64.le_s (local.get $count) (local.get $limit)))
    (call $answer (i32.const 144) (i32.const 7))
    (call $answer_integer
      (select (i64.sub (local.get $limit) (local.get $count)) (i64.const 0) (i64.lt_s (local.get $count) (local.get $limit)))))

  (func (export "edgecask_load")
    (call $register (i32.const 0) (i32.const 4) (i32.const 16) (i32.const 32) (i32.const 0)))
)
