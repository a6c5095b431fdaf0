//! Wordings: templates with `{name}` placeholders from a closed list, and the words that are used where a pack has
//! none of its own.

use std::collections::BTreeMap;

use demur_core::{visible::visible, words::clipped};
use serde::{Deserialize, Serialize};

use crate::{error::Mistake, table::Question};

/// Wordings that belong to no row. A pack can replace each in `[wording]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Word {
    /// A name that belongs to several rows.
    SharedName,
    /// A standard that no row names.
    UnknownStandard,
    /// A deployment target that no row names.
    UnknownTarget,
    /// A standard or bundle and a target whose jurisdictions do not agree.
    Jurisdiction,
    /// Added to the context of a gap between a standard and a target: another pair that it is about.
    OtherPair,
    /// A field that no rule reads, whose name is almost that of a field that one does.
    Unread,
    /// A language that no row supports.
    UnsupportedLanguage,
    /// Languages that are written from right to left, without a layout for it.
    Direction,
    /// A field that a condition needs.
    Undecided,
    /// A field that a condition needs, with a value of another shape.
    WrongShape,
    /// Added to the context of a gap whose field has a value that does not settle it.
    NotAnAnswer,
    /// Put before the question about a field that something else leaves no room for.
    InTheWay,
}

impl Word {
    /// Returns the placeholders that it may use.
    pub(crate) const fn allowed(self) -> &'static [&'static str] {
        match self {
            Self::SharedName => &["field", "value", "candidates"],
            Self::UnknownStandard | Self::UnknownTarget | Self::NotAnAnswer => &["field", "value"],
            Self::Jurisdiction => &["field", "standard", "jurisdictions", "target", "target_jurisdictions"],
            Self::OtherPair => &["standard", "target"],
            Self::Unread => &["field", "value", "expected"],
            Self::UnsupportedLanguage => &["field", "value", "supported"],
            Self::Direction => &["field", "languages", "found"],
            Self::Undecided => &["field", "rule", "needed"],
            Self::WrongShape => &["field", "rule", "needed", "found"],
            Self::InTheWay => &["field", "place", "value"],
        }
    }

    /// Returns the words of a pack, or ours.
    pub(crate) fn of(self, own: &BTreeMap<Self, Question>) -> &str {
        own.get(&self).map_or_else(|| self.ours(), |text| text.as_str())
    }

    const fn ours(self) -> &'static str {
        match self {
            Self::SharedName => "{field}: \"{value}\" may mean {candidates}. Which one is meant?",
            Self::UnknownStandard => {
                "{field}: no rule knows the standard \"{value}\", so it cannot be checked. Which standard is meant?"
            }
            Self::UnknownTarget => {
                "{field}: no rule knows the target \"{value}\", so it cannot be checked. Which target is meant?"
            }
            Self::Jurisdiction => {
                "{standard} ({jurisdictions}) is selected, but the target is {target} ({target_jurisdictions}). Which of them applies?"
            }
            Self::OtherPair => "{standard} and {target} do not go together either.",
            Self::Unread => {
                "{field} is given, but no rule reads it; {expected}, which a rule reads, is not. Is {field} meant as it is?"
            }
            Self::UnsupportedLanguage => {
                "{field}: the language \"{value}\" is not supported ({supported} are). Which language is to be used instead?"
            }
            Self::Direction => {
                "{languages} is written from right to left, but {field} is {found}. Which layout is to be used?"
            }
            Self::Undecided => {
                "{field} is not given, and the rule {rule} depends on it. What is {field} ({needed})?"
            }
            Self::WrongShape => {
                "{field} is {found}, but the rule {rule} needs {needed}. What is {field} as {needed}?"
            }
            Self::NotAnAnswer => "{field} is \"{value}\", which does not settle this.",
            Self::InTheWay => {
                "{place} is \"{value}\", which leaves no room for {field}: an answer takes its place."
            }
        }
    }
}

/// Returns whether a template uses only these placeholders.
pub(crate) fn check(key: &'static str, template: &str, allowed: &[&str]) -> Result<(), Mistake> {
    for part in parts(template) {
        let mistake = match part {
            Part::Text(_) => continue,
            Part::Name(name) if allowed.contains(&name) => continue,
            Part::Name(name) => Mistake::new(key, placeholders(allowed), format!("{{{name}}}")),
            Part::Open => Mistake::new(key, placeholders(allowed), "a brace without its pair")
                .cure("write {{ and }} for braces that are none of a placeholder"),
        };
        return Err(mistake);
    }
    if parts(template).filter(|part| matches!(part, Part::Name(_))).count() > MOST_PLACEHOLDERS {
        return Err(Mistake::new(key, format!("at most {MOST_PLACEHOLDERS} placeholders"), "more"));
    }
    Ok(())
}

/// Returns a template with its placeholders filled. What is filled in is shortened and made visible: it comes from
/// plans.
pub(crate) fn fill<'a>(template: &str, value: impl Fn(&str) -> Option<std::borrow::Cow<'a, str>>) -> String {
    let mut filled = String::with_capacity(template.len() + 32);
    for part in parts(template) {
        match part {
            Part::Text(text) => filled.push_str(text),
            Part::Name(name) => filled.push_str(&shown(&value(name).unwrap_or_default())),
            Part::Open => {}
        }
    }
    filled
}

/// Returns a value from a plan as it may stand in a sentence.
pub(crate) fn shown(value: &str) -> String {
    clipped(&visible(value), MOST_SHOWN, "...").into_owned()
}

enum Part<'a> {
    Text(&'a str),
    Name(&'a str),
    Open,
}

fn parts(template: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = template;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let brace = rest.find(['{', '}']).unwrap_or(rest.len());
        if brace > 0 {
            let text;
            (text, rest) = rest.split_at(brace);
            return Some(Part::Text(text));
        }
        if rest.starts_with("{{") || rest.starts_with("}}") {
            let text = &rest[..1];
            rest = &rest[2..];
            return Some(Part::Text(text));
        }
        let Some((name, after)) = rest.strip_prefix('{').and_then(|inner| inner.split_once('}')) else {
            rest = "";
            return Some(Part::Open);
        };
        rest = after;
        Some(Part::Name(name))
    })
}

fn placeholders(allowed: &[&str]) -> String {
    if allowed.is_empty() {
        return "a text without placeholders".to_owned();
    }
    let names: Vec<String> = allowed.iter().map(|name| format!("{{{name}}}")).collect();
    format!("only the placeholders {}", names.join(", "))
}

/// Code points of a value that are shown.
const MOST_SHOWN: usize = 80;

/// With [`MOST_SHOWN`], no filled template is longer than a question may be.
const MOST_PLACEHOLDERS: usize = 8;
