//! The scanner: one pass over a JSON text, in two modes. Canonical mode accepts exactly what the writer
//! writes; the other accepts strict JSON (RFC 8259 as narrowed by RFC 7493) in any layout.

use std::cmp::Ordering;
use std::ops::Range;

use super::error::{ReadError, ReadErrorKind};
use super::number::{self, Decimal, GREATEST_INTEGER};
use super::order::{Key, compare};
use super::text::{find_special, short_escape};
use crate::limit::Limits;

/// Returns the bytes as text, once they are known to be one good value.
pub(super) fn scan<'a, const CANONICAL: bool>(
    bytes: &'a [u8],
    limits: &Limits,
) -> Result<&'a str, ReadError> {
    let (mut scanner, text) = Scanner::<CANONICAL>::open(bytes, limits)?;
    scanner.value(scanner.limits.depth)?;
    scanner.close()?;
    Ok(text)
}

/// Returns the bytes as text, once they are known to be one good value in any layout, and where the members of the object
/// stand; none where the value is no object.
pub(super) fn members<'a>(bytes: &'a [u8], limits: &Limits) -> Result<(&'a str, Option<Places>), ReadError> {
    let (mut scanner, text) = Scanner::<false>::open(bytes, limits)?;
    let depth = scanner.limits.depth;
    let mut places = None;
    if scanner.peek() == Some(b'{') {
        let mut found = Vec::with_capacity(USUAL_MEMBERS);
        scanner.members(depth, |key, value| found.push((key, value)))?;
        places = Some(found);
    } else {
        scanner.value(depth)?;
    }
    scanner.close()?;
    Ok((text, places))
}

/// Returns the text of the first value in canonical form, and the bytes after it.
pub(super) fn split_first<'a>(bytes: &'a [u8], limits: &Limits) -> Option<(&'a str, &'a [u8])> {
    let depth = limits.depth.min(Limits::DEEPEST);
    let limits = Limits { depth, ..*limits };
    let mut scanner = Scanner::<true> { bytes, at: 0, limits, keys: Vec::new() };
    scanner.value(depth).ok()?;
    let (value, rest) = bytes.split_at_checked(scanner.at)?;
    let text = std::str::from_utf8(value).ok()?;
    (value.len() <= limits.bytes).then_some((text, rest))
}

/// Where the members of an object stand: their keys and their values.
type Places = Vec<(Key, Range<usize>)>;

struct Scanner<'a, const CANONICAL: bool> {
    bytes: &'a [u8],
    at: usize,
    limits: Limits,
    /// The keys of all objects that are open; unused in canonical mode, where their order shows duplicates.
    keys: Vec<Key>,
}

impl<'a, const CANONICAL: bool> Scanner<'a, CANONICAL> {
    /// Returns the scanner before the first value, and the bytes as text.
    fn open(bytes: &'a [u8], limits: &Limits) -> Result<(Self, &'a str), ReadError> {
        if bytes.len() > limits.bytes {
            let kind = ReadErrorKind::TooLong { limit: limits.bytes, found: bytes.len() };
            return Err(ReadError::new(limits.bytes, kind));
        }
        let text = std::str::from_utf8(bytes)
            .map_err(|error| ReadError::new(error.valid_up_to(), ReadErrorKind::Utf8))?;
        let depth = limits.depth.min(Limits::DEEPEST);
        let mut scanner = Self { bytes, at: 0, limits: Limits { depth, ..*limits }, keys: Vec::new() };
        scanner.skip_space();
        Ok((scanner, text))
    }

    /// Takes the end of the text, after the value.
    fn close(&mut self) -> Result<(), ReadError> {
        self.skip_space();
        match self.peek() {
            None => Ok(()),
            Some(found) if CANONICAL && is_space(found) => self.fail(ReadErrorKind::Whitespace { found }),
            Some(found) => self.fail(ReadErrorKind::Trailing { found }),
        }
    }

    /// Takes one value; `room` is how many levels it may still open.
    fn value(&mut self, room: usize) -> Result<(), ReadError> {
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'{') => self.object(room),
            Some(b'[') => self.array(room),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word(b"true"),
            Some(b'f') => self.word(b"false"),
            Some(b'n') => self.word(b"null"),
            _ => self.unexpected("a value"),
        }
    }

    fn array(&mut self, room: usize) -> Result<(), ReadError> {
        let room = self.enter(room)?;
        if self.take(b']') {
            return Ok(());
        }
        for _ in 0..self.limits.members {
            self.value(room)?;
            self.skip_space();
            if self.take(b']') {
                return Ok(());
            }
            self.expect(b',', "a comma or the end of the array")?;
            self.skip_space();
        }
        self.fail(ReadErrorKind::TooMany { limit: self.limits.members })
    }

    fn object(&mut self, room: usize) -> Result<(), ReadError> {
        self.members(room, |_, _| ())
    }

    /// Takes one object, and tells of each member where its key and its value stand.
    fn members(&mut self, room: usize, mut seen: impl FnMut(Key, Range<usize>)) -> Result<(), ReadError> {
        let room = self.enter(room)?;
        if self.take(b'}') {
            return Ok(());
        }
        let base = self.keys.len();
        let mut last = None;
        let mut ascending = true;
        for _ in 0..self.limits.members {
            let key = self.key(last, &mut ascending)?;
            last = Some(key);
            let start = self.at;
            self.value(room)?;
            seen(key, start..self.at);
            self.skip_space();
            if self.take(b'}') {
                return if CANONICAL { Ok(()) } else { self.leave(base, ascending) };
            }
            self.expect(b',', "a comma or the end of the object")?;
            self.skip_space();
        }
        self.fail(ReadErrorKind::TooMany { limit: self.limits.members })
    }

    /// Takes a key and its colon, and compares it with the last one.
    fn key(&mut self, last: Option<Key>, ascending: &mut bool) -> Result<Key, ReadError> {
        if self.peek() != Some(b'"') {
            return self.unexpected("a key in quotes");
        }
        let key = self.string()?;
        match last.map_or(Ordering::Less, |last| compare(self.bytes, last, key)) {
            Ordering::Less => {}
            Ordering::Equal => return Err(ReadError::new(key.start, ReadErrorKind::DuplicateKey)),
            Ordering::Greater if CANONICAL => return Err(ReadError::new(key.start, ReadErrorKind::KeyOrder)),
            Ordering::Greater => *ascending = false,
        }
        if !CANONICAL {
            self.keys.push(key);
        }
        self.skip_space();
        self.expect(b':', "a colon")?;
        self.skip_space();
        Ok(key)
    }

    /// Opens a level and returns how many more there may be.
    fn enter(&mut self, room: usize) -> Result<usize, ReadError> {
        let Some(room) = room.checked_sub(1) else {
            return self.fail(ReadErrorKind::TooDeep { limit: self.limits.depth });
        };
        self.at += 1;
        self.skip_space();
        Ok(room)
    }

    /// Closes an object whose keys came in any order: sorted, equal ones stand side by side.
    fn leave(&mut self, base: usize, ascending: bool) -> Result<(), ReadError> {
        if !ascending {
            let bytes = self.bytes;
            let keys = &mut self.keys[base..];
            // Stable, so that the later one of two equal keys is blamed.
            keys.sort_by(|left, right| compare(bytes, *left, *right));
            if let Some(pair) = keys.windows(2).find(|pair| compare(bytes, pair[0], pair[1]).is_eq()) {
                return Err(ReadError::new(pair[1].start, ReadErrorKind::DuplicateKey));
            }
        }
        self.keys.truncate(base);
        Ok(())
    }

    /// Takes a string from its opening quote on, and returns where it stands.
    fn string(&mut self) -> Result<Key, ReadError> {
        let start = self.at + 1;
        let mut escaped = false;
        self.at = find_special(self.bytes, start);
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(found) => return self.fail(ReadErrorKind::Control { found }),
                None => return self.unexpected("the closing quote of a string"),
            }
            escaped = true;
            self.at = find_special(self.bytes, self.at);
        }
        let end = self.at;
        if end - start > self.limits.text {
            let kind = ReadErrorKind::TextTooLong { limit: self.limits.text, found: end - start };
            return Err(ReadError::new(start, kind));
        }
        self.at += 1;
        Ok(Key { start, end, escaped })
    }

    #[cold]
    fn escape(&mut self) -> Result<(), ReadError> {
        match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'/') if !CANONICAL => self.at += 2,
            Some(b'u') => {
                let unit = self.unit()?;
                if CANONICAL {
                    self.check_canonical_unit(unit)?;
                } else {
                    self.check_pair(unit)?;
                }
            }
            Some(_) if CANONICAL => return self.fail(ReadErrorKind::Escape { expected: CANONICAL_ESCAPE }),
            Some(_) => return self.fail(ReadErrorKind::Escape { expected: "an escape that JSON knows" }),
            None => {
                self.at += 1;
                return self.unexpected("an escape");
            }
        }
        Ok(())
    }

    /// Takes `\uXXXX` and returns the code unit.
    fn unit(&mut self) -> Result<u16, ReadError> {
        let digits = self.bytes.get(self.at + 2..self.at + 6).unwrap_or_default();
        let unit =
            digits.iter().try_fold(0, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)?));
        match unit.and_then(|unit| u16::try_from(unit).ok()) {
            Some(unit) if digits.len() == 4 => {
                self.at += 6;
                Ok(unit)
            }
            _ => self.fail(ReadErrorKind::Escape { expected: "four hex digits after \\u" }),
        }
    }

    /// Checks that the unit just taken is a control character without short form, in lower case.
    fn check_canonical_unit(&mut self, unit: u16) -> Result<(), ReadError> {
        let digits = &self.bytes[self.at - 4..self.at];
        let control = u8::try_from(unit).is_ok_and(|byte| byte < 0x20 && short_escape(byte).is_none());
        if control && !digits.iter().any(u8::is_ascii_uppercase) {
            return Ok(());
        }
        self.at -= 6;
        self.fail(ReadErrorKind::Escape { expected: CANONICAL_ESCAPE })
    }

    /// Checks that a surrogate just taken is followed by its other half.
    fn check_pair(&mut self, unit: u16) -> Result<(), ReadError> {
        let start = self.at - 6;
        let complete = match unit {
            0xd800..0xdc00 => {
                self.bytes[self.at..].starts_with(b"\\u") && (0xdc00..0xe000).contains(&self.unit()?)
            }
            0xdc00..0xe000 => false,
            _ => true,
        };
        if complete { Ok(()) } else { Err(ReadError::new(start, ReadErrorKind::Surrogate)) }
    }

    fn number(&mut self) -> Result<(), ReadError> {
        let start = self.at;
        self.take(b'-');
        let whole = self.digits()?;
        if whole.len() > 1 && whole[0] == b'0' {
            return Err(ReadError::new(start, ReadErrorKind::Number { expected: "no leading zeros" }));
        }
        if matches!(self.peek(), Some(b'.' | b'e' | b'E')) {
            return self.fraction(start);
        }
        if CANONICAL && whole == b"0" && self.at - start == 2 {
            return Err(ReadError::new(start, ReadErrorKind::Number { expected: CANONICAL_NUMBER }));
        }
        // Up to fifteen digits are below 2^53 in any case.
        if whole.len() > 15 && !is_exact(whole) {
            return Err(ReadError::new(start, ReadErrorKind::Range));
        }
        Ok(())
    }

    /// Takes the rest of a number with a point or an exponent.
    fn fraction(&mut self, start: usize) -> Result<(), ReadError> {
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        let literal = &self.bytes[start..self.at];
        let value: Option<f64> = std::str::from_utf8(literal).ok().and_then(|literal| literal.parse().ok());
        match value.filter(|value| value.is_finite() && !number::is_beyond_integers(*value)) {
            None => Err(ReadError::new(start, ReadErrorKind::Range)),
            Some(value) if CANONICAL && Decimal::new(value).as_bytes() != literal => {
                Err(ReadError::new(start, ReadErrorKind::Number { expected: CANONICAL_NUMBER }))
            }
            Some(_) => Ok(()),
        }
    }

    /// Takes one or more digits.
    fn digits(&mut self) -> Result<&'a [u8], ReadError> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start {
            return self.unexpected("a digit");
        }
        Ok(&self.bytes[start..self.at])
    }

    fn word(&mut self, word: &'static [u8]) -> Result<(), ReadError> {
        if !self.bytes[self.at..].starts_with(word) {
            return self.unexpected("a value");
        }
        self.at += word.len();
        Ok(())
    }

    fn skip_space(&mut self) {
        if !CANONICAL {
            while self.peek().is_some_and(is_space) {
                self.at += 1;
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), ReadError> {
        if self.take(byte) { Ok(()) } else { self.unexpected(expected) }
    }

    #[cold]
    fn unexpected<T>(&self, expected: &'static str) -> Result<T, ReadError> {
        self.fail(match self.peek() {
            Some(found) if CANONICAL && is_space(found) => ReadErrorKind::Whitespace { found },
            Some(found) => ReadErrorKind::Byte { expected, found },
            None => ReadErrorKind::End { expected },
        })
    }

    #[cold]
    fn fail<T>(&self, kind: ReadErrorKind) -> Result<T, ReadError> {
        Err(ReadError::new(self.at, kind))
    }
}

/// Returns whether these digits are at most 2^53 - 1.
fn is_exact(digits: &[u8]) -> bool {
    std::str::from_utf8(digits)
        .ok()
        .and_then(|digits| digits.parse().ok())
        .is_some_and(|number: u64| number <= GREATEST_INTEGER)
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

const CANONICAL_ESCAPE: &str = "the canonical escape";
const CANONICAL_NUMBER: &str = "the canonical number";

/// Enough for the members of most messages, so that they are noted in one allocation.
const USUAL_MEMBERS: usize = 24;
