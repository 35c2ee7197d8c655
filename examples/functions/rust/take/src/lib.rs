//! The function `take` in Rust: a counter that allows so many calls in a time.
//!
//!     FCALL take 1 KEY LIMIT WINDOW_MS   =>   [whether it is allowed, how many are left]
#![no_std]

use edgecask_guest::{Value, answer, argument, argument_i64, call, fail, key, library};

const USAGE: &str = "ERR wrong arguments: KEY LIMIT WINDOW_MS";

fn take() {
    let (mut key_bytes, mut window, mut reply) = ([0; 1024], [0; 20], [0; 64]);
    let key = key(0, &mut key_bytes).unwrap_or_else(|| fail(USAGE));
    let limit = argument_i64(0).unwrap_or_else(|| fail(USAGE));
    let window = argument(1, &mut window).unwrap_or_else(|| fail(USAGE));
    if argument_i64(1).is_none() {
        fail(USAGE);
    }

    call(&[b"INCR", key], &mut reply);
    let Some(Value::Integer(count)) = Value::read(&mut &reply[..]) else {
        // An error of the command.
        return answer::reply();
    };
    if count == 1 {
        call(&[b"PEXPIRE", key, window], &mut []);
    }
    answer::array(2);
    answer::boolean(count <= limit);
    answer::integer((limit - count).max(0));
}

library! { take: "Allows LIMIT calls in WINDOW_MS.", 0 }
