//! What the bytes of an artifact say, looked up in them and compared (`docs/format.md` 10). Pure, bounded and linear in
//! the bytes; what cannot be evaluated is false.

use std::{borrow::Cow, cell::OnceCell, fmt};

use demur_core::{
    canonical,
    hash::sha256,
    limit::{Limits, Text},
};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{
    content::{CheckContent, CheckPlace, CheckValue, Comparison},
    facts::VerificationStatus,
};

/// Returns the status that a report bears: its member `status`, where its bytes are a JSON object.
pub(crate) fn status(report: &[u8]) -> Option<VerificationStatus> {
    #[derive(Deserialize)]
    struct Report {
        status: VerificationStatus,
    }
    canonical::from_json::<Report>(report, &Limits::LINE).ok().map(|report| report.status)
}

/// Returns whether a check is true of these bytes.
pub fn holds(check: &CheckContent, bytes: &[u8]) -> bool {
    Subject::new(bytes).holds(check)
}

/// Returns the value that stands at a place in these bytes: the one that a check with `eq` finds there. None where nothing
/// does, where an array or an object does, or where it is too long for a check.
pub fn value_at(place: &CheckPlace, bytes: &[u8]) -> Option<CheckValue> {
    let subject = Subject::new(bytes);
    let value = match subject.find(place, false)? {
        Found::Nothing => CheckValue::Nothing,
        Found::Flag(flag) => CheckValue::Flag(flag),
        Found::Number(number) => CheckValue::Number(plain(number)?),
        Found::Text(text) => CheckValue::Text(Text::try_from(&*text).ok()?),
        Found::Several => return None,
    };
    let check = CheckContent { at: place.clone(), is: Comparison::Eq, value };
    subject.holds(&check).then_some(check.value)
}

/// Returns a number as a check writes it: whole ones without a fraction.
fn plain(number: f64) -> Option<serde_json::Number> {
    let whole = format!("{number}").parse::<i64>().ok().map(serde_json::Number::from);
    whole.or_else(|| serde_json::Number::from_f64(number))
}

/// The bytes of an artifact that checks look into.
pub(crate) struct Subject<'a> {
    bytes: &'a [u8],
    /// The same as a JSON text, where they are one.
    json: OnceCell<Option<&'a str>>,
}

/// What stands at a place.
enum Found<'a> {
    Nothing,
    Flag(bool),
    Number(f64),
    Text(Cow<'a, str>),
    /// An array or an object, which equals no value.
    Several,
}

impl<'a> Subject<'a> {
    /// Returns bytes that nothing was looked up in yet.
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, json: OnceCell::new() }
    }

    /// Returns whether a check is true.
    pub(crate) fn holds(&self, check: &CheckContent) -> bool {
        let is_number = matches!(check.value, CheckValue::Number(_));
        self.find(&check.at, is_number).is_some_and(|found| compare(&found, check.is, &check.value))
    }

    fn find(&self, place: &CheckPlace, as_number: bool) -> Option<Found<'a>> {
        match place {
            CheckPlace::Size => serde_json::Number::from(self.bytes.len()).as_f64().map(Found::Number),
            CheckPlace::Sha256 => Some(Found::Text(sha256(self.bytes).to_string().into())),
            CheckPlace::Pointer(pointer) => {
                let read = || canonical::scan(self.bytes, &READ).ok();
                follow((*self.json.get_or_init(read))?, pointer)
            }
            CheckPlace::Between { after, before } => {
                let text = Some(self.bytes).filter(|bytes| bytes.len() <= READ.bytes)?;
                let found = between(std::str::from_utf8(text).ok()?, after, before)?;
                if as_number { number(found).map(Found::Number) } else { Some(Found::Text(found.into())) }
            }
        }
    }
}

/// Returns what a pointer names in a JSON text that was checked before.
fn follow<'a>(text: &'a str, pointer: &str) -> Option<Found<'a>> {
    let mut value = text.trim_matches(BLANKS);
    if !pointer.is_empty() {
        for token in pointer.strip_prefix('/')?.split('/') {
            let token = token.replace("~1", "/").replace("~0", "~");
            let mut reader = serde_json::Deserializer::from_str(value);
            value = Token(&token).deserialize(&mut reader).ok()??.get();
        }
    }
    Some(match value.as_bytes().first()? {
        b'n' => Found::Nothing,
        b't' => Found::Flag(true),
        b'f' => Found::Flag(false),
        b'"' => Found::Text(serde_json::from_str::<Cow<'_, str>>(value).ok()?),
        b'{' | b'[' => Found::Several,
        _ => Found::Number(value.parse().ok()?),
    })
}

/// One step of a pointer: the member of an object, or the element of an array, that it names.
struct Token<'t>(&'t str);

impl<'de> DeserializeSeed<'de> for Token<'_> {
    type Value = Option<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Token<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object or an array")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(name) = members.next_key::<Cow<'de, str>>()? {
            if name == self.0 {
                found = Some(members.next_value()?);
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let (mut found, mut left) = (None, index(self.0));
        loop {
            match left {
                Some(0) => {
                    found = elements.next_element()?;
                    left = None;
                }
                _ if elements.next_element::<IgnoredAny>()?.is_none() => return Ok(found),
                _ => left = left.map(|left| left - 1),
            }
        }
    }
}

/// Returns the number of an element: digits without a leading zero.
fn index(token: &str) -> Option<usize> {
    let plain = token == "0" || !token.starts_with('0');
    let digits = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
    token.parse().ok().filter(|_| plain && digits)
}

/// Returns the text after the one occurrence of `after`, up to the next `before`.
fn between<'a>(text: &'a str, after: &str, before: &str) -> Option<&'a str> {
    let first = text.find(after).filter(|first| text.rfind(after) == Some(*first))?;
    let rest = text.get(first + after.len()..)?;
    let end = rest.find(before)?;
    rest.get(..end).map(|cut| cut.trim_matches(BLANKS))
}

/// Returns the number that a text is, as JSON writes numbers.
fn number(text: &str) -> Option<f64> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let fits = digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)));
    if fits { text.parse().ok() } else { None }
}

fn compare(found: &Found<'_>, is: Comparison, value: &CheckValue) -> bool {
    let equal = match (found, value) {
        (Found::Number(found), CheckValue::Number(value)) => {
            return value.as_f64().is_some_and(|value| compare_numbers(*found, is, value));
        }
        (Found::Nothing, CheckValue::Nothing) => true,
        (Found::Flag(found), CheckValue::Flag(value)) => found == value,
        (Found::Text(found), CheckValue::Text(value)) => found == value.as_str(),
        _ => false,
    };
    match is {
        Comparison::Eq => equal,
        Comparison::Ne => !equal,
        Comparison::Lt | Comparison::Le | Comparison::Gt | Comparison::Ge => false,
    }
}

#[expect(clippy::float_cmp, reason = "the format compares doubles as they are")]
fn compare_numbers(found: f64, is: Comparison, value: f64) -> bool {
    match is {
        Comparison::Eq => found == value,
        Comparison::Ne => found != value,
        Comparison::Lt => found < value,
        Comparison::Le => found <= value,
        Comparison::Gt => found > value,
        Comparison::Ge => found >= value,
    }
}

/// What surrounds a text without being part of it.
const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

/// How much of an artifact is looked into; its size and its digest are known of any.
const READ: Limits = Limits { bytes: 1 << 20, ..Limits::LINE };

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(at: serde_json::Value, is: &str, value: serde_json::Value) -> CheckContent {
        let members = [("at", at), ("is", is.into()), ("value", value)];
        let members = members.map(|(name, member)| (name.to_owned(), member)).into_iter().collect();
        serde_json::from_value(serde_json::Value::Object(members)).unwrap()
    }

    #[track_caller]
    fn is(expected: bool, bytes: &[u8], (at, way, value): (serde_json::Value, &str, serde_json::Value)) {
        let check = check(at, way, value);
        assert_eq!(holds(&check, bytes), expected, "{check} of {}", String::from_utf8_lossy(bytes));
    }

    fn pointer(pointer: &str) -> serde_json::Value {
        json!({"pointer": pointer})
    }

    fn cut(after: &str, before: &str) -> serde_json::Value {
        json!({"after": after, "before": before})
    }

    #[test]
    fn size_and_digest_are_those_of_the_bytes() {
        is(true, b"12345", (json!("size"), "eq", json!(5)));
        is(true, b"", (json!("size"), "lt", json!(0.5)));
        is(false, b"12345", (json!("size"), "eq", json!("5")));
        let digest = sha256(b"x").to_string();
        is(true, b"x", (json!("sha256"), "eq", json!(digest)));
        is(false, b"y", (json!("sha256"), "eq", json!(digest)));
        let large = vec![b'x'; READ.bytes + 1];
        is(true, &large, (json!("size"), "eq", json!(READ.bytes + 1)));
    }

    #[test]
    fn pointers_find_members_and_elements() {
        let bytes =
            br#" {"a/b": [1.50, "5", "caf\u00e9"], "n": 1e2, "no": null, "~": true, "": {"": 0}, "01": 7}
"#;
        for (at, way, value, expected) in [
            ("/a~1b/0", "eq", json!(1.5), true),
            ("/a~1b/1", "eq", json!("5"), true),
            ("/a~1b/1", "eq", json!(5), false),
            ("/a~1b/2", "eq", json!("caf\u{e9}"), true),
            ("/a~1b/3", "ne", json!(1), false),
            ("/a~1b/00", "ne", json!(1), false),
            ("/a~1b/-", "ne", json!(1), false),
            ("/a~1b", "ne", json!(1), true),
            ("/n", "ge", json!(100), true),
            ("/n", "gt", json!(100), false),
            ("/no", "eq", json!(null), true),
            ("/no", "eq", json!(false), false),
            ("/~0", "ne", json!(false), true),
            ("//", "eq", json!(0), true),
            ("/01", "eq", json!(7), true),
            ("n", "eq", json!(100), false),
            ("/none", "ne", json!(1), false),
            ("/n/0", "ne", json!(1), false),
        ] {
            is(expected, bytes, (pointer(at), way, value));
        }
        is(true, b" 5\n", (pointer(""), "eq", json!(5)));
        is(true, b"{}", (pointer(""), "ne", json!(5)));
    }

    #[test]
    fn what_is_no_strict_json_holds_nothing() {
        for bytes in [
            &b"5 words"[..],
            b"{\"a\":1,\"a\":1}",
            b"[1,]",
            b"[9007199254740993]",
            b"[\"\\ud800\"]",
            b"[\"\xff\"]",
            b"[NaN]",
            b"",
        ] {
            is(false, bytes, (pointer(""), "ne", json!(5)));
        }
        let deep = [vec![b'['; 41], vec![b']'; 41]].concat();
        is(false, &deep, (pointer(""), "ne", json!(5)));
        let large = [b"\"".to_vec(), vec![b'x'; READ.bytes], b"\"".to_vec()].concat();
        is(false, &large, (pointer(""), "ne", json!(5)));
    }

    #[test]
    fn texts_are_cut_out_after_what_stands_once() {
        let bytes = b"  words: 5.0 \r\n\t lines: 07 ; bytes: 12.";
        is(true, bytes, (cut("words: ", "\r"), "eq", json!(5)));
        is(true, bytes, (cut("words:", "\n"), "eq", json!("5.0")));
        is(true, bytes, (cut("bytes:", "."), "lt", json!(12.5)));
        is(true, bytes, (cut("lines:", ";"), "eq", json!("07")));
        is(false, bytes, (cut("lines:", ";"), "eq", json!(7)));
        is(false, bytes, (cut("lines:", ";"), "gt", json!("06")));
        is(true, bytes, (cut("lines:", ";"), "ne", json!(null)));
        is(false, b"a. a.", (cut("a", "."), "eq", json!("")));
        is(false, b"aaa.", (cut("aa", "."), "eq", json!("")));
        is(false, b"words: 5\n", (cut("words: ", "!"), "ne", json!(6)));
        is(false, b"\xff words: 5\n", (cut("words: ", "\n"), "eq", json!(5)));
        is(true, b"x=1e999;", (cut("x=", ";"), "gt", json!(1)));
        for text in ["", "+5", "5.", ".5", "0x5", "inf", "NaN", "1_0", "5e", "-", "- 5", "5,0"] {
            is(false, format!("x={text};").as_bytes(), (cut("x=", ";"), "ne", json!(9)));
        }
        for text in ["-0", "-5", "5.25", "5e3", "5E+3", "5e-3"] {
            is(true, format!("x={text};").as_bytes(), (cut("x=", ";"), "ne", json!(9)));
        }
    }

    #[test]
    fn value_at_a_place_is_the_one_that_a_check_finds_there() {
        for (bytes, place, found) in [
            (&b"6\n"[..], pointer(""), Some(json!(6))),
            (b"[1.50, -0.0, 1e2]", pointer("/0"), Some(json!(1.5))),
            (b"[1.50, -0.0, 1e2]", pointer("/2"), Some(json!(100))),
            (b"{\"a\":[null, true, \"x\"]}", pointer("/a/0"), Some(json!(null))),
            (b"{\"a\":[null, true, \"x\"]}", pointer("/a/1"), Some(json!(true))),
            (b"{\"a\":[null, true, \"x\"]}", pointer("/a/2"), Some(json!("x"))),
            (b"{\"a\":[null, true, \"x\"]}", pointer("/a"), None),
            (b"6 lines\n", pointer(""), None),
            (b"lines: 6\n", cut("lines:", "\n"), Some(json!("6"))),
            (b"lines: 6, lines: 7\n", cut("lines:", "\n"), None),
            (b"12345", json!("size"), Some(json!(5))),
            (b"x", json!("sha256"), Some(json!(sha256(b"x").to_string()))),
        ] {
            let at: CheckPlace = serde_json::from_value(place).unwrap();
            let value = value_at(&at, bytes);
            assert_eq!(value.clone().map(|value| serde_json::to_value(value).unwrap()), found, "{at}");
            if let Some(value) = value {
                assert!(holds(&CheckContent { at, is: Comparison::Eq, value }, bytes));
            }
        }
        let long = format!("x={};", "y".repeat(4097));
        let at: CheckPlace = serde_json::from_value(cut("x=", ";")).unwrap();
        assert_eq!(value_at(&at, long.as_bytes()), None);
    }

    #[test]
    fn numbers_compare_as_doubles() {
        is(true, b"[0.1]", (pointer("/0"), "eq", json!(0.1)));
        is(true, b"[1.0]", (pointer("/0"), "eq", json!(1)));
        is(true, b"[-0.0]", (pointer("/0"), "eq", json!(0)));
        for (way, expected) in
            [("eq", false), ("ne", true), ("lt", true), ("le", true), ("gt", false), ("ge", false)]
        {
            is(expected, b"[1]", (pointer("/0"), way, json!(2)));
        }
    }

    #[test]
    fn a_report_bears_the_status_that_it_names_once() {
        let bears = |report: &str| status(report.as_bytes());
        assert_eq!(bears(r#"{"status":"pass"}"#), Some(VerificationStatus::Pass));
        assert_eq!(bears("{ \"verdict\": [1.50],\n\"status\": \"fail\" }"), Some(VerificationStatus::Fail));
        for none in [
            "",
            "pass",
            "\"pass\"",
            "{}",
            r#"["pass"]"#,
            r#"[["status","pass"]]"#,
            r#"{"status":"Pass"}"#,
            r#"{"status":["pass"]}"#,
            r#"{"status":"not_established"}"#,
            r#"{"status":"pass","status":"pass"}"#,
            r#"{"status":"pass"}{}"#,
            r#"{"verdict":{"status":"pass"}}"#,
        ] {
            assert_eq!(bears(none), None, "{none}");
        }
    }
}
