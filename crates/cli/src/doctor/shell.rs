//! The shell: does it complete demur's commands?

use std::{env, fs, path::PathBuf};

use super::Check;

/// Looks for the completion script of the shell that is used.
pub(super) fn check() -> Check {
    let shell = env::var("SHELL").unwrap_or_default();
    let shell = shell.rsplit('/').next().unwrap_or_default().to_owned();
    let Some(home) = env::var_os("HOME").map(PathBuf::from) else {
        return Check::note("completions", "not looked for: there is no HOME");
    };
    let (script, settings, hint) = match shell.as_str() {
        "bash" => (
            ".local/share/bash-completion/completions/demur",
            ".bashrc",
            "echo 'source <(demur completions bash)' >> ~/.bashrc",
        ),
        "zsh" => (".zfunc/_demur", ".zshrc", "demur completions zsh > ~/.zfunc/_demur"),
        "fish" => (
            ".config/fish/completions/demur.fish",
            ".config/fish/config.fish",
            "demur completions fish > ~/.config/fish/completions/demur.fish",
        ),
        _ => {
            return Check::note(
                "completions",
                "`demur completions --help` says for which shells there are any",
            );
        }
    };
    let named = fs::read_to_string(home.join(settings)).is_ok_and(|text| text.contains("demur completions"));
    if named || home.join(script).exists() {
        return Check::ok("completions", format!("{shell} has them"));
    }
    let check = Check::note("completions", format!("{shell} does not complete demur's commands"));
    Check { hint: Some(hint.to_owned()), ..check }
}
