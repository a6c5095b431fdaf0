//! Text that a program or a person wrote, on its way into a page. Nothing in it is markup, nothing in it hides: a few signs of
//! Markdown are honoured, everything else is shown as it stands, and characters that cannot be seen are called by name.

mod hidden;
mod inline;
mod markdown;

use std::fmt;

use demur_core::words;

use crate::words::ENGLISH;

/// Text that is HTML already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Html(String);

impl Html {
    /// Returns several one after the other, with a plain text between them that is no markup.
    pub(crate) fn joined(parts: impl Iterator<Item = Self>, between: &'static str) -> Self {
        Self(parts.map(|part| part.0).collect::<Vec<_>>().join(between))
    }

    /// Returns the HTML.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Html {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Made in this module only, where everything is escaped.
impl askama::filters::HtmlSafe for Html {}

/// Who wrote a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Writer<'a> {
    /// An agent.
    Agent,
    /// A rule, about what an agent plans.
    Rule,
    /// Somebody with this name.
    Named(&'a str),
}

impl Writer<'_> {
    /// Returns who it was, in words.
    pub fn words(&self) -> Html {
        match self {
            Self::Agent => line(ENGLISH.written_by_agent),
            Self::Rule => line(ENGLISH.written_by_rule),
            Self::Named(name) => Html(format!("{} <bdi>{}</bdi>", ENGLISH.written_by, line(name))),
        }
    }
}

/// Returns a text as a block of its own, below who wrote it: paragraphs, lists, emphasis, code and links, nothing else.
pub fn block(text: &str, language: Option<&str>, writer: &Writer<'_>) -> Html {
    Html(format!(
        "<p class=\"written-by\">{}</p>\n<div class=\"agent-text\"{}>{}</div>",
        writer.words(),
        tongue(language),
        markdown::render(text)
    ))
}

/// Returns a text as it stands, for one line: of Markdown nothing, and a space where a line ends.
pub fn line(text: &str) -> Html {
    let mut out = String::with_capacity(text.len() + 16);
    hidden::push(&mut out, text, " ");
    Html(out)
}

/// Returns a text for one line up to about this many characters, and how many were left out.
pub fn beginning(text: &str, most: usize) -> (Html, usize) {
    let (shown, left_out) = cut(text, most);
    let mut html = line(shown);
    if left_out > 0 {
        html.0.push_str(words::ELLIPSIS);
    }
    (html, left_out)
}

/// Returns the text up to this many characters, and how many were left out.
pub fn cut(text: &str, most: usize) -> (&str, usize) {
    let shown = words::beginning(text, most);
    (shown, text[shown.len()..].chars().count())
}

/// Returns whether a text says the same as a line and as a block.
pub fn is_plain(text: &str) -> bool {
    !text.contains('\n') && markdown::render(text) == format!("<p>{}</p>", line(text))
}

/// Returns the attributes that say in which language and direction a text is.
pub fn tongue(language: Option<&str>) -> Html {
    let known = language.filter(|language| is_tag(language));
    let direction = if known.is_some_and(is_right_to_left) { "rtl" } else { "auto" };
    Html(match known {
        Some(language) => format!(" lang=\"{language}\" dir=\"{direction}\""),
        None => format!(" dir=\"{direction}\""),
    })
}

/// Returns whether this has the form of a language tag (BCP 47), so that a page may claim it.
fn is_tag(text: &str) -> bool {
    let mut parts = text.split('-');
    let first = parts.next().unwrap_or_default();
    let letters = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphabetic());
    let fits =
        |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (2..=3).contains(&first.len()) && letters(first) && parts.all(fits)
}

fn is_right_to_left(tag: &str) -> bool {
    let tag = tag.to_ascii_lowercase();
    let mut parts = tag.split('-');
    let language = parts.next().unwrap_or_default();
    match parts.find(|part| part.len() == 4 && !part.starts_with(|first: char| first.is_ascii_digit())) {
        Some(script) => RIGHT_TO_LEFT_SCRIPTS.contains(&script),
        None => RIGHT_TO_LEFT.contains(&language),
    }
}

/// Languages that are written from right to left unless their tag names a script.
const RIGHT_TO_LEFT: [&str; 13] =
    ["ar", "arc", "ckb", "dv", "fa", "he", "iw", "nqo", "ps", "sd", "ug", "ur", "yi"];
/// Scripts that run from right to left.
const RIGHT_TO_LEFT_SCRIPTS: [&str; 8] = ["adlm", "arab", "hebr", "mand", "nkoo", "rohg", "syrc", "thaa"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_tells_the_direction_and_a_false_one_tells_nothing() {
        for (tag, expected) in [
            (Some("en"), " lang=\"en\" dir=\"auto\""),
            (Some("he-IL"), " lang=\"he-IL\" dir=\"rtl\""),
            (Some("az-Arab"), " lang=\"az-Arab\" dir=\"rtl\""),
            (Some("ar-Latn"), " lang=\"ar-Latn\" dir=\"auto\""),
            (Some("\" onclick=\"x"), " dir=\"auto\""),
            (Some("e"), " dir=\"auto\""),
            (None, " dir=\"auto\""),
        ] {
            assert_eq!(tongue(tag).as_str(), expected, "{tag:?}");
        }
    }

    #[test]
    fn whoever_wrote_stands_before_the_text() {
        let html = block("go on?", Some("en"), &Writer::Agent);
        assert!(html.as_str().starts_with("<p class=\"written-by\">Written by an agent</p>"), "{html}");
        let named = Writer::Named("<b>kim\u{202e}").words();
        assert_eq!(
            named.as_str(),
            "Written by <bdi>&lt;b&gt;kim<span class=\"hidden-character\">[U+202E right-to-left override]</span></bdi>"
        );
    }

    #[test]
    fn a_line_has_no_markup_and_no_line_ends() {
        assert_eq!(line("*a*\n[b](https://c.example)").as_str(), "*a* [b](https://c.example)");
        assert_eq!(beginning("abcdef", 3), (Html("abc\u{2026}".to_owned()), 3));
        assert_eq!(beginning("abc", 3), (Html("abc".to_owned()), 0));
        assert!(is_plain("Go on?") && !is_plain("Go *on*?") && !is_plain("Go\non?"));
    }
}
