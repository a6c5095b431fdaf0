//! What the desk says to an agent: who takes part, what happened, whose turn it is, what became of a statement.

use demur_core::{
    canonical,
    limit::{Limits, List, Text},
    time::Timestamp,
};
use demur_ledger::{
    author::Artifact,
    content::Opening,
    envelope::Event,
    event_type::{Content, TypeName},
    export::{ArtifactLine, Disclosure, EventLine, ExportWriter},
    facts::{Participant, Policy, RefusalCode},
    name::{Position, PrincipalId, Sequence, StoreId, TraceId},
    role::Role,
    state::Phase,
};
use serde::{Deserialize, Serialize};

use super::{LineError, PROTOCOL, both, present, to_line};

/// One line from the desk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromDesk {
    /// The first line.
    Hello(Hello),
    /// An event of the trace, in order, each once.
    Event(Box<ShownEvent>),
    /// The bytes of the artifact that the event on the line before records.
    Artifact(ShownArtifact),
    /// The agent may speak now.
    Turn(Turn),
    /// The statement just submitted stands here.
    Recorded(Position),
    /// The statement just submitted was refused; the turn goes on.
    Refused(Refused),
    /// The run is over.
    End(End),
}

/// Who the agent is, and in which run. Fields stand in canonical order, as in all types below.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// What the opening must name among its constraints.
    pub constraints: List<Text<1, 4096>, 0, 64>,
    /// Everybody who may speak in this run.
    pub participants: List<Participant, 3, 64>,
    /// The numbers the guards go by.
    pub policy: Policy,
    /// The agent's own principal.
    pub principal: PrincipalId,
    /// Always [`PROTOCOL`].
    pub protocol: u64,
    /// The role the agent plays.
    pub role: Role,
    /// The store.
    pub store: StoreId,
    /// The trace of the run.
    pub trace: TraceId,
}

/// An event and what is disclosed of it, as in an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownEvent {
    /// The event.
    pub event: Event,
    /// Its content with the salt, if disclosed.
    pub opening: Option<Opening>,
    /// What became of the content.
    pub disclosure: Disclosure,
}

/// The bytes of an artifact, or why they are not there, as in an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownArtifact {
    /// The event that records it.
    pub event: Sequence,
    /// The bytes with their salt, if disclosed.
    pub artifact: Option<Artifact>,
    /// What became of the bytes.
    pub disclosure: Disclosure,
}

/// It is the agent's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// The newest event; none before the run is opened.
    #[serde(deserialize_with = "present")]
    pub head: Option<Position>,
    /// The desk's clock.
    pub now: Timestamp,
    /// Where the run stands.
    pub phase: Phase,
}

/// Why a statement was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refused {
    /// The stable code.
    pub code: RefusalCode,
    /// What to do about it.
    pub cure: String,
    /// The field it is about, as a dotted path.
    #[serde(deserialize_with = "present")]
    pub field: Option<String>,
    /// What was expected and what was found.
    pub message: String,
}

/// The run is over, or stopped for now if its phase is not a final one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// Where the run stands now.
    pub phase: Phase,
}

impl FromDesk {
    /// Returns the line in these bytes, without the line feed.
    pub fn parse(bytes: &[u8]) -> Result<Self, LineError> {
        let text = canonical::check(bytes, &Limits::LINE)?;
        Ok(match canonical::from_checked(text).map_err(|error| explain(text, error))? {
            Wire::Hello(hello) if hello.protocol != PROTOCOL => {
                return Err(LineError::Protocol { found: hello.protocol });
            }
            Wire::Hello(hello) => Self::Hello(hello),
            Wire::Event(line) => Self::Event(Box::new(line.try_into()?)),
            Wire::Artifact(line) => Self::Artifact(line.try_into()?),
            Wire::Turn(turn) => Self::Turn(turn),
            Wire::Recorded(position) => Self::Recorded(position),
            Wire::Refused(refused) => Self::Refused(refused),
            Wire::End(end) => Self::End(end),
        })
    }

    /// Returns the bytes of the line, with the line feed.
    pub fn to_line(&self) -> Result<Vec<u8>, LineError> {
        match self {
            Self::Hello(hello) => to_line(&Said::Hello(hello)),
            Self::Event(shown) => shown.to_line(),
            Self::Artifact(shown) => shown.to_line(),
            Self::Turn(turn) => to_line(&Said::Turn(turn)),
            Self::Recorded(position) => to_line(&Said::Recorded(position)),
            Self::Refused(refused) => to_line(&Said::Refused(refused)),
            Self::End(end) => to_line(&Said::End(end)),
        }
    }

    /// Returns the name of the kind of line.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Hello(_) => "hello",
            Self::Event(_) => "event",
            Self::Artifact(_) => "artifact",
            Self::Turn(_) => "turn",
            Self::Recorded(_) => "recorded",
            Self::Refused(_) => "refused",
            Self::End(_) => "end",
        }
    }
}

impl ShownEvent {
    /// Returns an event with its content, where that is at hand; what is not there and should be is missing.
    pub fn new(event: Event, opening: Option<Opening>) -> Self {
        let disclosure = match (&opening, event.envelope().content) {
            (Some(_), _) => Disclosure::Disclosed,
            (None, Some(_)) => Disclosure::Missing,
            (None, None) => Disclosure::Absent,
        };
        Self { event, opening, disclosure }
    }

    /// Returns the content, if it is disclosed and this version knows the type of the event.
    pub fn content(&self) -> Result<Option<Content>, LineError> {
        match (&self.opening, self.event.said().map(|said| said.kind)) {
            (Some(opening), Ok(TypeName::Known(kind))) => Ok(Some(Content::parse(*kind, &opening.bytes)?)),
            _ => Ok(None),
        }
    }

    /// Returns the bytes of the line, with the line feed.
    pub fn to_line(&self) -> Result<Vec<u8>, LineError> {
        Ok(ExportWriter::event_line(&self.event, self.opening.as_ref(), self.disclosure)?)
    }
}

impl ShownArtifact {
    /// Returns an artifact with its bytes disclosed.
    pub const fn new(event: Sequence, artifact: Artifact) -> Self {
        Self { event, artifact: Some(artifact), disclosure: Disclosure::Disclosed }
    }

    /// Returns the bytes of the line, with the line feed.
    pub fn to_line(&self) -> Result<Vec<u8>, LineError> {
        let bytes = self.artifact.as_ref().map(|artifact| (artifact.bytes.as_slice(), &artifact.salt));
        Ok(ExportWriter::artifact_line(self.event, bytes, self.disclosure)?)
    }
}

impl TryFrom<EventLine<'_>> for ShownEvent {
    type Error = LineError;

    fn try_from(line: EventLine<'_>) -> Result<Self, LineError> {
        let content = line.content()?.map(<[u8]>::to_vec);
        let opening = both("content", content, line.salt)?.map(|(bytes, salt)| Opening { bytes, salt });
        check_disclosure("content", line.disclosure, opening.is_some())?;
        Ok(Self { event: line.event()?, opening, disclosure: line.disclosure })
    }
}

impl TryFrom<ArtifactLine<'_>> for ShownArtifact {
    type Error = LineError;

    fn try_from(line: ArtifactLine<'_>) -> Result<Self, LineError> {
        let artifact = both("bytes", line.bytes()?, line.salt)?;
        let artifact = artifact.map(|(bytes, salt)| Artifact { bytes, salt });
        check_disclosure("bytes", line.disclosure, artifact.is_some())?;
        Ok(Self { event: line.event, artifact, disclosure: line.disclosure })
    }
}

fn check_disclosure(what: &'static str, disclosure: Disclosure, there: bool) -> Result<(), LineError> {
    if (disclosure == Disclosure::Disclosed) == there { Ok(()) } else { Err(LineError::Disclosure { what }) }
}

/// A desk of a newer protocol says so in its first line, even where this version cannot read the rest of it.
fn explain(text: &str, error: canonical::ReadError) -> LineError {
    #[derive(Deserialize)]
    struct AnyHello {
        hello: AnyProtocol,
    }
    #[derive(Deserialize)]
    struct AnyProtocol {
        protocol: u64,
    }
    match canonical::from_checked::<AnyHello>(text) {
        Ok(AnyHello { hello: AnyProtocol { protocol } }) if protocol != PROTOCOL => {
            LineError::Protocol { found: protocol }
        }
        _ => LineError::Read(error),
    }
}

/// A line as it is read.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Wire<'a> {
    Hello(Hello),
    #[serde(borrow)]
    Event(EventLine<'a>),
    #[serde(borrow)]
    Artifact(ArtifactLine<'a>),
    Turn(Turn),
    Recorded(Position),
    Refused(Refused),
    End(End),
}

/// A line as it is written, where no line of an export says the same.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Said<'a> {
    Hello(&'a Hello),
    Turn(&'a Turn),
    Recorded(&'a Position),
    Refused(&'a Refused),
    End(&'a End),
}
