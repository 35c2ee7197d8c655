//! What PFSELFTEST runs: registers keep what they are given, and estimates are as good as promised.

use super::{REGISTERS, Sketch, dense};

/// Rounds over all registers.
const ROUNDS: u64 = 64;

/// Elements added; estimates are looked at whenever their number has doubled.
const ELEMENTS: u64 = 1 << 17;

/// Standard error of an estimate: 1.04 / √16384.
const ERROR: f64 = 1.04 / 128.0;

/// So many standard errors an estimate may be away.
const ERRORS_MAX: f64 = 5.0;

/// What is wrong, if something is. Takes some tens of milliseconds.
pub fn self_test() -> Result<(), String> {
    registers()?;
    estimates()
}

fn registers() -> Result<(), String> {
    let mut bytes = vec![0; dense::BYTES];
    let mut wanted = vec![0; REGISTERS];
    let mut state = 1_u64;
    for round in 0..ROUNDS {
        for (index, wanted) in wanted.iter_mut().enumerate() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Six bits.
            *wanted = (state >> 58) as u8;
            dense::set(&mut bytes, index, *wanted);
        }
        for (index, wanted) in wanted.iter().enumerate() {
            let found = dense::get(&bytes, index);
            if found != *wanted {
                return Err(format!("round {round}: register {index} should be {wanted} but is {found}"));
            }
        }
    }
    Ok(())
}

fn estimates() -> Result<(), String> {
    let corrupted = |_| "a sketch is corrupted".to_string();
    // One stays sparse for as long as it can.
    let (mut early, mut late) = (Sketch::default(), Sketch::default());
    early.make_dense().map_err(corrupted)?;
    for number in 1..=ELEMENTS {
        let element = number.to_le_bytes();
        early.add(&element, 0).map_err(corrupted)?;
        late.add(&element, u64::MAX).map_err(corrupted)?;
        if !number.is_power_of_two() {
            continue;
        }
        let estimate = early.estimate().map_err(corrupted)?;
        if late.estimate().map_err(corrupted)? != estimate {
            return Err(format!("sparse and dense sketches of {number} elements disagree"));
        }
        let most = (ERROR * ERRORS_MAX * number as f64).ceil() as u64;
        if estimate.abs_diff(number) > most {
            return Err(format!("{number} elements are estimated as {estimate}"));
        }
    }
    Ok(())
}
