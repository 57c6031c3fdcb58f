//! A row of numbers as a row of bars.

/// From nothing to the most.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The last `width` of these numbers, oldest first, each as a bar; what is not known is a gap. The highest bar is the most
/// of those that are shown, and only 0 has the lowest.
pub(super) fn sparkline(
    numbers: impl DoubleEndedIterator<Item = Option<i64>> + Clone,
    width: usize,
) -> String {
    let last = numbers.rev().take(width);
    let most = last.clone().flatten().max().unwrap_or(0).max(1);
    let bar = |number: i64| {
        let highest = BARS.len() as i128 - 1;
        // Rounded up, so that a little is more than nothing.
        let height = (i128::from(number.max(0)) * highest + i128::from(most) - 1) / i128::from(most);
        BARS[usize::try_from(height).unwrap_or(0).min(BARS.len() - 1)]
    };
    let bars: Vec<char> = last.map(|number| number.map_or(' ', bar)).collect();
    bars.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: &[Option<i64>], width: usize) -> String {
        sparkline(numbers.iter().copied(), width)
    }

    #[test]
    fn nothing_little_and_most_are_told_apart() {
        assert_eq!(of(&[Some(0), Some(1), Some(500), Some(1000)], 10), "▁▂▅█");
        assert_eq!(of(&[Some(0), Some(0)], 10), "▁▁", "0 all the time is no peak");
        assert_eq!(of(&[Some(i64::MAX), Some(i64::MAX / 2)], 10), "█▅");
        assert_eq!(of(&[Some(3), None, Some(3)], 10), "█ █");
        assert_eq!(of(&[], 10), "");
    }

    #[test]
    fn the_last_ones_are_shown_and_measured_against_each_other() {
        assert_eq!(of(&[Some(1_000_000), Some(1), Some(2)], 2), "▅█");
    }
}
