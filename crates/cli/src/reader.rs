//! A data folder that a command reads: through its server, which is started where none runs. Where none can be reached or
//! started, the files are read here, through the same functions: in a folder that may not be written, or that another command
//! mends.

mod export;
mod files;

use demur_api::{
    call::ApiRequest,
    code::Code,
    operation::{FindIds, ListEvents, ListKeys, NoArguments, Nothing, OfTrace, ShowTrace},
    run::RunOrigin,
    store::{FindParameters, IdKind},
    trace::{EventParameters, TraceView},
};
use demur_desk::{data::DataFolder, read_only::ReadOnlyFolder};
use demur_ledger::{
    envelope::Event,
    event_type::EventType,
    name::{Sequence, TraceId},
};

pub(crate) use export::ExportTrouble;

use self::files::ReadHere;
use crate::{client::Client, failure::Failure};

/// A data folder to be read.
pub(crate) enum Reader {
    /// Its server answers.
    Server(Client),
    /// No server can be reached or started.
    Files(Box<ReadOnlyFolder>),
}

impl Reader {
    /// Returns the reader of a data folder that has a store.
    pub(crate) fn open(data: DataFolder) -> Result<Self, Failure> {
        if !data.has_store()? {
            return Err(data.no_keys().into());
        }
        match Client::reaching(data.clone()) {
            Ok(client) => Ok(Self::Server(client)),
            // What keeps a server from beginning may not be in a reader's way; if it is, that is said.
            Err(_) => Ok(Self::Files(Box::new(ReadOnlyFolder::open(data)?))),
        }
    }

    /// Has an operation done that only reads.
    pub(crate) fn call<O: ReadHere>(&self, request: ApiRequest<O>) -> Result<O::Output, Failure> {
        match self {
            Self::Server(client) => client.call(request),
            Self::Files(files) => Ok(O::read(files, request)?),
        }
    }
}

impl Reader {
    /// Returns what a trace is; none where there is none.
    pub(crate) fn trace(&self, trace: TraceId) -> Result<Option<TraceView>, Failure> {
        match self.call(ApiRequest::<ShowTrace>::get(OfTrace { trace }, Nothing {})) {
            Err(error) if error.is(Code::TraceUnknown) => Ok(None),
            found => found.map(Some),
        }
    }

    /// Returns where a run begins now: the store as it is since its newest restoration.
    pub(crate) fn origin(&self) -> Result<RunOrigin, Failure> {
        let listed = self.call(ApiRequest::<ListKeys>::get(NoArguments {}, Nothing {}))?;
        Ok(RunOrigin { store: listed.registry.store, epoch: listed.registry.epoch })
    }

    /// Returns the type of an event; none where there is no such event, or where this demur does not know its type.
    pub(crate) fn kind(&self, trace: TraceId, sequence: Sequence) -> Result<Option<EventType>, Failure> {
        let before = sequence.number().checked_sub(1);
        let after = before.map(Sequence::try_from).transpose().map_err(|error| Failure::bug(&error))?;
        let query = EventParameters { after, limit: Some(1) };
        let page = self.call(ApiRequest::<ListEvents>::get(OfTrace { trace }, query))?;
        let Some(view) = page.events.first() else { return Ok(None) };
        let event = Event::parse(view.envelope.get().as_bytes()).map_err(|error| Failure::bug(&error))?;
        Ok(event.said().ok().and_then(|said| said.kind.known()))
    }

    /// Calls `visit` with the events of a trace in order, each with its content as it is kept.
    pub(crate) fn events(
        &self,
        trace: TraceId,
        mut visit: impl FnMut(Sequence, &Event, Option<&[u8]>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut after = None;
        loop {
            let query = EventParameters { after, limit: Some(PAGE_LENGTH) };
            let page = self.call(ApiRequest::<ListEvents>::get(OfTrace { trace }, query))?;
            for view in &page.events {
                let event = Event::parse(view.envelope.get().as_bytes());
                let event = event.map_err(|error| Failure::bug(&error))?;
                visit(view.sequence, &event, view.content.as_ref().map(|content| content.get().as_bytes()))?;
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }
}

/// Somewhere to look for ids.
pub(crate) trait Find {
    /// Returns the first few ids that begin so.
    fn find(&self, kind: IdKind, typed: &str) -> Result<Vec<String>, Failure>;
}

impl Find for Client {
    fn find(&self, kind: IdKind, typed: &str) -> Result<Vec<String>, Failure> {
        Ok(self.call(wanted(kind, typed))?.ids)
    }
}

impl Find for Reader {
    fn find(&self, kind: IdKind, typed: &str) -> Result<Vec<String>, Failure> {
        Ok(self.call(wanted(kind, typed))?.ids)
    }
}

fn wanted(kind: IdKind, typed: &str) -> ApiRequest<FindIds> {
    ApiRequest::get(NoArguments {}, FindParameters { kind, typed: typed.to_owned() })
}

/// How many events come at a time.
const PAGE_LENGTH: usize = 200;
