//! A store as somebody reads it: traces by name, and exports of them. Whoever owns the folder goes on meanwhile.

use std::{io::Write, sync::Arc};

use demur_ledger::name::{Position, TraceId};
use demur_sequencer::{Sequencer, SequencerError};
use demur_store::contract::Store as _;

use crate::{
    data::DataFolder,
    failure::Failure,
    keystore::Keystore,
    lookup::{self, TypedId},
    output::{Progress, counted_as, percent},
    owner::open_ledger,
    roster::software,
    visible::visible_path,
    world::World,
};

/// A store open for reading, with the desk's key to sign exports.
pub(crate) struct Archive {
    data: DataFolder,
    ledger: Sequencer,
}

impl Archive {
    /// Opens the store of a data folder, whoever owns it.
    pub(crate) fn open(data: DataFolder) -> Result<Self, Failure> {
        let Some(store) = data.read()? else { return Err(data.no_keys().into()) };
        if store.registry()?.is_none() {
            return Err(data.no_keys().into());
        }
        let world = World::open()?;
        let keystore = Keystore::of(&data);
        let ledger = open_ledger(&keystore, |find| Sequencer::read(Arc::new(store), find, Box::new(world)))?;
        Ok(Self { data, ledger })
    }

    /// Returns the ledger, to be read.
    pub(crate) const fn ledger(&self) -> &Sequencer {
        &self.ledger
    }

    /// Returns the trace that is meant.
    pub(crate) fn resolve(&self, typed: &TypedId) -> Result<TraceId, Failure> {
        let store = self.ledger.store();
        match typed.as_str() {
            REGISTRY => Ok(self.ledger.registry().trace()),
            _ if typed.is_last() && store.newest()?.is_none() => Err(self.no_traces()),
            _ => lookup::trace(store, typed),
        }
    }

    /// Writes a trace as one file and returns its newest event in it.
    pub(crate) fn export(
        &self,
        trace: TraceId,
        out: &mut dyn Write,
        watched: bool,
    ) -> Result<Position, SequencerError> {
        let count = |trace| -> Result<u64, SequencerError> {
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

    fn no_traces(&self) -> Failure {
        let message =
            format!("expected a trace in {}, found only the registry", visible_path(self.data.path()));
        Failure::input("NO_TRACE", message)
            .with_hint("`demur demo` shows how one comes about; `demur export registry` gives the registry")
    }
}

/// What stands for the trace of the keys.
pub(crate) const REGISTRY: &str = "registry";
