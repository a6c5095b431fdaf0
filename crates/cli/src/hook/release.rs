//! Command lines in which an agent might let itself go: any use of `demur` that does not only look. No wall: a shell has more
//! ways to write a word than anybody can list.

/// Returns whether a command line might answer or call off a question, or change what the hook goes by.
pub(super) fn might_release(command: &str) -> bool {
    let command: String = command.chars().filter(|character| !"'\"\\".contains(*character)).collect();
    command.contains("hooked.json") || command.split(ENDS_COMMAND).any(uses_demur)
}

/// Returns whether a command names `demur`, at its beginning or later, and then anything but a subcommand that only looks.
fn uses_demur(command: &str) -> bool {
    let mut words =
        command.split(|character: char| character.is_whitespace() || "={},:$".contains(character));
    let is_demur = |word: &str| word.rsplit('/').next() == Some("demur");
    while words.any(is_demur) {
        if !only_looks(words.clone()) {
            return true;
        }
    }
    false
}

fn only_looks<'a>(words: impl Iterator<Item = &'a str>) -> bool {
    let mut words = words.filter(|word| !word.is_empty() && *word != "--json");
    let mut first = words.next();
    if first == Some("--data") {
        first = words.nth(1);
    }
    match first {
        Some("inbox") => words.next() == Some("--list"),
        first => first.is_some_and(|first| LOOKS.contains(&first)),
    }
}

/// Where a shell ends one command and begins another.
const ENDS_COMMAND: [char; 9] = [';', '|', '&', '\n', '(', ')', '`', '<', '>'];
/// What an agent may say to `demur` in a shell while a question stops it.
const LOOKS: [&str; 11] =
    ["--help", "--version", "-V", "-h", "doctor", "help", "show", "status", "trace", "verify", "wait"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_in_which_an_agent_might_let_itself_go_is_known() {
        for command in [
            "demur cancel 01X.0",
            "cd / && /usr/bin/demur --data x answer 01X yes",
            "demur --data wait answer 01X yes",
            "rm ~/d/hooked.json",
            "rm ~/d/hooked\".json\"",
            "printf '1\\r' | script -qc 'demur inbox' /dev/null",
            "demur inbox; --list",
            "cat calls | demur mcp",
            "demur keys new me",
            "d''em\\ur cancel 01X",
            "echo cancel 01X | xargs demur",
            "demur wait $(demur answer 01X yes)",
            "demur wait 01X && demur cancel 01X",
            "alias look=demur",
            "demur${IFS}cancel 01X",
        ] {
            assert!(might_release(command), "{command}");
        }
        for command in [
            "demur wait 01X.0",
            "demur --data ~/d --json show 01X",
            "DEMUR_DATA=x /usr/bin/demur inbox --list | head",
            "demur --version && demur status; demur trace show last",
            "cargo test -p demur-cli",
            "cd ~/demur/crates && ls",
            "git commit -m cancel",
        ] {
            assert!(!might_release(command), "{command}");
        }
    }
}
