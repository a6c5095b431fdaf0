//! Text from outside inside HTML and SVG: nothing in it is markup, nothing in it is hidden.

use std::fmt::Write as _;

use demur_core::visible::visible;

/// Returns text as the text of an HTML or XML element or attribute.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in visible(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // No XML may hold these two, not even escaped. Writing to a string does not fail.
            '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(character));
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_the_file_is_markup() {
        assert_eq!(
            escape("<script>alert('x')</script>&\u{202e}\u{ffff}"),
            "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;\\u{202e}\\u{ffff}"
        );
    }
}
