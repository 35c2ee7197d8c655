//! A form of scores that sorts as bytes: big-endian, the sign bit flipped for positive numbers and every bit flipped
//! for negative ones.
//!
//! ```text
//!  -inf      000f ffff …        0   8000 0000 …        1.5  bff8 0000 …        inf  fff0 0000 …
//! ```
//!
//! Both zeros have the form of 0. NaN has no place and never gets here: commands refuse it.

/// Length of the form.
pub(super) const SORTABLE_BYTES: usize = 8;

const SIGN: u64 = 1 << 63;

/// The form of a score as a number, to reckon with bounds.
pub(super) fn sortable_bits(score: f64) -> u64 {
    debug_assert!(!score.is_nan(), "NaN is no score");
    // Adding 0 turns -0 into 0 and leaves everything else.
    let bits = (score + 0.0).to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

/// The form of a score.
pub(super) fn sortable(score: f64) -> [u8; SORTABLE_BYTES] {
    sortable_bits(score).to_be_bytes()
}

/// The score a form stands for.
pub(super) fn from_sortable(form: [u8; SORTABLE_BYTES]) -> f64 {
    let bits = u64::from_be_bytes(form);
    f64::from_bits(if bits & SIGN == 0 { !bits } else { bits & !SIGN })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_of_forms_is_not_the_order_of_scores() {
        let scores = [
            f64::NEG_INFINITY,
            f64::MIN,
            -1.5,
            -1.0,
            -f64::MIN_POSITIVE,
            -5e-324,
            0.0,
            5e-324,
            1.0,
            1.5,
            f64::MAX,
            f64::INFINITY,
        ];
        for pair in scores.windows(2) {
            assert!(sortable(pair[0]) < sortable(pair[1]), "{} before {}", pair[0], pair[1]);
        }
        for score in scores {
            assert_eq!(from_sortable(sortable(score)), score);
        }
        assert_eq!(sortable(-0.0), sortable(0.0));
        assert!(sortable_bits(f64::INFINITY) < u64::MAX, "no bound above infinity is left");
    }
}
