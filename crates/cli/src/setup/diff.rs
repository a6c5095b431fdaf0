//! The difference between two texts that differ in one place or a few: with a little around it, as people read it.

use demur_core::visible::visible;

use crate::output::Paint;

/// Returns the difference line by line, from the first line that differs to the last one.
pub(super) fn diff(before: &str, after: &str) -> Vec<Line> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let begin = old.iter().zip(&new).take_while(same).count();
    let (old_rest, new_rest) = (&old[begin..], &new[begin..]);
    let end = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(same).count();
    let mut lines: Vec<Line> =
        old[begin.saturating_sub(AROUND)..begin].iter().map(|line| Line::new(Side::Both, line)).collect();
    lines.extend(old_rest[..old_rest.len() - end].iter().map(|line| Line::new(Side::Before, line)));
    lines.extend(new_rest[..new_rest.len() - end].iter().map(|line| Line::new(Side::After, line)));
    let tail = &old_rest[old_rest.len() - end..];
    lines.extend(tail.iter().take(AROUND).map(|line| Line::new(Side::Both, line)));
    lines
}

/// One line of a difference.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    side: Side,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Both,
    Before,
    After,
}

impl Line {
    fn new(side: Side, text: &str) -> Self {
        Self { side, text: text.to_owned() }
    }

    /// Returns the line with its sign.
    pub(super) fn plain(&self) -> String {
        let sign = match self.side {
            Side::Both => ' ',
            Side::Before => '-',
            Side::After => '+',
        };
        // A tab is white space here, and no trick.
        let text: Vec<_> = self.text.split('\t').map(visible).collect();
        format!("{sign} {}", text.join("\t")).trim_end().to_owned()
    }

    /// Returns the line as it is shown.
    pub(super) fn shown(&self, paint: Paint) -> String {
        let plain = self.plain();
        match self.side {
            Side::Both => plain,
            Side::Before => paint.bad(&plain),
            Side::After => paint.good(&plain),
        }
    }
}

/// How many lines around a change are shown. Few: what stands there is not always for every eye.
const AROUND: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(before: &str, after: &str) -> String {
        diff(before, after).iter().map(Line::plain).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn only_what_differs_and_a_little_around_it_is_shown() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n";
        assert_eq!(shown(before, "1\n2\n3\n4\nnew\n5\n6\n7\n8\n"), "  3\n  4\n+ new\n  5\n  6");
        assert_eq!(shown(before, "1\n2\n3\nfour\n5\n6\n7\n8\n"), "  2\n  3\n- 4\n+ four\n  5\n  6");
        assert_eq!(shown("", "a\nb\n"), "+ a\n+ b");
        assert_eq!(shown("a\nb\n", ""), "- a\n- b");
    }

    #[test]
    fn lines_that_repeat_are_not_counted_twice() {
        assert_eq!(shown("}\n", "}\n}\n"), "  }\n+ }");
        assert_eq!(shown("}\n}\n", "}\n"), "  }\n- }");
    }
}
