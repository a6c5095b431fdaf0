//! The pages of the project and the blocks in them.

use std::{fs, path::PathBuf};

/// A page with fenced blocks.
pub(crate) struct Page {
    /// Where it lies in the project.
    pub(crate) name: String,
    pub(crate) blocks: Vec<Block>,
}

/// A fenced block.
pub(crate) struct Block {
    /// The line of the page on which it begins.
    pub(crate) line: usize,
    pub(crate) language: String,
    pub(crate) text: String,
    /// What the page shows as its output: the `text` block that follows at once.
    pub(crate) shown: Option<String>,
}

impl Page {
    /// Returns the README and every page below `docs/` that people follow.
    pub(crate) fn all() -> Vec<Self> {
        let mut names = vec!["README.md".to_owned()];
        for folder in ["docs", "docs/clients"] {
            let entries = fs::read_dir(project(folder)).unwrap().map(|entry| entry.unwrap().file_name());
            let entries = entries.map(|name| name.into_string().unwrap());
            let pages =
                entries.filter_map(|name| name.strip_suffix(".md").map(|name| format!("{folder}/{name}.md")));
            let mut pages: Vec<String> = pages.collect();
            pages.sort();
            names.append(&mut pages);
        }
        names.into_iter().map(Self::read).collect()
    }

    /// Returns a page.
    pub(crate) fn read(name: impl Into<String>) -> Self {
        let name = name.into();
        let text = fs::read_to_string(project(&name)).unwrap();
        let mut blocks = blocks(&text);
        for at in 1..blocks.len() {
            if blocks[at].language == "text" && blocks[at].line == blocks[at - 1].after() + 1 {
                blocks[at - 1].shown = Some(blocks[at].text.clone());
            }
        }
        Self { name, blocks }
    }

    /// Returns the blocks that somebody would run.
    pub(crate) fn commands(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter(|block| RUN.contains(&block.language.as_str()))
    }
}

impl Block {
    /// Returns the line of the page after the block.
    fn after(&self) -> usize {
        self.line + self.text.lines().count() + 2
    }

    /// Returns whether this is what its language says: commands are marked as commands, and nothing else is.
    pub(crate) fn is_what_it_says(&self) -> bool {
        let is_command = |line: &str| STARTS.iter().any(|start| line.starts_with(start));
        let goes_on = |line: &str| line.is_empty() || line.starts_with([' ', '#']);
        let mut lines = self.text.lines();
        let looks_run =
            lines.next().is_some_and(is_command) && lines.all(|line| is_command(line) || goes_on(line));
        match self.language.as_str() {
            language if RUN.contains(&language) => true,
            // A drawing is no command.
            "text" => !looks_run || self.text.contains('─'),
            language => READ.contains(&language) && !looks_run,
        }
    }
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().zip(1..);
    while let Some((fence, line)) = lines.next() {
        let Some(language) = fence.trim_start().strip_prefix("```") else { continue };
        let inside = lines.by_ref().map(|(line, _)| line).take_while(|line| line.trim_start() != "```");
        let text = inside.fold(String::new(), |text, line| text + line + "\n");
        blocks.push(Block { line, language: language.to_owned(), text, shown: None });
    }
    blocks
}

/// Returns where something of the project lies.
pub(crate) fn project(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// Languages whose blocks are run, and those whose blocks are read.
const RUN: [&str; 2] = ["sh", "python"];
const READ: [&str; 6] = ["cedar", "ini", "json", "mermaid", "toml", "yaml"];
/// How lines begin that are commands.
const STARTS: [&str; 6] = ["$ ", "cargo ", "cp ", "curl ", "demur ", "python"];
