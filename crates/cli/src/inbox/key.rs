//! Keys, as a terminal sends them: bytes in, one key at a time out. What is pasted is text, whatever is in it: a line
//! feed inside presses no Enter.

use zeroize::Zeroize as _;

/// A key that means something here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Character(char),
    Enter,
    Backspace,
    Delete,
    Left,
    Right,
    Home,
    End,
    Up,
    Down,
    /// Takes away the word before the cursor.
    CutWord,
    /// Takes away everything before the cursor.
    CutBefore,
    /// Takes away everything after the cursor.
    CutAfter,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D.
    EndOfInput,
    /// Ctrl-Z.
    Suspend,
    /// Ctrl-L.
    Redraw,
}

/// Bytes that became no key yet.
#[derive(Debug, Default)]
pub(super) struct Keys {
    bytes: Vec<u8>,
    pasting: bool,
}

/// What stands at the beginning of the bytes.
enum Found {
    Key(Key),
    /// Something that means nothing here.
    Nothing,
    PasteBegins,
    PasteEnds,
}

impl Keys {
    /// Takes what the terminal sent.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns whether something has begun that the next bytes may end.
    pub(super) const fn is_waiting(&self) -> bool {
        !self.bytes.is_empty()
    }

    /// Forgets what has begun: it was a key of its own, such as Escape.
    pub(super) fn give_up(&mut self) {
        self.bytes.clear();
    }

    /// Wipes what is no longer needed of what the terminal sent.
    pub(super) fn wipe(&mut self) {
        if self.bytes.is_empty() {
            self.bytes.zeroize();
        }
    }

    /// Returns the next key that has arrived.
    pub(super) fn next(&mut self) -> Option<Key> {
        loop {
            let (found, length) = self.found()?;
            self.bytes.drain(..length);
            match found {
                Found::Key(key) => return Some(key),
                Found::Nothing => {}
                Found::PasteBegins => self.pasting = true,
                Found::PasteEnds => self.pasting = false,
            }
        }
    }

    fn found(&self) -> Option<(Found, usize)> {
        let first = *self.bytes.first()?;
        match first {
            0x1b => self.escape(),
            0..0x20 | 0x7f => {
                let key = if self.pasting { pasted(first) } else { control(first) };
                Some((key.map_or(Found::Nothing, Found::Key), 1))
            }
            _ => self.character(first),
        }
    }

    fn character(&self, first: u8) -> Option<(Found, usize)> {
        let length = match first {
            0..0x80 => 1,
            0xc2..0xe0 => 2,
            0xe0..0xf0 => 3,
            0xf0..0xf5 => 4,
            _ => return Some((Found::Nothing, 1)),
        };
        let available = self.bytes.len().min(length);
        match str::from_utf8(&self.bytes[..available]) {
            Ok(text) => text.chars().next().map(|character| (Found::Key(Key::Character(character)), length)),
            // The rest of it is on its way.
            Err(error) if error.error_len().is_none() && available < length => None,
            Err(_) => Some((Found::Nothing, 1)),
        }
    }

    /// Returns what an escape sequence means, once all of it is there.
    fn escape(&self) -> Option<(Found, usize)> {
        let kind = *self.bytes.get(1)?;
        if kind == b'O' {
            return self.bytes.get(2).map(|last| (arrow(*last), 3));
        }
        if kind != b'[' {
            return Some((Found::Nothing, 1));
        }
        let rest = &self.bytes[2..];
        let Some(length) = rest.iter().position(|byte| (0x40..0x7f).contains(byte)) else {
            return (rest.len() > LONGEST_SEQUENCE).then_some((Found::Nothing, 1));
        };
        let found = match (&rest[..length], rest[length]) {
            (b"200", b'~') => Found::PasteBegins,
            (b"201", b'~') => Found::PasteEnds,
            (b"1" | b"7", b'~') => Found::Key(Key::Home),
            (b"4" | b"8", b'~') => Found::Key(Key::End),
            (b"3", b'~') => Found::Key(Key::Delete),
            (b"", last) => arrow(last),
            _ => Found::Nothing,
        };
        Some((found, length + 3))
    }
}

fn arrow(last: u8) -> Found {
    Found::Key(match last {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'C' => Key::Right,
        b'D' => Key::Left,
        b'H' => Key::Home,
        b'F' => Key::End,
        _ => return Found::Nothing,
    })
}

fn control(byte: u8) -> Option<Key> {
    Some(match byte {
        b'\r' | b'\n' => Key::Enter,
        0x7f | 0x08 => Key::Backspace,
        0x01 => Key::Home,
        0x02 => Key::Left,
        0x03 => Key::Interrupt,
        0x04 => Key::EndOfInput,
        0x05 => Key::End,
        0x06 => Key::Right,
        0x0b => Key::CutAfter,
        0x0c => Key::Redraw,
        0x0e => Key::Down,
        0x10 => Key::Up,
        0x15 => Key::CutBefore,
        0x17 => Key::CutWord,
        0x1a => Key::Suspend,
        _ => return None,
    })
}

fn pasted(byte: u8) -> Option<Key> {
    matches!(byte, b'\r' | b'\n' | b'\t').then_some(Key::Character(' '))
}

/// Longer than any sequence that a terminal sends.
const LONGEST_SEQUENCE: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Key> {
        let mut keys = Keys::default();
        keys.add(bytes);
        std::iter::from_fn(|| keys.next()).collect()
    }

    fn text(keys: &[Key]) -> String {
        let character = |key: &Key| match key {
            Key::Character(character) => *character,
            other => panic!("expected text, found {other:?}"),
        };
        keys.iter().map(character).collect()
    }

    #[test]
    fn characters_arrive_whole_however_they_are_cut() {
        let words = "Zoë 王小明 👩‍🚀";
        let mut keys = Keys::default();
        let mut found = Vec::new();
        for byte in words.bytes() {
            keys.add(&[byte]);
            found.extend(std::iter::from_fn(|| keys.next()));
        }
        assert_eq!(text(&found), words);
        assert!(!keys.is_waiting());
    }

    #[test]
    fn pasted_text_presses_no_keys() {
        let found = keys(b"\x1b[200~3 yes\r\n4 no\x03\x04\x1b[201~\r");
        assert_eq!(text(&found[..found.len() - 1]), "3 yes  4 no");
        assert_eq!(found.last(), Some(&Key::Enter));
    }

    #[test]
    fn arrows_come_in_two_spellings() {
        assert_eq!(keys(b"\x1b[A\x1bOB\x1b[3~\x1b[1~"), [Key::Up, Key::Down, Key::Delete, Key::Home]);
    }

    #[test]
    fn unknown_sequences_leave_no_rubbish() {
        assert_eq!(text(&keys(b"a\x1b[1;5Cb\x1b[15~c\xff\xc3d")), "abcd");
    }

    #[test]
    fn escape_alone_waits_and_can_be_forgotten() {
        let mut keys = Keys::default();
        keys.add(b"\x1b");
        assert_eq!(keys.next(), None);
        assert!(keys.is_waiting());
        keys.give_up();
        keys.add(b"1");
        assert_eq!(keys.next(), Some(Key::Character('1')));
    }
}
