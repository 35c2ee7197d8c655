//! Modules that loop, fill memory, recurse, lie about their sizes or otherwise mean harm: each is stopped soon after its deadline with
//! an error that says why, the process lives, and the same runtime runs the next function.

mod common;

use common::hostile::{LATE_MS, modules, stop};
use common::{Loaded, engines, source};

/// Memory may have to be fetched just then; a module that is really late is late every time.
const ATTEMPTS: usize = 3;

#[test]
fn every_hostile_module_is_stopped_in_time_and_harms_nobody() {
    let library = source(include_str!("guests/functions.wat"));
    for (engine, make) in engines() {
        let mut well = Loaded::new(make(), &library);
        let modules = modules();
        let mut wrong = Vec::new();
        for module in &modules {
            let mut latest = f64::INFINITY;
            for _ in 0..ATTEMPTS {
                let (error, late_ms) = stop(&mut well, module);
                wrong.extend(error.map(|error| format!("{}: {error}", module.name)));
                latest = latest.min(late_ms);
                if latest <= LATE_MS {
                    break;
                }
            }
            if latest > LATE_MS {
                wrong.push(format!("{}: {latest:.1} ms late", module.name));
            }
        }
        assert!(wrong.is_empty(), "{engine}: {} of {}:\n{}", wrong.len(), modules.len(), wrong.join("\n"));
    }
}
