//! Words that fit: the content of every event type that authors send, and values in range.

use demur_core::{
    hash::sha256,
    limit::{List, Text, Whole},
    random::Seeded,
    time::Timestamp,
};
use demur_engine::command::Command;
use demur_ledger::{
    content::{
        ArtifactContent, CheckContent, CheckPlace, CheckValue, ClaimContent, Comparison, ErasureContent,
        ExecutionContent, ExecutionResultContent, FailureContent, FinalClaim, FinalStatementContent,
        IntentContent, LabelContent, NameContent, NoteContent, ProposalContent, ProposalReviewContent,
        RationaleContent, ReasonContent, SessionContent, VerificationContent,
    },
    event_type::{Content, Facts},
    facts::{Assurance, Attribution, Door, Root, VerificationStatus},
    name::PersonId,
};

use crate::asking;

/// The size that [`fitting`] names for every artifact.
pub(crate) const SIZE: usize = 5;
/// The input that [`fitting`] names for every intent.
pub(crate) const INPUT: &[u8; SIZE] = b"aaaaa";

/// Returns a number in range.
pub(crate) fn whole<const MIN: u64, const MAX: u64>(number: u64) -> Whole<MIN, MAX> {
    Whole::try_from(number).unwrap()
}

/// Returns a text in range.
pub(crate) fn text<const MIN: usize, const MAX: usize>(text: &str) -> Text<MIN, MAX> {
    Text::try_from(text).unwrap()
}

/// Returns a list in range.
pub(crate) fn list<T, const MIN: usize, const MAX: usize>(items: impl Into<Vec<T>>) -> List<T, MIN, MAX> {
    List::try_from(items.into()).unwrap()
}

/// Returns a reason.
pub(crate) fn reason() -> ReasonContent {
    ReasonContent { reason: text("because") }
}

/// Returns the command of an operator at this machine that ends a run.
pub(crate) fn abort() -> Command {
    Command::Abort(Box::new(way()), reason())
}

/// Returns the way of whoever sits at this machine.
pub(crate) fn way() -> Attribution {
    Attribution::new(Door::Socket, Root::SameUser)
}

/// Returns a way that is as sure as this act claims.
pub(crate) fn way_of(facts: &Facts) -> Attribution {
    let claimed = match facts {
        Facts::QuestionAnswered(facts) => facts.assurance,
        Facts::AnswerSuperseded(facts) => facts.answer.assurance,
        Facts::GapAccepted(facts) => facts.assurance,
        _ => return way(),
    };
    if claimed == Assurance::SignedIn { signed_in(Root::Link) } else { way() }
}

/// Returns the way of somebody who signed in.
pub(crate) fn signed_in(root: Root) -> Attribution {
    let person = PersonId::new(Timestamp::MIN, &mut Seeded::from_number(1));
    Attribution {
        person: Some(person),
        session: Some(sha256(b"a session")),
        ..Attribution::new(Door::Page, root)
    }
}

/// Returns a note.
pub(crate) fn note() -> NoteContent {
    NoteContent { note: text("noted") }
}

fn label() -> LabelContent {
    LabelContent { label: text("a telephone") }
}

/// Returns content that fits these facts.
pub(crate) fn fitting(facts: &Facts) -> Option<Content> {
    Some(match facts {
        Facts::KeyRegistered(_) => Content::KeyRegistered(NameContent { name: text("somebody") }),
        Facts::ClientBound(_) => Content::ClientBound(NameContent { name: text("a client") }),
        Facts::TokenMade(_) => Content::TokenMade(NameContent { name: text("a client") }),
        Facts::PersonAdded(_) => Content::PersonAdded(NameContent { name: text("Ada") }),
        Facts::PersonChanged(_) => Content::PersonChanged(NameContent { name: text("Ada Lovelace") }),
        Facts::PasskeyRooted(_) => Content::PasskeyRooted(label()),
        Facts::PasskeyAdded(_) => Content::PasskeyAdded(label()),
        Facts::PasskeyReset(_) => Content::PasskeyReset(label()),
        Facts::ContentErased(_) => Content::ContentErased(ErasureContent { why: text("asked to") }),
        Facts::KeyRevoked(_) => Content::KeyRevoked(note()),
        Facts::StoreRestored(_) => Content::StoreRestored(note()),
        Facts::RecoveryRecorded(_) => Content::RecoveryRecorded(note()),
        Facts::SessionInitialized(_) => Content::SessionInitialized(SessionContent {
            constraints: list([]),
            objective: text("count the words"),
            task: text("count"),
        }),
        Facts::ProposalCreated(_) => Content::ProposalCreated(ProposalContent {
            assumptions: list([text("the text is there")]),
            expected_evidence: list([text("the count")]),
            objective: text("count the words"),
            required_tools: list([text("wc")]),
        }),
        Facts::ProposalReviewed(facts) => Content::ProposalReviewed(ProposalReviewContent {
            conditions: list(vec![text("read only"); usize::try_from(facts.conditions.as_u64()).unwrap()]),
            rationale: text("fine"),
        }),
        Facts::CheckStated(_) => Content::CheckStated(CheckContent {
            at: CheckPlace::Size,
            is: Comparison::Eq,
            value: CheckValue::Number(SIZE.into()),
        }),
        Facts::VerificationRunCompleted(facts) => Content::VerificationRunCompleted(VerificationContent {
            report: sha256(&reporting(facts.status)),
            summary: text("passed"),
        }),
        Facts::SessionAborted(_) => Content::SessionAborted(reason()),
        other => return of_work(other),
    })
}

/// Returns the shortest report that bears this status.
pub(crate) fn reporting(status: VerificationStatus) -> Vec<u8> {
    format!(r#"{{"status":"{}"}}"#, status.as_str()).into_bytes()
}

fn of_work(facts: &Facts) -> Option<Content> {
    let claim = || ClaimContent { confidence: whole(90), text: text("five words") };
    Some(match facts {
        Facts::ToolIntentSigned(_) => Content::ToolIntentSigned(IntentContent {
            input_hash: sha256(INPUT),
            justification: text("to count"),
            tool: text("wc"),
        }),
        Facts::ToolIntentReviewed(_) => {
            Content::ToolIntentReviewed(RationaleContent { rationale: text("harmless") })
        }
        Facts::ToolExecutionStarted(_) => {
            Content::ToolExecutionStarted(ExecutionContent { limits: list([text("one second")]) })
        }
        Facts::ToolExecutionCompleted(_) => Content::ToolExecutionCompleted(ExecutionResultContent {
            duration_ms: whole(3),
            exit_status: Some(whole(0)),
            note: None,
        }),
        Facts::ToolExecutionFailed(_) => Content::ToolExecutionFailed(FailureContent {
            duration_ms: whole(3),
            exit_status: None,
            message: text("no such file"),
        }),
        Facts::ArtifactRecorded(_) => Content::ArtifactRecorded(ArtifactContent {
            media_type: text("text/plain"),
            name: text("words"),
            size: whole(SIZE as u64),
        }),
        Facts::ClaimIssued(_) => Content::ClaimIssued(claim()),
        Facts::ClaimRevised(_) => Content::ClaimRevised(claim()),
        Facts::ClaimChallenged(_) => Content::ClaimChallenged(reason()),
        Facts::ClaimResolved(_) => Content::ClaimResolved(reason()),
        Facts::ClaimRetracted(_) => Content::ClaimRetracted(reason()),
        Facts::FinalStatementSigned(facts) => Content::FinalStatementSigned(FinalStatementContent {
            claims: list(
                facts
                    .claims
                    .iter()
                    .map(|claim| FinalClaim { claim: *claim, text: text("five words") })
                    .collect::<Vec<_>>(),
            ),
            verdict: text("done"),
        }),
        other => return asking::fitting(other),
    })
}
