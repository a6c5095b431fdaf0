//! A generated export: one whole run with real keys, as the ledger crate writes it (`docs/format.md` 9). The
//! same plan gives the same bytes. Written line by line, so that the number of events is bounded by the disk.

mod dice;
mod scene;
mod story;

use std::io::Write;

use anyhow::{Result, ensure};
use clap::ValueEnum;

use self::scene::Scene;
use self::story::Story;

/// What the fixture is to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// How many events the run has; those of the registry come on top.
    pub events: u64,
    /// What is stored beside the events.
    pub artifacts: Artifacts,
    /// Determines every key, salt, time and word.
    pub seed: u64,
}

/// What is stored beside the events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Artifacts {
    /// Each tool call has an input and an output of some hundred bytes.
    Small,
    /// One artifact that all calls and claims share, because the format asks for one.
    #[value(name = "none")]
    Shared,
}

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Events of the run.
    pub events: u64,
    /// Bytes of the export.
    pub bytes: u64,
}

impl Plan {
    /// Returns the usual plan for this many events.
    pub const fn usual(events: u64) -> Self {
        Self { events, artifacts: Artifacts::Small, seed: 1 }
    }

    /// Writes the export; `progress` is told how many events there are so far.
    pub fn write(&self, out: &mut dyn Write, progress: &mut dyn FnMut(u64)) -> Result<Written> {
        let least = story::LEAST_EVENTS;
        ensure!(self.events >= least, "expected at least {least} events, found {}", self.events);
        let mut story = Story::open(Scene::new(self.seed, out)?, self.artifacts)?;
        while story.events() + story::LONGEST_CALL + story::ENDING <= self.events {
            story.call()?;
            progress(story.events());
        }
        while story.events() + story::ENDING < self.events {
            story.note()?;
        }
        let written = story.close()?;
        progress(written.events);
        Ok(written)
    }
}
