//! What somebody at a terminal can do about a refusal that nobody meets elsewhere: by code. Cures that others read, too,
//! come with the refusal.

use std::path::Path;

use demur_api::code::Code;
use demur_desk::visible::shell_word;

/// Returns what to do about a refusal that came without a cure.
pub(crate) fn hint_of(code: Code) -> Option<&'static str> {
    HINTS.iter().find(|(known, _)| *known == code).map(|(_, hint)| *hint)
}

/// Returns a hint whose commands name the data folder that was named: without it they would look into another one.
pub(crate) fn in_folder(hint: &str, folder: &Path) -> String {
    let named = format!("`demur --data {} ", shell_word(folder));
    let mut parts = hint.split("`demur ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let command = part.split('`').next().unwrap_or_default();
        let is_named = command.starts_with("--") || command.contains("--data") || command.contains("--help");
        text.push_str(if is_named { "`demur " } else { &named });
        text.push_str(part);
    }
    text
}

const HINTS: &[(Code, &str)] = &[
    (Code::NoDataFolder, "name one with --data DIR"),
    (Code::PortForbidden, "name a port above 1023; without one, `demur serve` takes a free one by itself"),
    (Code::PortTaken, "name another port; without one, `demur serve` takes a free one by itself"),
];

#[cfg(test)]
mod tests {
    use demur_api::refusal::Refusal;

    use super::*;
    use crate::failure::Failure;

    #[test]
    fn commands_name_the_folder_that_was_named() {
        let hint =
            "`demur keys list` shows them; `demur ask --help` and `demur --data x stop`, too; so does `ls`";
        let told = "`demur --data 'a b' keys list` shows them; `demur ask --help` and `demur --data x stop`, too; so does `ls`";
        assert_eq!(in_folder(hint, Path::new("a b")), told);
    }

    #[test]
    fn a_cure_that_came_with_the_refusal_is_what_is_shown() {
        for (code, hint) in HINTS.iter().copied() {
            let refusal = Refusal::new(code, "no");
            assert_eq!(Failure::from(refusal.clone()).hint(), Some(hint));
            assert_eq!(Failure::from(refusal.with_cure("another")).hint(), Some("another"));
        }
        assert_eq!(Failure::of(Code::NotFound, "no").hint(), None);
    }
}
