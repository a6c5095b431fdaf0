//! Blocks of the Markdown subset: paragraphs, lists of one level, and fenced code. Each line is read once.

use super::{hidden, inline};

/// Returns the HTML of a text.
pub(super) fn render(text: &str) -> String {
    let mut out = Blocks { out: String::with_capacity(text.len() + 64), open: Open::Nothing };
    let mut lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    while let Some(line) = lines.next() {
        if line.trim_start().starts_with("```") {
            out.close();
            // A fence that nobody closes reaches to the end.
            let code: Vec<&str> = lines.by_ref().take_while(|line| line.trim() != "```").collect();
            out.code(&code.join("\n"));
        } else {
            out.line(line);
        }
    }
    out.close();
    out.out
}

struct Blocks {
    out: String,
    open: Open,
}

/// What was begun and is not ended yet. Lines are kept until then: emphasis may go over several.
enum Open {
    Nothing,
    Paragraph(String),
    /// With the name of the element and the item that is read now.
    List(&'static str, String),
}

impl Blocks {
    fn line(&mut self, line: &str) {
        if line.trim().is_empty() {
            self.close();
        } else if let Some((name, item)) = item(line) {
            match &mut self.open {
                Open::List(open, text) if *open == name => {
                    let ended = std::mem::replace(text, item.to_owned());
                    self.item(&ended);
                }
                _ => {
                    self.close();
                    self.tag(name, false);
                    self.open = Open::List(name, item.to_owned());
                }
            }
        } else {
            match &mut self.open {
                Open::Paragraph(text) | Open::List(_, text) => {
                    text.push('\n');
                    text.push_str(line);
                }
                Open::Nothing => self.open = Open::Paragraph(line.to_owned()),
            }
        }
    }

    fn close(&mut self) {
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Nothing => {}
            Open::Paragraph(text) => {
                self.tag("p", false);
                inline::push(&mut self.out, &text);
                self.tag("p", true);
            }
            Open::List(name, text) => {
                self.item(&text);
                self.tag(name, true);
            }
        }
    }

    fn item(&mut self, text: &str) {
        self.tag("li", false);
        inline::push(&mut self.out, text);
        self.tag("li", true);
    }

    fn code(&mut self, text: &str) {
        self.out.push_str("<pre><code>");
        hidden::push(&mut self.out, text, "\n");
        self.out.push_str("</code></pre>");
    }

    fn tag(&mut self, name: &str, ends: bool) {
        self.out.push_str(if ends { "</" } else { "<" });
        self.out.push_str(name);
        self.out.push('>');
    }
}

/// Returns the list that a line is an item of, and the item.
fn item(line: &str) -> Option<(&'static str, &str)> {
    let line = line.trim_start_matches(' ');
    let bullet = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark));
    if let Some(item) = bullet {
        return Some(("ul", item));
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let item = line[digits..].strip_prefix(". ").filter(|_| (1..=9).contains(&digits))?;
    Some(("ol", item))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_become_paragraphs_lists_and_code() {
        assert_eq!(render("one\ntwo\n\nthree"), "<p>one<br>two</p><p>three</p>");
        assert_eq!(render("a:\n- b\n- *c*\n\nd"), "<p>a:</p><ul><li>b</li><li><em>c</em></li></ul><p>d</p>");
        assert_eq!(render("1. a\n2. b"), "<ol><li>a</li><li>b</li></ol>");
        assert_eq!(
            render("```sh\nrm *a* <b>\n```\nafter"),
            "<pre><code>rm *a* &lt;b&gt;</code></pre><p>after</p>"
        );
        assert_eq!(render("```\nopen"), "<pre><code>open</code></pre>");
    }

    #[test]
    fn everything_else_is_shown_as_it_stands() {
        assert_eq!(render("# no heading"), "<p># no heading</p>");
        assert_eq!(render("![x](https://a.example/x.png)").matches("<img").count(), 0);
        assert_eq!(render("<script>alert(1)</script>"), "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>");
        assert_eq!(render("> quoted | a | b |"), "<p>&gt; quoted | a | b |</p>");
    }
}
