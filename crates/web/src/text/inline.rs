//! Inside a block: emphasis, code, and links that say where they lead. Every sign is looked at once and every search for its
//! partner goes on where the last one ended, so the time grows with the text and not faster.

use super::hidden;

/// Appends a text with its emphasis, code and links.
pub(super) fn push(out: &mut String, text: &str) {
    let mut reader =
        Reader { text, at: 0, plain: 0, pieces: Vec::new(), open: Vec::new(), ended: [false; 9] };
    while reader.at < text.len() {
        match text.as_bytes()[reader.at] {
            b'`' => reader.code(),
            b'*' | b'_' => reader.emphasis(),
            b'[' => reader.link(),
            _ => reader.at += 1,
        }
    }
    reader.flush();
    for piece in reader.pieces {
        match piece {
            Piece::Text(text) => hidden::push(out, text, "<br>"),
            Piece::Tag(tag) => out.push_str(tag),
            Piece::Code(code) => {
                out.push_str("<code>");
                hidden::push(out, code, " ");
                out.push_str("</code>");
            }
            Piece::Link { label, target } => push_link(out, label, &target),
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Where the text begins that is not a piece yet.
    plain: usize,
    pieces: Vec<Piece<'a>>,
    /// Emphasis that was begun: the sign, and which piece it is. At most one of each kind, so at most four.
    open: Vec<(&'a str, usize)>,
    /// For which lengths of a run of backticks no further one is to come.
    ended: [bool; 9],
}

enum Piece<'a> {
    Text(&'a str),
    Tag(&'static str),
    Code(&'a str),
    Link { label: &'a str, target: Target<'a> },
}

/// Where a link leads.
struct Target<'a> {
    href: &'a str,
    host: &'a str,
}

impl Reader<'_> {
    /// Makes a piece of the text up to here.
    fn flush(&mut self) {
        if self.plain < self.at {
            self.pieces.push(Piece::Text(&self.text[self.plain..self.at]));
        }
        self.plain = self.at;
    }

    /// Returns how many times the sign here stands in a row.
    fn run(&self, from: usize) -> usize {
        let bytes = &self.text.as_bytes()[from..];
        bytes.iter().take_while(|byte| **byte == bytes[0]).count()
    }

    fn code(&mut self) {
        let length = self.run(self.at);
        let begin = self.at + length;
        let Some(end) = self.code_end(begin, length) else {
            self.at = begin;
            return;
        };
        self.flush();
        self.pieces.push(Piece::Code(self.text[begin..end].trim_matches(' ')));
        self.at = end + length;
        self.plain = self.at;
    }

    fn code_end(&mut self, from: usize, length: usize) -> Option<usize> {
        if *self.ended.get(length)? {
            return None;
        }
        let mut at = from;
        while let Some(found) = self.text[at..].find('`') {
            at += found;
            let run = self.run(at);
            if run == length {
                return Some(at);
            }
            at += run;
        }
        self.ended[length] = true;
        None
    }

    fn emphasis(&mut self) {
        let sign = self.text.as_bytes()[self.at];
        // No more than two are looked at: a long row of signs is read sign by sign.
        let length = if self.text.as_bytes().get(self.at + 1) == Some(&sign) { 2 } else { 1 };
        let mark = &self.text[self.at..self.at + length];
        let before = self.text[..self.at].chars().next_back();
        let after = self.text[self.at + length..].chars().next();
        let is_word = |side: Option<char>| side.is_some_and(char::is_alphanumeric);
        let is_space = |side: Option<char>| side.is_none_or(char::is_whitespace);
        // Underscores within a word belong to it.
        let ends = !is_space(before) && (sign == b'*' || !is_word(after));
        let begins = !is_space(after) && (sign == b'*' || !is_word(before));
        self.flush();
        self.at += length;
        self.plain = self.at;
        let (first, last) = if length == 1 { ("<em>", "</em>") } else { ("<strong>", "</strong>") };
        if let Some(found) = self.open.iter().rposition(|(open, _)| *open == mark).filter(|_| ends) {
            let (_, begun) = self.open[found];
            // What was begun inside and not ended stays a sign.
            self.open.truncate(found);
            self.pieces[begun] = Piece::Tag(first);
            self.pieces.push(Piece::Tag(last));
        } else {
            if begins && !self.open.iter().any(|(open, _)| *open == mark) {
                self.open.push((mark, self.pieces.len()));
            }
            self.pieces.push(Piece::Text(mark));
        }
    }

    fn link(&mut self) {
        let Some((label, href, length)) = link(&self.text[self.at..]) else {
            self.at += 1;
            return;
        };
        let Some(target) = Target::read(href) else {
            self.at += 1;
            return;
        };
        self.flush();
        self.pieces.push(Piece::Link { label, target });
        self.at += length;
        self.plain = self.at;
    }
}

/// Returns label, target and length of a link that the text begins with. Neither holds another bracket, so that no two
/// searches go over the same text.
fn link(text: &str) -> Option<(&str, &str, usize)> {
    let end = 1 + text[1..].find(['[', ']', '\n'])?;
    let rest = text[end..].strip_prefix("](")?;
    let close = rest.find(|character: char| {
        matches!(character, ')' | '(' | '[' | ']') || character.is_whitespace() || character.is_control()
    })?;
    rest[close..].starts_with(')').then(|| (&text[1..end], &rest[..close], end + 2 + close + 1))
}

impl<'a> Target<'a> {
    /// Returns where this leads, if it is an address that says so plainly.
    fn read(href: &'a str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_graphic() && !b"\"'<>\\^`{|}".contains(&byte);
        if href.len() > MAX_ADDRESS_BYTES || !href.bytes().all(plain) {
            return None;
        }
        let (scheme, rest) = href.split_once(':')?;
        let host = match scheme.to_ascii_lowercase().as_str() {
            "https" | "http" => rest.strip_prefix("//")?.split(['/', '?', '#']).next()?,
            "mailto" => rest.split('?').next()?.rsplit_once('@')?.1,
            _ => return None,
        };
        // A name before the host could be taken for the host.
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".-:".contains(&byte);
        (!host.is_empty() && host.bytes().all(fits)).then_some(Self { href, host })
    }
}

fn push_link(out: &mut String, label: &str, target: &Target<'_>) {
    out.push_str("<a href=\"");
    hidden::push(out, target.href, "");
    out.push_str("\" rel=\"noopener noreferrer nofollow\">");
    hidden::push(out, if label.trim().is_empty() { target.host } else { label }, " ");
    out.push_str("</a> <span class=\"host\">(");
    hidden::push(out, target.host, "");
    out.push_str(")</span>");
}

/// No address is longer.
const MAX_ADDRESS_BYTES: usize = 2048;

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(text: &str) -> String {
        let mut out = String::new();
        push(&mut out, text);
        out
    }

    #[test]
    fn emphasis_and_code_are_honoured_where_they_are_meant() {
        assert_eq!(
            pushed("a *b* **c** _d_ __e__"),
            "a <em>b</em> <strong>c</strong> <em>d</em> <strong>e</strong>"
        );
        assert_eq!(pushed("snake_case_name and 2 * 3 * 4"), "snake_case_name and 2 * 3 * 4");
        assert_eq!(pushed("**a *b* c**"), "<strong>a <em>b</em> c</strong>");
        assert_eq!(pushed("*a **b* c**"), "<em>a **b</em> c**");
        assert_eq!(pushed("`*a*` ``b`c`` `open"), "<code>*a*</code> <code>b`c</code> `open");
    }

    #[test]
    fn links_show_where_they_lead() {
        assert_eq!(
            pushed("[your bank](https://evil.example/a?b=1&c=2)"),
            "<a href=\"https://evil.example/a?b=1&amp;c=2\" rel=\"noopener noreferrer nofollow\">your bank</a> \
             <span class=\"host\">(evil.example)</span>"
        );
        assert!(pushed("[mail](mailto:kim@a.example)").contains("(a.example)"));
    }

    #[test]
    fn addresses_that_do_more_than_lead_somewhere_stay_text() {
        for href in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert`1`",
            "data:text/html,x",
            "https://bank.example@evil.example/",
            "https://\u{430}.example/",
            "//evil.example",
            "/sign-out",
            "https://",
            "https://a.example/\"onclick=x",
            "vbscript:x",
            "file:///etc/passwd",
        ] {
            let html = pushed(&format!("[x]({href})"));
            assert!(!html.contains("<a"), "{href}: {html}");
        }
    }
}
