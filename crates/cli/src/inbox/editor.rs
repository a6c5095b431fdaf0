//! The line that is being typed, and how much of it fits on one row. Nothing here touches a terminal.

use demur_core::visible::{deceives, visible};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use zeroize::Zeroize as _;

use super::key::Key;

/// A line under way.
#[derive(Debug, Default)]
pub(super) struct Editor {
    text: Vec<char>,
    /// The place in it before which a character goes.
    at: usize,
    /// What was typed before, the newest last.
    past: Vec<String>,
    /// How far back in it one has gone.
    back: usize,
}

/// What a key made of the line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Edited {
    /// It may look different.
    Changed,
    /// It is done.
    Line(String),
    /// Whoever types wants to leave.
    Leave,
    /// Whoever types wants the shell for a while.
    Suspend,
}

/// One row: what stands on it, and where the cursor is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) text: String,
    pub(super) width: usize,
    pub(super) cursor: usize,
}

impl Editor {
    /// Takes a key.
    pub(super) fn press(&mut self, key: Key) -> Edited {
        match key {
            Key::Character(character) if self.text.len() < MAX_CHARACTERS => {
                self.text.insert(self.at, character);
                self.at += 1;
            }
            Key::Enter => return Edited::Line(self.take()),
            Key::Interrupt | Key::EndOfInput if self.text.is_empty() => return Edited::Leave,
            Key::Interrupt => self.set(""),
            Key::Suspend => return Edited::Suspend,
            Key::Up => self.travel(self.back + 1),
            Key::Down => self.travel(self.back.saturating_sub(1)),
            key => self.edit(key),
        }
        Edited::Changed
    }

    fn edit(&mut self, key: Key) {
        match key {
            Key::Left => self.at = self.at.saturating_sub(1),
            Key::Right => self.at = self.text.len().min(self.at + 1),
            Key::Home => self.at = 0,
            Key::End => self.at = self.text.len(),
            Key::Backspace if self.at > 0 => {
                self.at -= 1;
                self.text.remove(self.at);
            }
            Key::Delete | Key::EndOfInput if self.at < self.text.len() => {
                self.text.remove(self.at);
            }
            Key::CutAfter => self.text.truncate(self.at),
            Key::CutBefore => self.cut_from(0),
            Key::CutWord => {
                let before = &self.text[..self.at];
                let end = before.iter().rposition(|character| *character != ' ').unwrap_or(0);
                let space = before[..end].iter().rposition(|character| *character == ' ');
                self.cut_from(space.map_or(0, |space| space + 1));
            }
            _ => {}
        }
    }

    fn cut_from(&mut self, start: usize) {
        self.text.drain(start..self.at);
        self.at = start;
    }

    /// Goes this far back in what was typed before; nowhere is an empty line.
    fn travel(&mut self, back: usize) {
        if back > self.past.len() || back == self.back {
            return;
        }
        let line = self.past.len().checked_sub(back).and_then(|at| self.past.get(at)).cloned();
        self.set(&line.unwrap_or_default());
        self.back = back;
    }

    /// Makes room for a line that is moved nowhere while it grows.
    pub(super) fn make_room(&mut self) {
        self.text.reserve(MAX_CHARACTERS);
    }

    fn set(&mut self, line: &str) {
        self.text = line.chars().collect();
        self.at = self.text.len();
        self.back = 0;
    }

    fn take(&mut self) -> String {
        // With room for all of it: it may be a secret, and is not moved about.
        let mut line = String::with_capacity(self.text.len() * 4);
        line.extend(&self.text);
        self.text.zeroize();
        self.set("");
        line
    }

    /// Keeps a line, so that the arrows bring it back.
    pub(super) fn remember(&mut self, line: &str) {
        if line.trim().is_empty() || self.past.last().is_some_and(|last| last == line) {
            return;
        }
        if self.past.len() == MAX_PAST_LINES {
            self.past.remove(0);
        }
        self.past.push(line.to_owned());
    }

    /// Returns the part of the line around the cursor that fits on a row of this width after a prompt.
    pub(super) fn row(&self, prompt: &str, columns: usize) -> Row {
        let prompt = if prompt.width() + MIN_LINE_COLUMNS > columns { "" } else { prompt };
        let begin = prompt.width();
        // The last column stays free: a cursor beyond it would be on the next row.
        let room = columns.saturating_sub(begin + 1).max(1);
        let mut start = self.at;
        let mut used = 0;
        while start > 0 && used + width(self.text[start - 1]) <= room {
            start -= 1;
            used += width(self.text[start]);
        }
        let mut end = self.at;
        let mut total = used;
        while end < self.text.len() && total + width(self.text[end]) <= room {
            total += width(self.text[end]);
            end += 1;
        }
        let part: String = self.text[start..end].iter().collect();
        Row { text: format!("{prompt}{}", visible(&part)), width: begin + total, cursor: begin + used }
    }
}

/// Returns how many columns a character takes, as it is shown.
fn width(character: char) -> usize {
    if deceives(character) {
        return format!("\\u{{{:x}}}", u32::from(character)).len();
    }
    character.width().unwrap_or(0)
}

/// How many columns the line has beside a prompt; in a narrower window there is no prompt.
const MIN_LINE_COLUMNS: usize = 4;
/// How many characters a line may have.
const MAX_CHARACTERS: usize = 1 << 16;
/// How many lines come back.
const MAX_PAST_LINES: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(words: &str) -> Editor {
        let mut editor = Editor::default();
        for character in words.chars() {
            editor.press(Key::Character(character));
        }
        editor
    }

    fn press(editor: &mut Editor, keys: &[Key]) -> String {
        for key in keys {
            editor.press(*key);
        }
        editor.text.iter().collect()
    }

    #[test]
    fn keys_change_the_line_where_the_cursor_is() {
        let mut editor = typed("3 blua");
        assert_eq!(press(&mut editor, &[Key::Backspace, Key::Character('e')]), "3 blue");
        assert_eq!(press(&mut editor, &[Key::Home, Key::Delete, Key::Character('4')]), "4 blue");
        assert_eq!(press(&mut editor, &[Key::End, Key::Left, Key::CutAfter]), "4 blu");
        assert_eq!(press(&mut editor, &[Key::CutWord]), "4 ");
        assert_eq!(press(&mut editor, &[Key::CutBefore, Key::CutWord, Key::Backspace]), "");
    }

    #[test]
    fn words_are_cut_with_the_spaces_behind_them() {
        assert_eq!(press(&mut typed("3 deep blue  "), &[Key::CutWord]), "3 deep ");
        assert_eq!(press(&mut typed("   "), &[Key::CutWord]), "");
    }

    #[test]
    fn interrupt_clears_first_and_leaves_then() {
        let mut editor = typed("3");
        assert_eq!(editor.press(Key::Interrupt), Edited::Changed);
        assert_eq!(editor.press(Key::Interrupt), Edited::Leave);
        assert_eq!(typed("").press(Key::EndOfInput), Edited::Leave);
        assert_eq!(typed("3").press(Key::EndOfInput), Edited::Changed);
    }

    #[test]
    fn arrows_bring_earlier_lines_back() {
        let mut editor = Editor::default();
        editor.remember("1 yes");
        editor.remember("2 no");
        assert_eq!(press(&mut editor, &[Key::Up]), "2 no");
        assert_eq!(press(&mut editor, &[Key::Up]), "1 yes");
        assert_eq!(press(&mut editor, &[Key::Up]), "1 yes");
        assert_eq!(press(&mut editor, &[Key::Down]), "2 no");
        assert_eq!(press(&mut editor, &[Key::Down, Key::Down]), "");
    }

    #[test]
    fn row_never_reaches_the_last_column() {
        for columns in [1, 8, 9, 20, 80] {
            for words in ["", "3 blue", "王小明王小明王小明王小明", &"long ".repeat(40)] {
                let mut editor = typed(words);
                for _ in 0..words.chars().count() {
                    let row = editor.row("> ", columns);
                    assert!(row.width < columns.max(3), "{columns} {words} {row:?}");
                    assert!(row.cursor <= row.width, "{columns} {words} {row:?}");
                    editor.press(Key::Left);
                }
            }
        }
    }

    #[test]
    fn row_shows_what_would_deceive() {
        let row = typed("a\u{202e}b").row("> ", 40);
        assert_eq!(row, Row { text: "> a\\u{202e}b".to_owned(), width: 12, cursor: 12 });
    }
}
