//! Processor times of the server, of this process and of the whole machine.

use std::fs;

use crate::Failure;

/// Seconds of processor since some moment.
#[derive(Clone, Copy)]
pub struct Clocks {
    pub server: f64,
    pub generator: f64,
    /// All that the machine's processors did, its other work included.
    pub machine: f64,
}

impl Clocks {
    /// Fails if the server has ended.
    pub fn read(server: u32) -> Result<Clocks, Failure> {
        let tick = rustix::param::clock_ticks_per_second() as f64;
        let all = fs::read_to_string("/proc/stat")?;
        // user, nice, system, idle, iowait, irq, softirq, steal.
        let fields: Vec<f64> =
            all.lines().next().unwrap_or("").split_whitespace().skip(1).flat_map(str::parse).collect();
        let busy = [0, 1, 2, 5, 6].iter().filter_map(|&at| fields.get(at)).sum::<f64>();
        Ok(Clocks {
            server: process(&server.to_string())? / tick,
            generator: process("self")? / tick,
            machine: busy / tick,
        })
    }

    pub fn since(self, earlier: Clocks) -> Clocks {
        Clocks {
            server: self.server - earlier.server,
            generator: self.generator - earlier.generator,
            machine: self.machine - earlier.machine,
        }
    }
}

/// User and system time of all threads, ended ones included, in ticks.
fn process(id: &str) -> Result<f64, Failure> {
    let text = fs::read_to_string(format!("/proc/{id}/stat"))?;
    let (_, fields) = text.rsplit_once(')').ok_or("no stat")?;
    Ok(fields.split_whitespace().skip(11).take(2).flat_map(str::parse::<f64>).sum())
}
