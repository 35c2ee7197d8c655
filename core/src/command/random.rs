//! Drawing elements of a collection by their ranks: HRANDFIELD, SRANDMEMBER and ZRANDMEMBER.

use std::collections::HashSet;

use super::CommandError;
use crate::limits::RANDOM_PICKS_MAX;

/// The ranks to pick out of `len` elements for a `count` as the client gave it: without repetition if it is positive
/// (then never more than there are, and all of them in order), with repetition if it is negative.
pub fn ranks(random: &mut fastrand::Rng, count: i64, len: u64) -> Result<Vec<u64>, CommandError> {
    let wanted = count.unsigned_abs();
    if wanted == 0 || len == 0 {
        return Ok(Vec::new());
    }
    if count < 0 {
        if wanted > RANDOM_PICKS_MAX {
            return Err(CommandError::OUT_OF_RANGE);
        }
        return Ok((0..wanted).map(|_| random.u64(0..len)).collect());
    }
    if wanted >= len {
        return Ok((0..len).collect());
    }
    // Floyd's sampling: as many draws as ranks, and every set of ranks is as likely as any other.
    let mut taken = HashSet::new();
    let mut picked = Vec::new();
    for last in len - wanted..len {
        let drawn = random.u64(0..=last);
        let rank = if taken.insert(drawn) { drawn } else { last };
        taken.insert(rank);
        picked.push(rank);
    }
    Ok(picked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picks_repeat_or_miss_some() {
        let mut random = fastrand::Rng::with_seed(7);
        for len in 1..40 {
            for count in 0..50 {
                let picked = ranks(&mut random, count, len).expect("any positive count");
                let distinct: HashSet<u64> = picked.iter().copied().collect();
                assert_eq!(picked.len() as u64, len.min(count.unsigned_abs()), "{count} of {len}");
                assert_eq!(distinct.len(), picked.len(), "{count} of {len}");
                assert!(picked.iter().all(|rank| *rank < len));
            }
        }
    }

    #[test]
    fn some_elements_are_picked_more_often() {
        let mut random = fastrand::Rng::with_seed(11);
        let mut counts = [0_u32; 10];
        for _ in 0..20_000 {
            for rank in ranks(&mut random, 3, 10).expect("a small count") {
                counts[rank as usize] += 1;
            }
        }
        // 6000 each on average, with a standard deviation of about 65.
        assert!(counts.iter().all(|count| (5600..6400).contains(count)), "{counts:?}");
    }

    #[test]
    fn huge_negative_count_fills_the_memory() {
        let mut random = fastrand::Rng::with_seed(1);
        assert_eq!(ranks(&mut random, i64::MIN, 3), Err(CommandError::OUT_OF_RANGE));
        assert_eq!(ranks(&mut random, -5, 0), Ok(Vec::new()));
        assert_eq!(ranks(&mut random, -5, 1), Ok(vec![0; 5]));
    }
}
