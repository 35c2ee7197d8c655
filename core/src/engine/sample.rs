//! Keys picked at random, from which the next ones to be evicted are chosen.

use super::{Db, Reader, Result, Root};

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Decides which keys are picked.
    pub random: u64,
    /// About how many keys of each database.
    pub count: usize,
    /// Only keys with an expiry.
    pub only_expiring: bool,
    /// Keys that are looked at at most, where few have an expiry.
    pub looked_max: usize,
}

/// What came of looking for keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampled {
    /// Keys were shown.
    Found,
    /// None was found yet among those that were looked at. The next call goes on elsewhere.
    Searching,
    /// Others hold the locks of all places that may have one.
    Busy,
    /// There is none.
    NoneLeft,
}

/// Picks keys by the walks that every engine has; of each database as many as `sample` says.
pub(crate) fn by_random_keys(
    reader: &mut dyn Reader,
    databases: Db,
    sample: &Sample,
    visit: &mut dyn FnMut(Db, &[u8], &Root),
) -> Result<Sampled> {
    let mut random = fastrand::Rng::with_seed(sample.random);
    let mut sampled = Sampled::NoneLeft;
    for db in 0..databases {
        let count = if sample.only_expiring { reader.expiring_count(db)? } else { reader.key_count(db)? };
        if count == 0 {
            continue;
        }
        let (mut found, mut looked) = (0, 0);
        while found < sample.count && looked < sample.looked_max {
            looked += 1;
            reader.random_key(db, random.u64(..), &mut |key, root| {
                if !sample.only_expiring || root.expires_at_ms.is_some() {
                    found += 1;
                    visit(db, key, root);
                }
            })?;
        }
        if found > 0 {
            sampled = Sampled::Found;
        } else if sampled == Sampled::NoneLeft {
            sampled = Sampled::Searching;
        }
    }
    Ok(sampled)
}
