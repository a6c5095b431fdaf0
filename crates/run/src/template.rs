//! The text of a claim with places for values: `The text has {lines} lines.` A brace stands for itself where it is doubled.

use demur_core::limit::Text;
use serde::{Deserialize, Deserializer, de::Error as _};

/// A text with places for values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Words(String),
    Value(String),
}

impl Template {
    /// Returns the template in this text, or what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (mut parts, mut words, mut rest) = (Vec::new(), String::new(), text);
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(at);
            words += before;
            if let Some(after) = from.strip_prefix("{{").or_else(|| from.strip_prefix("}}")) {
                words.extend(from.chars().next());
                rest = after;
                continue;
            }
            let value = from.strip_prefix('{').and_then(|from| from.split_once('}'));
            let (name, after) = value.filter(|(name, _)| is_name(name)).ok_or_else(|| {
                let found = demur_core::words::beginning(from, 20);
                format!("expected the name of a value in braces, or a doubled brace, found {found:?}")
            })?;
            if !words.is_empty() {
                parts.push(Part::Words(std::mem::take(&mut words)));
            }
            parts.push(Part::Value(name.to_owned()));
            rest = after;
        }
        words += rest;
        if !words.is_empty() {
            parts.push(Part::Words(words));
        }
        Ok(Self { parts })
    }

    /// Returns the names of its values, in the order in which they stand; one may stand there twice.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Value(name) => Some(name.as_str()),
            Part::Words(_) => None,
        })
    }

    /// Returns the text with its values filled in.
    pub fn fill(&self, mut value: impl FnMut(&str) -> String) -> String {
        let part = |part: &Part| match part {
            Part::Words(words) => words.clone(),
            Part::Value(name) => value(name),
        };
        self.parts.iter().map(part).collect()
    }

    /// Returns whether a text begins with this one, whatever its values are.
    pub fn fits(&self, text: &str) -> bool {
        let (mut rest, mut anything) = (text, false);
        for part in &self.parts {
            match part {
                Part::Value(_) => anything = true,
                Part::Words(words) => match rest.find(words.as_str()) {
                    Some(at) if anything || at == 0 => {
                        rest = rest.get(at + words.len()..).unwrap_or_default();
                        anything = false;
                    }
                    _ => return false,
                },
            }
        }
        true
    }
}

impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::<1, 4096>::deserialize(deserializer)?;
        Self::parse(&text).map_err(D::Error::custom)
    }
}

/// Returns whether a value can have this name.
pub(crate) fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=64).contains(&name.len()) && name.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_filled_in_and_doubled_braces_stand_for_themselves() {
        let template = Template::parse("{a} of {b-2}: {{{a}}}").unwrap();
        assert_eq!(template.names().collect::<Vec<_>>(), ["a", "b-2", "a"]);
        assert_eq!(template.fill(|name| format!("<{name}>")), "<a> of <b-2>: {<a>}");
        assert_eq!(Template::parse("plain").unwrap().fill(|_| String::new()), "plain");
    }

    #[test]
    fn text_that_was_filled_is_known_again() {
        let template = Template::parse("It has {a} lines and {b}.").unwrap();
        for (text, fits) in [
            ("It has 6 lines and 5.", true),
            ("It has 6 lines and 5. This is not as expected.", true),
            ("It has 6 words and 5.", false),
            ("What it printed does not show a.", false),
        ] {
            assert_eq!(template.fits(text), fits, "{text}");
        }
    }

    #[test]
    fn braces_that_name_no_value_are_refused() {
        for text in ["{", "}", "{}", "{a b}", "{a", "a}", "{{a}", "{\u{e9}}"] {
            let error = Template::parse(text).unwrap_err();
            assert!(error.starts_with("expected the name of a value in braces"), "{text}: {error}");
        }
    }
}
