//! Numbers in the pages that say how many there are of something. They are counted here; run the tests with `DEMUR_BLESS=1`
//! to write them anew, and read the difference before committing it.

use std::{fs, path::Path};

use demur_mcp::tools::{Sets, list};

use crate::{corpus::Case, sandbox::conformance};

/// Holds what a page says between two pieces of text against what was counted, or writes it there.
fn says(page: &str, before: &str, after: &str, counted: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let text = fs::read_to_string(&file).unwrap();
    let Some(made) = with(&text, before, after, counted) else {
        panic!("{page}: expected \"{before}{counted}{after}\" in one place, found no such place");
    };
    if std::env::var_os("DEMUR_BLESS").is_some() && made != text {
        fs::write(&file, &made).unwrap();
    }
    let found = fs::read_to_string(&file).unwrap();
    assert!(
        found == made,
        "{page} does not say \"{before}{counted}{after}\": run the tests with DEMUR_BLESS=1 and look"
    );
}

/// Returns the text with the word in the one place between `before` and `after` replaced.
fn with(text: &str, before: &str, after: &str, word: &str) -> Option<String> {
    let (start, rest) = text.split_once(before)?;
    let (old, end) = rest.split_once(after)?;
    let is_one_place = !rest.contains(before) && !old.is_empty() && !old.contains(char::is_whitespace);
    is_one_place.then(|| format!("{start}{before}{word}{after}{end}"))
}

/// Returns a number in groups of three digits.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number with two digits that count: as much as "about" promises.
fn about(number: usize) -> String {
    let unit = 10_usize.pow(number.max(10).ilog10() - 1);
    grouped((number + unit / 2) / unit * unit)
}

/// Returns a small number as a word.
fn word(number: usize) -> &'static str {
    ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"][number]
}

#[test]
fn page_of_the_corpus_says_how_many_cases_there_are() {
    let cases = grouped(Case::all().len());
    says("conformance/README.md", "| `ledger/attacks/` | ", " cases: forged and honest exports", &cases);
}

#[test]
fn readme_says_how_many_promises_there_are() {
    let list = fs::read_to_string(conformance("../requirements.toml")).unwrap();
    let list: toml::Table = list.parse().unwrap();
    let promises = list["requirement"].as_array().unwrap().len();
    says("README.md", "prints which of the ", " promises have a test", &grouped(promises));
}

#[test]
fn readme_says_how_long_the_second_verifier_is() {
    let lines = fs::read_to_string(conformance("verify.py")).unwrap().lines().count();
    says("README.md", "with a second implementation of ", " lines", &about(lines));
}

#[test]
fn page_about_mcp_says_what_the_tools_cost() {
    let tokens = |sets| {
        let bytes: usize = list(sets).iter().map(|tool| serde_json::to_vec(tool).unwrap().len()).sum();
        about(bytes / 4)
    };
    let usual = Sets::default();
    says("docs/mcp.md", "in every conversation: the ", " default tools cost about", word(list(usual).len()));
    says("docs/mcp.md", "default tools cost about ", " tokens", &tokens(usual));
    for (set, after) in [("wwa", ", with"), ("session", ", with"), ("all", " (bytes by four")] {
        says("docs/mcp.md", &format!("`{set}` about "), after, &tokens(set.parse().unwrap()));
    }
}

#[test]
fn number_is_replaced_in_its_one_place_only() {
    assert_eq!(with("the 3 tests", "the ", " tests", "4").as_deref(), Some("the 4 tests"));
    for text in ["3 tests", "the 3 proofs", "the tests", "the 3 new tests", "the 3 tests, the 4 tests"] {
        assert_eq!(with(text, "the ", " tests", "5"), None, "{text}");
    }
    assert_eq!([about(7), about(654), about(655), about(2_649)], ["7", "650", "660", "2,600"]);
}
