//! Stable names for what is different each time: things of the seed by the name they have there, everything else by its shape,
//! numbered in the order in which it appears.

use std::collections::BTreeMap;

/// The things of the seed, `<question open>` and the like, and their values.
#[derive(Clone, Default)]
pub(super) struct Names {
    known: Vec<(String, String)>,
}

impl Names {
    /// Gives a value a name. The first name of a value is the one that is shown.
    pub(super) fn add(&mut self, name: &str, value: &str) {
        assert!(!value.is_empty(), "{name} has no value");
        self.known.push((format!("<{name}>"), value.to_owned()));
        // A question's id begins with that of its trace: the longer one is replaced first.
        self.known.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
    }

    /// Returns the value of a name.
    pub(super) fn value(&self, name: &str) -> &str {
        let found = self.known.iter().find(|(known, _)| known.trim_matches(['<', '>']) == name);
        &found.unwrap_or_else(|| panic!("the seed has no {name}")).1
    }

    /// Returns the text with values where it has names.
    pub(super) fn fill(&self, text: &str) -> String {
        let filled = self.known.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value));
        assert!(!filled.contains('<'), "{filled} names what the seed does not have");
        filled
    }

    /// Returns the text with names where it has values, and with shapes where it has what nobody named.
    pub(super) fn hide(&self, text: &str) -> String {
        let named = self.known.iter().fold(text.to_owned(), |text, (name, value)| text.replace(value, name));
        Shapes::default().hide(&named)
    }
}

/// What was seen of each shape, in its order.
#[derive(Default)]
struct Shapes {
    seen: BTreeMap<&'static str, Vec<String>>,
}

impl Shapes {
    fn hide(&mut self, text: &str) -> String {
        let (mut hidden, mut rest) = (String::with_capacity(text.len()), text);
        while let Some(first) = rest.chars().next() {
            let length = if let Some((shape, length)) = shape(rest) {
                hidden.push_str(&self.name(shape, &rest[..length]));
                length
            } else {
                // What only holds something of a shape is something else.
                let word = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
                let length = word.max(first.len_utf8());
                hidden.push_str(&rest[..length]);
                length
            };
            rest = &rest[length..];
        }
        hidden
    }

    fn name(&mut self, shape: &'static str, value: &str) -> String {
        // Two things may happen in one millisecond, or not.
        if shape == "time" {
            return "<time>".to_owned();
        }
        let seen = self.seen.entry(shape).or_default();
        let at = seen.iter().position(|known| known == value).unwrap_or_else(|| {
            seen.push(value.to_owned());
            seen.len() - 1
        });
        format!("<{shape} {}>", at + 1)
    }
}

/// Returns the shape of what a text begins with, and how long that is.
fn shape(text: &str) -> Option<(&'static str, usize)> {
    let is = |form: &str| {
        let bytes = text.as_bytes();
        let fits = |(mark, found): (u8, &u8)| match mark {
            b'0' => found.is_ascii_digit(),
            b'x' => found.is_ascii_digit() || (b'a'..=b'f').contains(found),
            b'X' => found.is_ascii_digit() || found.is_ascii_uppercase(),
            mark => *found == mark,
        };
        let ends = bytes.get(form.len()).is_none_or(|next| !next.is_ascii_alphanumeric());
        (bytes.len() >= form.len() && form.bytes().zip(bytes).all(fits) && ends).then_some(form.len())
    };
    let word = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let is_ulid = |word: &str| {
        word.starts_with(|first| ('0'..='7').contains(&first))
            && word.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
    };
    let time = is("0000-00-00T00:00:00.000Z").or_else(|| is("0000-00-00T00:00:00Z"));
    if let Some(length) = time {
        return Some(("time", length));
    }
    if let Some(length) = is("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") {
        return Some(("uuid", length));
    }
    if let Some(length) = is("XXXXX-XXXXX-XXXXX-XXXXX-XXXXX") {
        return Some(("code", length));
    }
    match word {
        26 if is_ulid(&text[..word]) => Some(("id", word)),
        16 => is(&"x".repeat(word)).map(|length| ("token", length)),
        64 => is(&"x".repeat(word)).map(|length| ("hash", length)),
        128 => is(&"x".repeat(word)).map(|length| ("signature", length)),
        _ => None,
    }
}

#[test]
fn what_differs_each_time_gets_a_name_by_its_shape_and_order() {
    let (one, other) = ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAW");
    let hash = "0a".repeat(32);
    let mut names = Names::default();
    names.add("trace open", other);
    names.add("question open", &format!("{other}.3"));
    let text = format!(
        "{{\"a\":\"{one}.2\",\"b\":\"{other}.3\",\"c\":\"{hash}\",\"d\":\"{one}\",\"e\":\"2026-11-16T11:28:15.123Z\",\"ä\":\"sha256:{hash}{hash}\"}}"
    );
    assert_eq!(
        names.hide(&text),
        "{\"a\":\"<id 1>.2\",\"b\":\"<question open>\",\"c\":\"<hash 1>\",\"d\":\"<id 1>\",\"e\":\"<time>\",\"ä\":\"sha256:<signature 1>\"}"
    );
    assert_eq!(names.fill("/v1/questions/<question open>/wait"), format!("/v1/questions/{other}.3/wait"));
    let plain = "BLOCKING, 0196bb7c and 01ARZ3NDEKTSV4RRFFQ69G5FAVX stay";
    assert_eq!(names.hide(plain), plain);
}
