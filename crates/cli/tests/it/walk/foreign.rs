//! The blocks that the walk leaves out, each with the program that it would need. A new one is a new row.

use super::page::{Block, Page};

/// A block that needs more than `demur` and what the tests need anyway.
struct Foreign {
    page: &'static str,
    /// How the block begins.
    begins: &'static str,
    /// The program that is not here, or must not be called by a test.
    program: &'static str,
    reason: &'static str,
}

const FOREIGN: [Foreign; 5] = [
    Foreign { page: "README.md", begins: "cargo install", program: "cargo", reason: BUILDS },
    Foreign { page: "docs/install.md", begins: "cargo install", program: "cargo", reason: BUILDS },
    Foreign { page: "docs/install.md", begins: "cargo build", program: "cargo", reason: BUILDS },
    Foreign {
        page: "docs/install.md",
        begins: "git pull",
        program: "git",
        reason: "asks a server elsewhere",
    },
    Foreign {
        page: "docs/install.md",
        begins: "cargo uninstall",
        program: "cargo",
        reason: "nothing was installed",
    },
];
const BUILDS: &str = "builds for minutes and changes the programs of this machine";

/// Returns why a block is not run.
pub(crate) fn reason(page: &Page, block: &Block) -> Option<&'static str> {
    let row = FOREIGN.iter().find(|row| row.is_for(page, block))?;
    Some(row.reason)
}

/// Returns the rows that say nothing true any more: nothing begins so, or it does not call the program and could run.
pub(crate) fn stale(pages: &[Page]) -> Vec<&'static str> {
    let holds = |row: &Foreign| {
        let page = pages.iter().find(|page| page.name == row.page);
        page.is_some_and(|page| {
            page.commands().any(|block| row.is_for(page, block) && calls(block, row.program))
        })
    };
    FOREIGN.iter().filter(|row| !holds(row)).map(|row| row.begins).collect()
}

/// Returns whether some line of a block calls a program.
fn calls(block: &Block, program: &str) -> bool {
    block.text.lines().any(|line| line.split_whitespace().next() == Some(program))
}

impl Foreign {
    fn is_for(&self, page: &Page, block: &Block) -> bool {
        page.name == self.page && block.text.starts_with(self.begins)
    }
}

#[test]
fn rows_without_their_page_are_stale() {
    assert_eq!(stale(&[]).len(), FOREIGN.len());
}
