//! Paths as they are shown: what would deceive is made visible, and a shell takes the copy as one word.

use std::path::Path;

use demur_core::visible::visible;

/// Returns the path as text that can be shown.
pub fn visible_path(path: &Path) -> String {
    visible(&path.to_string_lossy()).into_owned()
}

/// Returns a path as one word of a shell, for commands that people copy.
pub fn shell_word(path: &Path) -> String {
    let text = visible_path(path);
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "/._-+:@%".contains(character);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_show_what_would_deceive() {
        assert_eq!(visible_path(Path::new("/tmp/a\u{202e}b\n")), "/tmp/a\\u{202e}b\\u{a}");
    }

    #[test]
    fn paths_are_quoted_where_a_shell_would_split_them() {
        assert_eq!(shell_word(Path::new("/tmp/demur-demo-1")), "/tmp/demur-demo-1");
        assert_eq!(shell_word(Path::new("/tmp/it's here")), "'/tmp/it'\\''s here'");
    }
}
