//! The hostile scripts: how each is run, and what must hold afterwards.

use edgecask_core::script::{Ended, Runtime};
use edgecask_lua::Lua;

use super::{KEYS, TestHost, now_ms, run};

/// A script may run so long.
pub const DEADLINE_MS: f64 = 100.0;

/// And must have ended so long after that.
pub const LATE_MS: f64 = 20.0;

/// What the interpreter may hold once its garbage is collected.
const KEPT_BYTES: u64 = 4 << 20;

/// The scripts with their names and how they must end: `killed`, `failed`, or in any way.
pub fn scripts() -> Vec<(&'static str, &'static str, &'static str)> {
    include_str!("../hostile/scripts.txt")
        .trim_end()
        .split("\n----\n")
        .map(|entry| {
            let (head, script) = entry.split_once('\n').expect("a name and a script");
            let (name, end) = head.trim_start_matches("-- ").rsplit_once(": ").expect("a name and an end");
            (name, end, script)
        })
        .collect()
}

/// Runs a script under the deadline and says what went wrong, and how late it was.
pub fn stop(lua: &mut Lua, end: &str, script: &str) -> (Option<String>, f64) {
    let begin = now_ms();
    let mut host = TestHost::with_deadline(DEADLINE_MS);
    let outcome = run(lua, &mut host, script);
    let late_ms = now_ms() - begin - DEADLINE_MS;
    let is_right = match &outcome {
        Ok(_) => end == "any",
        Err(Ended::Failed(_)) => end == "any" || end == "failed",
        // A slow machine may need the whole time where another finds the error.
        Err(Ended::Killed(_)) => true,
        Err(_) => false,
    };
    if !is_right {
        return (Some(format!("ended as {outcome:?}")), late_ms);
    }
    let expected = run(lua, &mut TestHost::new(), "return redis.call('ECHO', KEYS[1])");
    if expected.as_ref().is_ok_and(|flat| flat.ends_with(KEYS[0])) {
        while lua.collect_garbage() {}
        let bytes = lua.memory_bytes();
        return ((bytes > KEPT_BYTES).then(|| format!("left {bytes} bytes")), late_ms);
    }
    (Some(format!("left the interpreter in a state in which a script ends as {expected:?}")), late_ms)
}
