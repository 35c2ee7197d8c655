//! Scripts that loop, fill memory, recurse or otherwise mean harm: each is stopped soon after its deadline, the process lives, and
//! the same interpreter runs the next script.

mod common;

use common::VERSION;
use common::hostile::{LATE_MS, scripts, stop};
use edgecask_lua::Lua;

/// Memory may have to be fetched just then; a script that is really late is late every time.
const ATTEMPTS: usize = 3;

#[test]
fn every_hostile_script_is_stopped_in_time_and_harms_nobody() {
    let mut lua = Lua::new(VERSION);
    let mut wrong = Vec::new();
    for (name, end, script) in scripts() {
        let mut latest = f64::INFINITY;
        for _ in 0..ATTEMPTS {
            let (error, late_ms) = stop(&mut lua, end, script);
            wrong.extend(error.map(|error| format!("{name}: {error}")));
            latest = latest.min(late_ms);
            if latest <= LATE_MS {
                break;
            }
        }
        if latest > LATE_MS {
            wrong.push(format!("{name}: {latest:.1} ms late"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), scripts().len(), wrong.join("\n"));
}
