//! What is demanded of the attribution of an act (`docs/format.md` 5): it is there exactly where the desk speaks for a person, no
//! assurance is above what the credential rests on, and a program that asked counts for little when it answers.

use crate::{
    envelope::Event,
    event_type::Facts,
    facts::{Assurance, Attribution, Root},
    meaning::MeaningError,
    name::{PrincipalId, Sequence},
    question::{Questions, subject},
    registry::Registry,
    role::Role,
    state::Step,
    trace_state::TraceState,
};

/// Returns the demands that an act breaks by what it says of its way, as far as its trace tells.
pub(crate) fn judge(step: &Step<'_>, questions: &Questions) -> Vec<MeaningError> {
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
    let least =
        subject(step.said.facts).and_then(|at| questions.find(at)).map(|asked| asked.facts().assurance);
    let is_more = |assurance: Option<Assurance>| assurance.is_some_and(|found| found > Assurance::Relayed);
    if attribution.own && (is_more(claimed) || is_more(least) || attribution.root != Root::Client) {
        broken.push(MeaningError::OwnClient);
    }
    broken
}

/// Checks that an act through the program that asked says so. Only the registry tells whose program that is, as it was when
/// the act was recorded.
pub fn check_own(
    trace: &TraceState,
    registry: &Registry,
    pinned: Sequence,
    facts: &Facts,
) -> Result<(), MeaningError> {
    let attribution = facts.attribution().flatten();
    let Some(client) = attribution.filter(|found| !found.own).and_then(|found| found.client) else {
        return Ok(());
    };
    let asker = subject(facts).and_then(|question| asker(trace, registry, question));
    let is_own = |asker| registry.clients_at(asker, pinned).any(|own| own == client);
    if asker.is_some_and(is_own) { Err(MeaningError::OwnClientUntold { client }) } else { Ok(()) }
}

/// Says of an act through the program that asked that it is that program's own.
pub fn tell_own(trace: &TraceState, registry: &Registry, facts: &mut Facts) {
    let pinned = registry.head().sequence;
    if check_own(trace, registry, pinned, facts).is_ok() {
        return;
    }
    if let Some(Some(attribution)) = facts.attribution().map(|found| found.cloned()) {
        facts.attribute(Attribution { own: true, ..attribution });
    }
}

/// Returns whoever a question is answered for: its asker, or where the rules ask, the agent whose plan it is.
pub fn asker(trace: &TraceState, registry: &Registry, question: Sequence) -> Option<PrincipalId> {
    let asker = trace.questions()?.find(question)?.asker();
    if asker == registry.desk() { trace.work()?.agent() } else { Some(asker) }
}

/// Returns the position of the registry that an event pins.
pub(crate) fn pinned(event: &Event) -> Sequence {
    event.envelope().registry.map_or(Sequence::FIRST, |pin| pin.sequence)
}

/// Returns the assurance that an act claims, if it claims one.
fn claimed(facts: &Facts) -> Option<Assurance> {
    match facts {
        Facts::QuestionAnswered(facts) => Some(facts.assurance),
        Facts::AnswerSuperseded(facts) => Some(facts.answer.assurance),
        Facts::GapAccepted(facts) => Some(facts.assurance),
        _ => None,
    }
}
