//! What pages show of `demur inbox`: the same is to be seen on a terminal, and what is typed there works.

use super::page::Page;
use crate::{asker::Asker, inbox::terminal::Terminal, sandbox::Sandbox};

#[test]
fn inbox_reads_as_pages_show_it() {
    let mut transcripts = 0;
    for page in Page::all() {
        for block in page.blocks.iter().filter(|block| block.text.contains(PROMPT)) {
            follow(&block.text);
            transcripts += 1;
        }
    }
    assert!(transcripts > 0, "no page shows an inbox");
}

/// Sits down before an inbox with the question of the transcript, and types what it shows.
fn follow(transcript: &str) {
    let sandbox = Sandbox::new();
    let question = transcript.lines().find_map(|line| line.strip_prefix("1. ")?.split_once(" (")).unwrap().0;
    let asker = Asker::ask(&sandbox, &[question]);
    let terminal = Terminal::open(&sandbox, "inbox");
    let mut answer = "";
    for line in transcript.lines() {
        if let Some(typed) = line.strip_prefix(PROMPT) {
            terminal.enter(typed);
            answer = typed.strip_prefix("1 ").unwrap_or(answer);
        } else {
            terminal.shows(line);
        }
    }
    assert_eq!(asker.ended(&sandbox).expect_code(0).stdout, format!("{answer}\n"));
}

const PROMPT: &str = "inbox> ";
