//! What is demanded of the attribution of an act (`docs/format.md` 5): it is there exactly where the desk speaks for a person, no
//! assurance is above what the credential rests on, and a program that asked counts for little when it answers.

mod sign_in;
mod words;

pub use words::{ClientNames, assurance_of, assurance_word, came, how_known};

use demur_core::time::Timestamp;

use crate::{
    confirmation::{Confirmation, ConfirmationEffect, Confirmations, confirmation_effect},
    envelope::Event,
    event_type::Facts,
    facts::{Assurance, Attribution, TokenScope},
    meaning::MeaningError,
    name::{PrincipalId, Sequence},
    question::{Questions, subject},
    registry::{Registry, TokenRecord},
    role::Role,
    state::Step,
    trace_state::TraceState,
};

/// Returns the demands that an act breaks by what it says of its way, as far as its trace tells.
pub(crate) fn judge(
    step: &Step<'_>,
    questions: &Questions,
    confirmations: &Confirmations,
) -> Vec<MeaningError> {
    let Some(attribution) = step.said.facts.attribution() else { return Vec::new() };
    let is_recorded = !step.proof.has_key() && matches!(step.said.role, Role::Person | Role::Operator);
    let attribution = match (attribution, is_recorded) {
        (Some(attribution), true) => attribution,
        (None, false) => return Vec::new(),
        (Some(_), false) | (None, true) => return vec![MeaningError::AttributionPresence { is_recorded }],
    };
    let mut broken = Vec::new();
    let claimed = claimed(step.said.facts);
    if let Some(claimed) = claimed.filter(|claimed| *claimed > attribution.root.bears()) {
        broken.push(MeaningError::AssuranceOverstated { claimed, root: attribution.root });
    }
    let least = match about(step.said.facts) {
        Some(About::Question(at)) => questions.find(at).map(|asked| asked.facts().assurance),
        Some(About::Confirmation(at)) => confirmations.find(at).map(|asked| asked.facts().assurance),
        None => None,
    };
    let is_more = |assurance: Option<Assurance>| assurance.is_some_and(|found| found > Assurance::Relayed);
    // A program never confirms its own operation, whatever its form says; to end its own work it needs nobody's leave.
    let never = matches!(about(step.said.facts), Some(About::Confirmation(_)));
    let replies = about(step.said.facts).is_some();
    if attribution.own && replies && (never || is_more(claimed) || is_more(least) || !attribution.is_form()) {
        broken.push(MeaningError::OwnClient);
    }
    broken
}

/// Checks what an act, recorded at this position of the registry and this time, says of its way: its token, the sign-in it rests on,
/// and whether it came through the program that asked.
pub fn check_way(
    trace: &TraceState,
    registry: &Registry,
    (pinned, time): (Sequence, Timestamp),
    facts: &Facts,
) -> Result<(), MeaningError> {
    check_token(trace, registry, (pinned, time), facts)?;
    sign_in::check_sign_in(registry, pinned, facts)?;
    check_own(trace, registry, pinned, facts)
}

/// Checks that the token of an act was good for it when it was recorded.
fn check_token(
    trace: &TraceState,
    registry: &Registry,
    (pinned, time): (Sequence, Timestamp),
    facts: &Facts,
) -> Result<(), MeaningError> {
    let Some(way) = facts.attribution().flatten() else { return Ok(()) };
    let Some(token) = way.token else { return Ok(()) };
    let unfit = |expected| Err(MeaningError::TokenUnfit { token, expected });
    let Some(record) = registry.token_at(token, pinned) else {
        return unfit("a token that was made and had not been taken back");
    };
    if record.expires.is_some_and(|expires| time >= expires) {
        return unfit("a token that had not expired");
    }
    if way.client != Some(record.client) {
        return unfit("the client that the token was made for");
    }
    // Who takes part may end it without passing on anybody's word.
    let ends = matches!(facts, Facts::SessionAborted(_) | Facts::PlanWithdrawn(_));
    if ends {
        return Ok(());
    }
    if !record.scopes.contains(&TokenScope::Relay) {
        return unfit("a token that may pass on what people say");
    }
    match &record.people {
        Some(people) if !way.person.is_some_and(|person| people.contains(&person)) => {
            unfit("somebody whose words the token may pass on")
        }
        None if !is_put_to(trace, registry, pinned, record, facts) => {
            unfit("a token that names the people whose words it passes on, where another program asked")
        }
        Some(_) | None => Ok(()),
    }
}

/// Returns whether an act is about what the program of a token asked, or what was put to the key that speaks for the token.
fn is_put_to(
    trace: &TraceState,
    registry: &Registry,
    pinned: Sequence,
    token: &TokenRecord,
    facts: &Facts,
) -> bool {
    let answerers = match about(facts) {
        Some(About::Question(at)) => {
            trace.questions().and_then(|all| all.find(at)).map(|asked| &asked.facts().answerers)
        }
        Some(About::Confirmation(at)) => {
            trace.confirmations().and_then(|all| all.find(at)).map(|asked| &asked.facts().answerers)
        }
        None => None,
    };
    let named = answerers.and_then(|answerers| answerers.principals.as_ref()).zip(token.principal);
    let is_clients = |asker| registry.clients_at(asker, pinned).any(|client| client == token.client);
    named.is_some_and(|(principals, own)| principals.contains(&own))
        || askers(trace, registry, facts).into_iter().any(is_clients)
}

/// Checks that an act through the program that asked says so. Only the registry tells whose program that is, as it was when
/// the act was recorded.
fn check_own(
    trace: &TraceState,
    registry: &Registry,
    pinned: Sequence,
    facts: &Facts,
) -> Result<(), MeaningError> {
    let attribution = facts.attribution().flatten();
    let Some(client) = attribution.filter(|found| !found.own).and_then(|found| found.client) else {
        return Ok(());
    };
    let is_own = |asker| registry.clients_at(asker, pinned).any(|own| own == client);
    if askers(trace, registry, facts).into_iter().any(is_own) {
        Err(MeaningError::OwnClientUntold { client })
    } else {
        Ok(())
    }
}

/// Returns whether a recorded act, by what it says, came through the program that asked.
pub fn is_own(facts: &Facts) -> bool {
    facts.attribution().flatten().is_some_and(|way| way.own)
}

/// Says of an act through the program that asked that it is that program's own.
pub fn tell_own(trace: &TraceState, registry: &Registry, facts: &mut Facts) {
    let pinned = registry.head().sequence;
    if check_own(trace, registry, pinned, facts).is_ok() {
        return;
    }
    if let Some(attribution) = facts.attribution().flatten().cloned() {
        facts.attribute(Attribution { own: true, ..attribution });
    }
}

/// Returns whoever a question is answered for: its asker, or where the rules ask, the agent whose plan it is.
pub fn asker(trace: &TraceState, registry: &Registry, question: Sequence) -> Option<PrincipalId> {
    let asker = trace.questions()?.find(question)?.asker();
    if asker == registry.desk() { trace.work()?.agent() } else { Some(asker) }
}

/// Returns whose own word an act may be: that of the asker of a question, of everybody whose operation a confirmation may be about,
/// of whoever takes part in what is ended.
fn askers(trace: &TraceState, registry: &Registry, facts: &Facts) -> Vec<PrincipalId> {
    match about(facts) {
        Some(About::Question(at)) => asker(trace, registry, at).into_iter().collect(),
        Some(About::Confirmation(at)) => {
            let wanted = trace.confirmations().and_then(|all| all.find(at));
            let asker = wanted.map(Confirmation::asker).filter(|asker| *asker != registry.desk());
            asker.into_iter().chain(trace.acting()).collect()
        }
        None => match facts {
            // Whoever takes part may end it, and then it is no word of somebody else.
            Facts::PlanWithdrawn(_) | Facts::SessionAborted(_) => trace.taking_part(),
            _ => Vec::new(),
        },
    }
}

/// What an act replies to.
enum About {
    Question(Sequence),
    Confirmation(Sequence),
}

fn about(facts: &Facts) -> Option<About> {
    match confirmation_effect(facts) {
        Some(ConfirmationEffect::Ended(at, _)) => Some(About::Confirmation(at)),
        Some(ConfirmationEffect::Asked(_) | ConfirmationEffect::Spent(_)) => None,
        None => subject(facts).map(About::Question),
    }
}

impl TraceState {
    /// Checks what a recorded event says of its way by the registry that it pins.
    pub(crate) fn check_way(&self, registry: &Registry, event: &Event) -> Result<(), MeaningError> {
        let pinned = event.envelope().registry.map_or(Sequence::FIRST, |pin| pin.sequence);
        let time = event.envelope().time;
        event.said().map_or(Ok(()), |said| check_way(self, registry, (pinned, time), said.facts))
    }
}

/// Returns the assurance that an act claims, if it claims one.
fn claimed(facts: &Facts) -> Option<Assurance> {
    match facts {
        Facts::QuestionAnswered(facts) => Some(facts.assurance),
        Facts::AnswerSuperseded(facts) => Some(facts.answer.assurance),
        Facts::GapAccepted(facts) => Some(facts.assurance),
        Facts::ConfirmationGiven(facts) => Some(facts.assurance),
        Facts::ConfirmationRefused(facts) => Some(facts.assurance),
        _ => None,
    }
}
