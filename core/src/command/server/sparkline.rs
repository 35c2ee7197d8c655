//! Numbers as a small drawing in letters, as LATENCY GRAPH shows them.

/// Rows of the drawing.
const ROWS: usize = 4;

/// What the top of a column looks like, by how much of its row it fills.
const TOPS: [char; 3] = ['_', 'o', '#'];

/// What a column looks like below its top.
const STEM: char = '|';

/// Appends the drawing of these numbers, oldest first, each with a label that is written downwards below it.
pub(super) fn draw(text: &mut String, samples: &[(u64, String)]) {
    let least = samples.iter().map(|(value, _)| *value).min().unwrap_or(0);
    // Latencies differ by powers, so the heights are logarithms.
    let height = |value: u64| ((value - least) as f64).ln_1p();
    let most = samples.iter().map(|(value, _)| height(*value)).fold(0.0, f64::max);
    let steps = ROWS * TOPS.len();
    let step_of = |value: u64| {
        let share = if most > 0.0 { height(value) / most } else { 0.0 };
        ((share * steps as f64) as usize).min(steps - 1)
    };
    for row in (0..ROWS).rev() {
        let column = |(value, _): &(u64, String)| match step_of(*value).checked_sub(row * TOPS.len()) {
            None => ' ',
            Some(step) => TOPS.get(step).copied().unwrap_or(STEM),
        };
        text.extend(samples.iter().map(column));
        text.push('\n');
    }
    text.extend(samples.iter().map(|_| ' '));
    text.push('\n');
    let longest = samples.iter().map(|(_, label)| label.len()).max().unwrap_or(0);
    for line in 0..longest {
        text.extend(samples.iter().map(|(_, label)| label.chars().nth(line).unwrap_or(' ')));
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn drawing_differs_from_redis() {
        let mut text = String::new();
        super::draw(&mut text, &[(10, "1s".into()), (200, "0s".into())]);
        assert_eq!(text, " #\n |\n |\n_|\n  \n10\nss\n");
    }
}
