//! Numbers of bytes as settings write them: digits, and a unit if they like.

/// Redis' memory sizes: `1k` is 1000 bytes, `1kb` is 1024 bytes, and so on, in any case. What is too large for 64 bits is
/// the largest such number, and a unit multiplies modulo 2^64.
pub(super) fn parse_memory(text: &str) -> Option<u64> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let scale: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" => 1000,
        "kb" => 1 << 10,
        "m" => 1_000_000,
        "mb" => 1 << 20,
        "g" => 1_000_000_000,
        "gb" => 1 << 30,
        _ => return None,
    };
    // A unit alone is no bytes, as in Redis.
    let number = if number.is_empty() { 0 } else { number.parse::<u64>().unwrap_or(u64::MAX) };
    Some(number.wrapping_mul(scale))
}
