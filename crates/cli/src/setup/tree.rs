//! What is put into a JSON file: values whose members keep their order, written on one line or on many.

use serde_json::{Map, Value};

/// A value to be written.
#[derive(Clone, Debug)]
pub(super) enum Tree {
    Text(String),
    Number(u32),
    Flag(bool),
    List(Vec<Self>),
    Object(Vec<(&'static str, Self)>),
}

impl Tree {
    /// Returns a list of texts.
    pub(super) fn texts(texts: &[String]) -> Self {
        Self::List(texts.iter().cloned().map(Self::Text).collect())
    }

    /// Returns it on one line. Braces have a space inside: that tells apart what was made here from what was there before and
    /// empty (`edit`).
    pub(super) fn on_one_line(&self) -> String {
        match self {
            Self::Text(_) | Self::Number(_) | Self::Flag(_) => self.scalar(),
            Self::List(elements) if elements.iter().all(Self::is_scalar) => self.scalars(),
            Self::List(elements) => {
                let inner: Vec<_> = elements.iter().map(Self::on_one_line).collect();
                format!("[ {} ]", inner.join(", "))
            }
            Self::Object(members) => {
                let inner: Vec<_> = members
                    .iter()
                    .map(|(name, value)| format!("{}: {}", quoted(name), value.on_one_line()))
                    .collect();
                format!("{{ {} }}", inner.join(", "))
            }
        }
    }

    /// Returns it on many lines, of which all but the first begin like this.
    pub(super) fn on_many_lines(&self, begin: &str, step: &str, end: &str) -> String {
        let inner = format!("{begin}{step}");
        let (brackets, parts): (_, Vec<String>) = match self {
            Self::Text(_) | Self::Number(_) | Self::Flag(_) => return self.scalar(),
            Self::List(elements) if elements.iter().all(Self::is_scalar) => return self.scalars(),
            Self::List(elements) => (
                ['[', ']'],
                elements.iter().map(|element| element.on_many_lines(&inner, step, end)).collect(),
            ),
            Self::Object(members) => {
                let line = |(name, value): &(&str, Self)| {
                    format!("{}: {}", quoted(name), value.on_many_lines(&inner, step, end))
                };
                (['{', '}'], members.iter().map(line).collect())
            }
        };
        let separator = format!(",{end}{inner}");
        format!("{}{end}{inner}{}{end}{begin}{}", brackets[0], parts.join(&separator), brackets[1])
    }

    /// Returns what it means.
    pub(super) fn value(&self) -> Value {
        match self {
            Self::Text(text) => Value::String(text.clone()),
            Self::Number(number) => Value::from(*number),
            Self::Flag(flag) => Value::from(*flag),
            Self::List(elements) => Value::Array(elements.iter().map(Self::value).collect()),
            Self::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), value.value()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }

    const fn is_scalar(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Number(_) | Self::Flag(_))
    }

    fn scalar(&self) -> String {
        self.value().to_string()
    }

    /// A list of words stays on its line.
    fn scalars(&self) -> String {
        let Self::List(elements) = self else { return String::new() };
        let inner: Vec<_> = elements.iter().map(Self::scalar).collect();
        format!("[{}]", inner.join(", "))
    }
}

/// Returns a text in quotes, as JSON has it, and TOML and YAML too.
pub(super) fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}
