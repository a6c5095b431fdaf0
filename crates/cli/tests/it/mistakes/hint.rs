//! Whether the commands of a hint work.

use std::process::{Command, Stdio};

use crate::sandbox::Sandbox;

/// Checks that a hint names a command or an option of the command that was typed, and that each is one: what only looks is
/// run, of the rest the help is read.
pub(super) fn helps(sandbox: &Sandbox, what: &str, line: &[&str], hint: &str) {
    let commands: Vec<&str> = hint.split('`').skip(1).step_by(2).filter(|text| is_command(text)).collect();
    let named: Vec<&str> = hint.split(' ').filter(|word| word.starts_with("--")).collect();
    assert!(!commands.is_empty() || !named.is_empty(), "{what}: nothing to type in {hint:?}");
    if commands.is_empty() {
        let help = sandbox.run(&[line, &["--help"]].concat());
        for option in named {
            let option = option.trim_end_matches([',', ':', ';']);
            assert!(help.expect_code(0).stdout.contains(option), "{what}: no {option}: {help}");
        }
    }
    for command in commands {
        let Some(line) = command.strip_prefix("demur ") else {
            let ran =
                Command::new("sh").args(["-c", command]).current_dir(sandbox.path("")).output().unwrap();
            assert!(ran.status.success(), "{what}: {command}: {ran:?}");
            continue;
        };
        let words: Vec<&str> = line.split(' ').collect();
        if LOOKS.iter().any(|looks| line.starts_with(looks)) || words.contains(&"--help") {
            let mut looking = sandbox.command(&words);
            // Where a folder cannot be used, a command that looks at it may say so too.
            let ran = sandbox.ran(looking.stdin(Stdio::null()).output().unwrap());
            assert!(
                matches!(ran.code, Some(0 | 2 | 3)) && !ran.stderr.contains("USAGE"),
                "{what}: {command}: {ran}"
            );
            continue;
        }
        let path: Vec<&str> = words.iter().copied().take_while(|word| is_name(word)).collect();
        let help = sandbox.run(&[&path[..], &["--help"]].concat());
        help.expect_code(0);
        assert!(
            help.stdout.contains(&format!("Usage: demur {}", path.join(" "))),
            "{what}: {command}: {help}"
        );
        for option in words.iter().filter(|word| word.starts_with("--")) {
            assert!(help.stdout.contains(option), "{what}: {command} has no {option}");
        }
    }
}

fn is_command(text: &str) -> bool {
    ["demur ", "ls ", "df ", "tail "].iter().any(|start| text.starts_with(start))
}

/// A word of a command, unlike an option or what stands for something.
fn is_name(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
        && !word.starts_with('-')
        && !["last", "agent"].contains(&word)
}

/// Commands that change nothing.
const LOOKS: [&str; 9] = [
    "inbox --list",
    "plan list",
    "trace list",
    "keys list",
    "token list",
    "people list",
    "status",
    "doctor",
    "show ",
];
