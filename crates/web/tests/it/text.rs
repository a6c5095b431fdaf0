//! Whatever somebody writes, a page shows it: no tag but the few of ours, no attribute from the text but checked addresses,
//! nothing that hides, and time that grows with the text and not faster.

use demur_core::visible::deceives;
use demur_web::text::{self, Writer};
use proptest::{collection::vec, prelude::*, test_runner::Config};

/// Returns the full count where `DEMUR_PROOF=full` is set, and otherwise the reduced one.
#[expect(clippy::disallowed_methods, reason = "a test may read how thorough it is to be")]
fn count(full: u32, reduced: u32) -> u32 {
    if std::env::var("DEMUR_PROOF").as_deref() == Ok("full") { full } else { reduced }
}

/// Checks that HTML holds nothing but what this crate writes, and that every tag that begins ends.
fn check(html: &str) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find(['<', '>', '"', '\'']) {
        if !rest[at..].starts_with('<') {
            return Err(format!("a bare sign: {:?}", &rest[at..]));
        }
        rest = &rest[at..];
        let tag = TAGS.iter().find(|tag| rest.starts_with(**tag));
        let (name, length) = match tag {
            Some(tag) => (tag.trim_matches(['<', '>', '/']).split(' ').next().unwrap_or_default(), tag.len()),
            None => ("a", link(rest)?),
        };
        if rest.starts_with("</") {
            if open.pop() != Some(name) {
                return Err(format!("{name} ends where it is not the innermost"));
            }
        } else if name != "br" {
            open.push(name);
        }
        rest = &rest[length..];
    }
    if let Some(hides) = html.chars().find(|found| deceives(*found) && !matches!(found, '\n' | '\t')) {
        return Err(format!("{hides:?} hides"));
    }
    if open.is_empty() { Ok(()) } else { Err(format!("{open:?} do not end")) }
}

/// Returns the length of the beginning of a link whose address leads somewhere and does nothing else.
fn link(html: &str) -> Result<usize, String> {
    let wrong = || format!("no tag of ours: {:?}", html.chars().take(80).collect::<String>());
    let rest = html.strip_prefix("<a href=\"").ok_or_else(wrong)?;
    let (href, rest) = rest.split_once('"').ok_or_else(wrong)?;
    let lower = href.to_ascii_lowercase();
    let leads = ["https://", "http://", "mailto:"].iter().any(|scheme| lower.starts_with(scheme));
    let plain = href.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>'\\".contains(&byte));
    let end = " rel=\"noopener noreferrer nofollow\">";
    (leads && plain && rest.starts_with(end)).then(|| 9 + href.len() + 1 + end.len()).ok_or_else(wrong)
}

const TAGS: [&str; 20] = [
    "<p>",
    "</p>",
    "<br>",
    "<em>",
    "</em>",
    "<strong>",
    "</strong>",
    "<code>",
    "</code>",
    "<pre>",
    "</pre>",
    "<ul>",
    "</ul>",
    "<ol>",
    "</ol>",
    "<li>",
    "</li>",
    "</a>",
    "<span class=\"hidden-character\">",
    "<span class=\"host\">",
];

fn block_of(words: &str) -> String {
    let html = text::block(words, Some("en"), &Writer::Agent);
    let begin = "<p class=\"written-by\">Written by an agent</p>\n<div class=\"agent-text\" lang=\"en\" dir=\"auto\">";
    let inner = html.as_str().strip_prefix(begin).and_then(|rest| rest.strip_suffix("</div>"));
    inner.expect("a block has its frame").to_owned()
}

fn is_inert(words: &str) -> Result<(), String> {
    // The end of a span is a tag, too.
    let close = |html: &str| html.replace("</span>", "<span-end>");
    for html in [block_of(words), text::line(words).as_str().to_owned()] {
        check_closed(&close(&html)).map_err(|error| format!("{error}\nin {html}\nof {words:?}"))?;
    }
    Ok(())
}

fn check_closed(html: &str) -> Result<(), String> {
    let mut plain = String::new();
    for part in html.split("<span-end>") {
        plain.push_str(part);
        plain.push_str("</em>");
    }
    // Spans are checked as emphasis: what matters is that they nest.
    let plain = plain.strip_suffix("</em>").unwrap_or_default();
    let plain =
        plain.replace("<span class=\"hidden-character\">", "<em>").replace("<span class=\"host\">", "<em>");
    check(&plain)
}

fn fragment() -> impl Strategy<Value = String> {
    let signs = prop::sample::select(vec![
        "*",
        "**",
        "_",
        "__",
        "`",
        "``",
        "```",
        "[",
        "](",
        ")",
        "(",
        "]",
        "\n",
        "\r\n",
        "\n\n",
        "- ",
        "1. ",
        " ",
        "<",
        ">",
        "&",
        "\"",
        "'",
        "\\",
        "<script>",
        "</div>",
        "<img src=x onerror=y>",
        "javascript:",
        "https://a.example/",
        "http://u@b.example",
        "mailto:k@c.example",
        "[x](https://d.example)",
        "[x](javascript:y)",
        "\u{202e}",
        "\u{200b}",
        "\0",
        "\u{1b}[31m",
        "&#60;",
        "-->",
        "a",
        "b c",
    ]);
    prop_oneof![4 => signs.prop_map(str::to_owned), 1 => ".{0,8}"]
}

#[test]
fn fuzz_whatever_is_written_is_inert() {
    let config = Config { cases: count(200_000, 4000), failure_persistence: None, ..Config::default() };
    proptest!(config, |(parts in vec(fragment(), 0..40))| {
        let words = parts.concat();
        prop_assert_eq!(is_inert(&words), Ok(()));
    });
}

/// What would be slow if anything were looked at twice for every sign; each of these takes hours then.
#[test]
fn a_megabyte_of_anything_is_shown_in_time() {
    for part in [
        "*",
        "_",
        "**a",
        "*a ",
        "`",
        "`a",
        "``a`",
        "[",
        "](",
        "[]",
        "[](",
        "[a](b",
        "[a](https://b.example/",
        "- ",
        "1. ",
        "\n",
        "```\n",
        "<",
        "\u{200b}",
        "\u{202e}a",
        "a",
        "&",
        "(",
        "_a_",
        "*a**b",
        "\u{1f4a1}",
    ] {
        let words = part.repeat((1 << 20) / part.len());
        assert_eq!(is_inert(&words), Ok(()), "{part:?}");
    }
}

#[test]
fn the_check_itself_finds_what_acts() {
    for html in [
        "<script>",
        "<p onclick=x>",
        "<a href=\"javascript:x\" rel=\"noopener noreferrer nofollow\">",
        "\"",
        "<p>",
    ] {
        assert!(check(html).is_err(), "{html}");
    }
}
