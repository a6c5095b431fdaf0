//! A file of a pack and the places in it: from byte offsets to lines and columns.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use toml::{
    Spanned,
    de::{DeValue, ValueDeserializer},
};

use crate::{
    condition::Fault,
    error::{Mistake, PackError},
};

/// A file that is text and not too long.
pub(super) struct Source {
    pub(super) name: String,
    pub(super) text: String,
}

impl Source {
    /// Returns the file with this name and content.
    pub(super) fn new(name: &str, bytes: &[u8]) -> Result<Self, PackError> {
        if bytes.len() > LONGEST {
            return Err(PackError::whole(name, format!("at most {LONGEST} bytes"), bytes.len())
                .cured("split the pack into layers"));
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Self { name: name.to_owned(), text: text.to_owned() }),
            Err(error) => {
                let line = line_after(&bytes[..error.valid_up_to()]);
                let mut error = PackError::whole(name, "UTF-8", "other bytes");
                error.line = Some(line);
                Err(error.cured("save the file as UTF-8"))
            }
        }
    }

    /// Returns whether this is the file with that name, wherever it lies.
    pub(super) fn is(&self, name: &str) -> bool {
        file_name(&self.name) == name
    }

    /// Returns what a part of the file says.
    pub(super) fn read<T: DeserializeOwned>(&self, value: Spanned<DeValue<'_>>) -> Result<T, PackError> {
        let start = value.span().start;
        T::deserialize(ValueDeserializer::from(value)).map_err(|error| {
            let at = error.span().map_or(start, |span| span.start);
            self.at(at, "a table as docs/rules.md describes it", error.message())
        })
    }

    /// Returns an error at this offset.
    pub(super) fn at(&self, offset: usize, expected: impl Into<String>, found: impl ToString) -> PackError {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        let column = u32::try_from(column).unwrap_or(u32::MAX);
        let mut error = PackError::whole(&self.name, expected, found);
        (error.line, error.column) = (Some(self.line(offset)), Some(column));
        error
    }

    /// Returns an error on this line.
    pub(super) fn line_error(
        &self,
        line: u32,
        expected: impl Into<String>,
        found: impl ToString,
    ) -> PackError {
        let mut error = PackError::whole(&self.name, expected, found);
        error.line = Some(line);
        error
    }

    /// Returns an error of the TOML reader.
    pub(super) fn toml(&self, error: &toml::de::Error) -> PackError {
        let at = error.span().map_or(0, |span| span.start);
        self.at(at, "TOML as docs/rules.md describes it", error.message().lines().next().unwrap_or_default())
    }

    /// Returns a mistake in a row as an error.
    pub(super) fn mistake(&self, offset: usize, mistake: Mistake) -> PackError {
        let mut error = self.at(offset, mistake.expected, mistake.found);
        error.cure = mistake.cure;
        error
    }

    /// Returns a fault of a condition as an error.
    pub(super) fn fault(&self, fault: Fault) -> PackError {
        let mut error = PackError::whole(&self.name, fault.expected, fault.found);
        (error.line, error.column, error.cure) = (Some(fault.line), Some(fault.column), fault.cure);
        error
    }

    /// Returns the line of an offset, counted from 1.
    pub(super) fn line(&self, offset: usize) -> u32 {
        line_after(self.text.as_bytes().get(..offset).unwrap_or_default())
    }

    /// Returns the offset at which a line begins.
    pub(super) fn start_of(&self, line: u32) -> usize {
        let before = usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1);
        self.text.split_inclusive('\n').take(before).map(str::len).sum()
    }
}

impl PackError {
    /// Returns an error about a whole file.
    #[expect(clippy::needless_pass_by_value, reason = "callers hand over what they just made")]
    pub(crate) fn whole(file: &str, expected: impl Into<String>, found: impl ToString) -> Self {
        let (expected, found) = (expected.into(), found.to_string());
        Self { file: file.to_owned(), line: None, column: None, expected, found, cure: None }
    }

    /// Returns the error with what to do about it.
    pub(crate) fn cured(mut self, cure: impl Into<String>) -> Self {
        self.cure = Some(cure.into());
        self
    }
}

/// Returns the line on which a text goes on after these bytes.
fn line_after(bytes: &[u8]) -> u32 {
    bytes.iter().fold(1, |line, byte| line + u32::from(*byte == b'\n'))
}

/// Returns the last part of a path.
pub(super) fn file_name(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

/// Returns where the value of each key of a table begins.
pub(super) fn keys(value: &Spanned<DeValue<'_>>) -> BTreeMap<String, usize> {
    let Some(table) = value.get_ref().as_table() else { return BTreeMap::new() };
    table.iter().map(|(key, value)| (key.get_ref().to_string(), value.span().start)).collect()
}

/// How long a file may be.
const LONGEST: usize = 256 << 10;
