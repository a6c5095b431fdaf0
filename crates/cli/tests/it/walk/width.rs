//! What demur lays out itself fits the terminal; a word that is longer than a line stands alone.

use super::{MARK, home::Home, on_terminal, script};
use crate::{
    sandbox::golden_path,
    walk::{Place, page::Block},
};

/// Returns what commands say on a terminal of this width, one after the other.
fn said(commands: &[&str], columns: u16) -> Vec<String> {
    let home = Home::new();
    let block = |command: &&str| Block {
        line: 0,
        language: "sh".to_owned(),
        text: format!("{command}\n"),
        shown: None,
    };
    let blocks: Vec<Block> = commands.iter().map(block).collect();
    let script = script(&home, &blocks.iter().collect::<Vec<_>>(), Place::Terminal(columns));
    std::fs::write(home.path("walk.sh"), script).unwrap();
    let said = on_terminal(&home, columns);
    let parts = said.split(MARK).skip(1);
    parts.take(commands.len()).map(str::to_owned).collect()
}

#[test]
fn help_and_timelines_fit_the_terminal() {
    let timeline = format!("demur trace show '{}'", golden_path());
    for columns in [80, 40] {
        let said = said(&["demur --help", "demur ask --help", &timeline], columns);
        let too_wide = |line: &&str| line.trim_end().chars().count() > usize::from(columns);
        for help in &said[..2] {
            assert_eq!(help.lines().find(too_wide), None, "{columns} columns");
        }
        // What stands beside a label; the sentence of each event is one line for the terminal to break.
        let rows: Vec<&str> = said[2].lines().filter(|line| line.starts_with("    ")).collect();
        assert!(rows.len() > 50, "{}", said[2]);
        let words = |line: &str| line.get(15..).unwrap_or_default().split_whitespace().count();
        assert_eq!(rows.into_iter().filter(too_wide).find(|line| words(line) > 1), None, "{columns} columns");
    }
}

#[test]
fn lists_and_answers_break_between_words_on_a_narrow_terminal() {
    let verify = format!("demur verify '{}'", golden_path());
    let commands = [
        "demur keys new alice --role planner",
        "demur keys list",
        "demur token new builder --scope ask",
        "demur token list",
        "demur doctor",
        "demur status",
        &verify,
    ];
    for said in said(&commands, 40) {
        let too_wide = |line: &&str| line.trim_end().chars().count() > 40;
        // A word that is longer than a line stands alone, behind the name of its column at most.
        let broken = said.lines().filter(too_wide).find(|line| line.split_whitespace().count() > 2);
        assert_eq!(broken, None, "{said}");
    }
}
