//! A store as somebody reads it: traces by name, and exports of them. Whoever owns the folder goes on meanwhile.

use std::{io::Write, str::FromStr};

use demur_ledger::name::{Position, TraceId};
use demur_store::{
    contract::Store as _,
    ledger::{Ledger, LedgerError},
    sqlite::SqliteStore,
};

use crate::{
    data::DataFolder,
    error::CommandError,
    keystore::Keystore,
    output::{Progress, counted_as, percent},
    owner::open_ledger,
    roster::software,
    visible::visible_path,
    world::World,
};

/// Which trace is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chosen {
    /// The one in which something happened last.
    Last,
    /// The registry of keys.
    Registry,
    /// This one.
    Trace(TraceId),
}

impl FromStr for Chosen {
    type Err = NotATrace;

    fn from_str(text: &str) -> Result<Self, NotATrace> {
        match text {
            "last" => Ok(Self::Last),
            "registry" => Ok(Self::Registry),
            id => id.parse().map(Self::Trace).map_err(|_| NotATrace),
        }
    }
}

/// Something typed that names no trace.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("expected `last`, `registry` or the id of a trace: 26 characters, as `demur trace list` shows them")]
pub(crate) struct NotATrace;

/// A store open for reading, with the desk's key to sign exports.
pub(crate) struct Archive {
    data: DataFolder,
    ledger: Ledger<SqliteStore>,
}

impl Archive {
    /// Opens the store of a data folder, whoever owns it.
    pub(crate) fn open(data: DataFolder) -> Result<Self, CommandError> {
        let Some(store) = data.read()? else { return Err(data.no_keys()) };
        if store.registry()?.is_none() {
            return Err(data.no_keys());
        }
        let world = World::open()?;
        let keystore = Keystore::of(&data);
        let ledger = open_ledger(&keystore, |find| Ledger::read(store, find, Box::new(world)))?;
        Ok(Self { data, ledger })
    }

    /// Returns the ledger, to be read.
    pub(crate) const fn ledger(&self) -> &Ledger<SqliteStore> {
        &self.ledger
    }

    /// Returns the trace that is meant.
    pub(crate) fn resolve(&self, chosen: Chosen) -> Result<TraceId, CommandError> {
        match chosen {
            Chosen::Registry => Ok(self.ledger.registry().trace()),
            Chosen::Last => self.ledger.store().newest()?.ok_or_else(|| self.no_traces()),
            Chosen::Trace(trace) => match self.ledger.store().trace(trace)? {
                Some(_) => Ok(trace),
                None => Err(LedgerError::TraceUnknown { trace }.into()),
            },
        }
    }

    /// Writes a trace as one file and returns its newest event in it.
    pub(crate) fn export(
        &self,
        trace: TraceId,
        out: &mut dyn Write,
        watched: bool,
    ) -> Result<Position, LedgerError> {
        let count = |trace| -> Result<u64, LedgerError> {
            let summary = self.ledger.store().trace(trace)?;
            Ok(summary.map_or(0, |summary| summary.head.sequence.next().number()))
        };
        let registry = self.ledger.registry().trace();
        let total = count(registry)? + if trace == registry { 0 } else { count(trace)? };
        let mut progress = Progress::new(watched);
        let software = software().map_err(|error| std::io::Error::other(error.to_string()))?;
        let written = self.ledger.export(trace, software, out, &mut |events| {
            progress.tell(|| {
                format!("{} written, {} %", counted_as(events, "event", "events"), percent(events, total))
            });
        });
        progress.clear();
        written
    }

    fn no_traces(&self) -> CommandError {
        let message =
            format!("expected a trace in {}, found only the registry", visible_path(self.data.path()));
        CommandError::input("NO_TRACE", message)
            .with_hint("`demur demo` shows how one comes about; `demur export registry` gives the registry")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_are_named_by_word_or_by_their_whole_id() {
        assert_eq!("last".parse::<Chosen>().unwrap(), Chosen::Last);
        assert_eq!("registry".parse::<Chosen>().unwrap(), Chosen::Registry);
        let id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
        assert_eq!(id.parse::<Chosen>().unwrap(), Chosen::Trace(id.parse().unwrap()));
        for text in ["", "Last", "01ARZ3NDEKTSV4RRFFQ69G5FA", "01arz3ndektsv4rrffq69g5fav", "./last"] {
            text.parse::<Chosen>().unwrap_err();
        }
    }
}
