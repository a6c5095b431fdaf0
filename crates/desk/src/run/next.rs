//! Who can do what next in a run, as far as its record tells. A hint, not a rule: the ledger decides.

use std::collections::BTreeSet;

use demur_api::run::RunAct;
use demur_ledger::{
    facts::{IntentDecision, Policy},
    name::Sequence,
    role::Role,
    state::Phase,
};
use demur_run::history::{History, Intended, Proposed};

/// What can be done, by role.
pub(super) type Acts = Vec<(Role, RunAct, Vec<Sequence>)>;

/// Returns what can be done; whoever has to act first comes first. `gone` is what something else has taken the place of.
pub(super) fn next(history: &History, policy: Option<&Policy>, gone: &BTreeSet<Sequence>) -> Acts {
    let look = Look { history, policy, gone };
    let mut acts = Vec::new();
    match history.state().phase() {
        Phase::Initialized | Phase::Planning => acts.push((Role::Planner, RunAct::Propose, look.refused())),
        Phase::Reviewing => acts.push((Role::Critic, RunAct::Review, look.pending())),
        Phase::Executing => look.executing(&mut acts),
        Phase::Claiming => look.claiming(&mut acts),
        Phase::Auditing => acts.push((Role::Auditor, RunAct::Audit, Vec::new())),
        Phase::Completed | Phase::Failed | Phase::Aborted => {}
    }
    acts
}

struct Look<'a> {
    history: &'a History,
    policy: Option<&'a Policy>,
    gone: &'a BTreeSet<Sequence>,
}

impl Look<'_> {
    fn executing(&self, acts: &mut Acts) {
        let mut add = |role, act, events: Vec<Sequence>| {
            if !events.is_empty() {
                acts.push((role, act, events));
            }
        };
        let mut reviewed = self.pending();
        reviewed.extend(self.intents(|intent| {
            intent.review.is_none() && intent.started.is_none() && self.needs_review(intent)
        }));
        add(Role::Critic, RunAct::Review, reviewed);
        let unshown: Vec<_> = self.history.unshown().map(|(at, _)| at).collect();
        add(Role::Critic, RunAct::Judge, unshown.clone());
        let ready = |intent: &Intended| {
            let approved = intent.review == Some(IntentDecision::Approved);
            intent.started.is_none() && (approved || (intent.review.is_none() && !self.needs_review(intent)))
        };
        let mut ready = self.intents(ready);
        ready.retain(|at| !unshown.contains(at));
        add(Role::Executor, RunAct::Start, ready);
        let open = self.history.intents.values().filter(|intent| intent.ended.is_none());
        let open: Vec<_> = open.filter_map(|intent| intent.started).collect();
        let running = !open.is_empty();
        add(Role::Executor, RunAct::Report, open);
        add(Role::Executor, RunAct::Intend, self.approved());
        if running {
            return;
        }
        if self.policy.is_some_and(|policy| policy.fallback) {
            let failed =
                |intent: &Intended| intent.ended.as_ref().is_some_and(|ended| ended.failure.is_some());
            add(Role::Planner, RunAct::Propose, self.intents(failed));
        }
        if self.history.intents.values().any(|intent| intent.ended.is_some()) {
            acts.push((Role::Executor, RunAct::Claim, Vec::new()));
        }
    }

    fn claiming(&self, acts: &mut Acts) {
        let (history, state) = (self.history, self.history.state());
        let disputed: Vec<_> = state.claims().filter(|(_, disputed)| *disputed).map(|(at, _)| at).collect();
        let others: Vec<_> = state.claims().filter(|(_, disputed)| !disputed).map(|(at, _)| at).collect();
        if !others.is_empty() {
            acts.push((Role::Critic, RunAct::Challenge, others));
        }
        if !disputed.is_empty() {
            acts.push((Role::Critic, RunAct::Resolve, history.challenges.keys().copied().collect()));
            acts.push((Role::Executor, RunAct::Intend, self.approved()));
        }
        acts.push((Role::Executor, RunAct::Claim, disputed));
        if !history.claims.is_empty() {
            acts.push((Role::Executor, RunAct::Conclude, Vec::new()));
        }
    }

    fn pending(&self) -> Vec<Sequence> {
        self.proposals(|proposed| proposed.review.is_none())
    }

    fn approved(&self) -> Vec<Sequence> {
        self.proposals(|proposed| proposed.review.is_some_and(|(decision, _)| decision.approves()))
    }

    /// Returns the refused proposals, of which one can be revised.
    fn refused(&self) -> Vec<Sequence> {
        self.proposals(Proposed::is_refused)
    }

    fn proposals(&self, wanted: impl Fn(&Proposed) -> bool) -> Vec<Sequence> {
        let wanted = |(at, proposed): &(&Sequence, &Proposed)| !self.gone.contains(at) && wanted(proposed);
        self.history.proposals.iter().filter(wanted).map(|(at, _)| *at).collect()
    }

    fn intents(&self, wanted: impl Fn(&Intended) -> bool) -> Vec<Sequence> {
        let wanted = |(at, intent): &(&Sequence, &Intended)| !self.gone.contains(at) && wanted(intent);
        self.history.intents.iter().filter(wanted).map(|(at, _)| *at).collect()
    }

    fn needs_review(&self, intent: &Intended) -> bool {
        self.policy.is_none_or(|policy| intent.risk >= policy.approval_from)
    }
}
