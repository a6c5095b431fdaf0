//! The report: scope and verdict first, then what it does not prove, then what is proven by a key, what is the
//! desk's word, and every finding with cause and cure. Same file, same bytes: timings stand elsewhere.

mod claims;
mod conditions;
mod confirmations;
mod html;
mod operations;
mod passkeys;
mod questions;
mod rested;
mod roles;
mod text;
mod words;

use std::collections::BTreeMap;

use demur_core::{hash::Digest, key::Fingerprint, quote::quoted, time::Timestamp, visible::visible};
use schemars::JsonSchema;
use serde::Serialize;

pub use confirmations::ConfirmationReport;
pub use passkeys::PasskeyReport;
pub(super) use passkeys::standing as passkey_standing;
pub use questions::QuestionReport;
pub use roles::RoleReport;

use self::passkeys::Acquaintance;
use super::{
    Check, ClaimReport, Code, ConditionReport, ErasureReport, Finding, FindingSeverity, OperationReport,
    Options, PinReport, Section, finding::Findings, opening::Names, walk::Walk,
};
use crate::{
    client::distinct_words,
    export::Header,
    facts::VerificationProfile,
    name::{Position, PrincipalId, Sequence, StoreId, TraceId},
    question::RestedEvent,
    registry::{KeyOrigin, KeyRecord, Registry},
    role::Role,
    trace_state::TraceState,
};

/// What a verification found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Report {
    /// What was verified, and how far.
    pub scope: Scope,
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict in words.
    pub words: String,
    /// What the verdict does not mean.
    pub not_proven: Vec<String>,
    /// The first event that does not hold.
    pub first_bad: Option<Sequence>,
    /// The last event before it.
    pub last_trusted: Option<Sequence>,
    /// What ties the file to the world outside it.
    pub anchors: Anchors,
    /// Every check with how many findings it has.
    pub checks: Vec<CheckReport>,
    /// The keys that spoke.
    pub proven_by_key: Vec<KeyReport>,
    /// The passkeys that spoke.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passkeys: Vec<PasskeyReport>,
    /// What only the desk says.
    pub desk_word: DeskWord,
    /// What the policy of a run says of tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Whether the tools of a run were held to everything, in the words of whoever ran them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// Who held which role of a run, and for which client.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<RoleReport>,
    /// The claims in play at the end.
    pub claims: Vec<ClaimReport>,
    /// The conditions of approvals that were judged, in the order of their intents; the first 256.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ConditionReport>,
    /// How many conditions were judged.
    #[serde(skip_serializing_if = "is_none")]
    pub conditions_total: u64,
    /// The questions, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<QuestionReport>,
    /// The operations that began, in order; the first 256.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationReport>,
    /// How many operations began.
    #[serde(skip_serializing_if = "is_none")]
    pub operations_total: u64,
    /// The confirmations, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub confirmations: Vec<ConfirmationReport>,
    /// What was done on answers that were replaced or taken back later, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rested: Vec<RestedEvent>,
    /// What was erased, in order; the first 256 of the registry and of the trace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub erased: Vec<ErasureReport>,
    /// The findings, by place; the first 256.
    pub findings: Vec<Finding>,
    /// How many findings there are.
    pub findings_total: u64,
    #[serde(skip)]
    hashes: Vec<Digest>,
    #[serde(skip)]
    epochs: Vec<(Sequence, u64)>,
    #[serde(skip)]
    registry: Option<Registry>,
}

/// What was verified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "VerificationScope")]
pub struct Scope {
    /// The format of the file.
    pub format: u64,
    /// The program that says it wrote the file.
    pub software: String,
    /// The store.
    pub store: StoreId,
    /// The trace.
    pub trace: TraceId,
    /// How many events of the trace are in the file.
    pub events: u64,
    /// How many events of the registry are in the file.
    pub registry_events: u64,
    /// The last event.
    pub through: Option<Position>,
    /// When the desk says it made the export.
    pub exported: Option<Timestamp>,
    /// Where the run stands, if it could be replayed.
    pub state: Option<&'static str>,
    /// How strictly it was judged.
    pub profile: VerificationProfile,
    /// Whether signatures were checked.
    pub signatures: bool,
}

/// The verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every check passed.
    Pass,
    /// Nothing failed, something is worth reading.
    PassWithWarnings,
    /// Nothing failed, but something that matters could not be checked.
    NotEstablished,
    /// Something does not hold.
    Fail,
}

/// What ties the file to the world outside it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Anchors {
    /// Receipts that agree with the file.
    pub receipts: u64,
    /// Known heads that the file holds.
    pub heads: u64,
    /// Pinned keys that the registry holds, and what each anchors.
    pub pins: Vec<PinReport>,
}

impl Anchors {
    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.receipts == 0 && self.heads == 0 && self.pins.iter().all(|pin| pin.through.is_none())
    }
}

/// One check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckReport {
    /// Which.
    pub check: Check,
    /// Whether it was made: it needs the registry to hold, and something to check.
    pub made: bool,
    /// How many findings it has.
    pub findings: u64,
    /// The worst of them.
    pub worst: Option<FindingSeverity>,
}

/// A key that spoke in the trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KeyReport {
    /// The key: proven.
    pub fingerprint: Fingerprint,
    /// Who controls it, as the registry has it.
    pub principal: PrincipalId,
    /// What it may speak as.
    pub roles: Vec<Role>,
    /// How many statements it signed.
    pub statements: u64,
    /// The reader's own name for it, if pinned.
    pub pinned_as: Option<String>,
    /// What the desk calls its holder: a claim.
    pub desk_says: Option<String>,
    /// Whether its name was erased or withheld, so that nobody says what its holder is called.
    pub name_hidden: bool,
    /// How it came into the registry.
    pub origin: &'static str,
    /// What became of it.
    pub standing: &'static str,
}

/// What only the desk says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeskWord {
    /// Events without a key, by type.
    pub records: BTreeMap<String, u64>,
    /// The rest, in words.
    pub besides: Vec<&'static str>,
}

/// The histories in a file, for whoever holds another one against it.
#[derive(Default)]
struct Histories {
    hashes: Vec<Digest>,
    epochs: Vec<(Sequence, u64)>,
    registry: Option<Registry>,
}

/// What else there was to check the file against.
#[derive(Clone, Copy, Default)]
struct Newest {
    inclusions: bool,
    /// The last event of the registry that the reader gave.
    registry: Option<Sequence>,
}

/// What a replayed trace tells.
#[derive(Default)]
struct Told {
    proven_by_key: Vec<KeyReport>,
    passkeys: Vec<PasskeyReport>,
    desk_word: DeskWord,
    policy: Option<String>,
    sandbox: Option<String>,
    roles: Vec<RoleReport>,
    claims: Vec<ClaimReport>,
    conditions: Vec<ConditionReport>,
    conditions_total: u64,
    questions: Vec<QuestionReport>,
    operations: Vec<OperationReport>,
    operations_total: u64,
    confirmations: Vec<ConfirmationReport>,
    rested: Vec<RestedEvent>,
    erased: Vec<ErasureReport>,
}

impl Report {
    /// Returns the report of a file whose registry does not hold: nothing after it could be checked.
    pub(super) fn without_registry(header: &Header, findings: Findings, options: &Options) -> Self {
        let scope = Scope {
            format: header.format,
            software: header.software.to_string(),
            store: header.store,
            trace: header.trace,
            events: 0,
            registry_events: 0,
            through: None,
            exported: None,
            state: None,
            profile: options.profile,
            signatures: options.signatures,
        };
        let newest = Newest::default();
        Self::assemble(scope, findings, Anchors::default(), newest, Told::default(), Histories::default())
    }

    pub(super) fn new(
        walk: Walk<'_>,
        header: &Header,
        findings: Findings,
        anchors: Anchors,
        names: &Names,
        options: &Options,
    ) -> Self {
        let registry_events = walk.registry.head().sequence.next().number();
        let scope = Scope {
            format: header.format,
            software: header.software.to_string(),
            store: header.store,
            trace: header.trace,
            events: walk.last().map_or(0, |last| last.sequence.next().number()),
            registry_events,
            through: walk.last(),
            exported: walk.checkpoint.as_ref().map(|(_, checkpoint)| checkpoint.document.time),
            state: walk.state.as_ref().map(TraceState::as_str),
            profile: options.profile,
            signatures: options.signatures,
        };
        let proven_by_key = keys(&walk, names, options);
        let known = Acquaintance { registry: walk.registry, names, options };
        let passkeys = known.passkeys(&walk);
        let inclusions = walk.has_inclusions();
        let roles = roles::reports(&walk, names);
        let desk_word = DeskWord { records: walk.records, besides: words::DESK_WORD.to_vec() };
        let questions = walk.state.as_ref().map(|state| questions::reports(state, &walk.acts, &known));
        let questions = questions.unwrap_or_default();
        let asked = walk.state.as_ref().and_then(TraceState::questions);
        let (conditions, conditions_total) = walk.conditions.into_reports(asked);
        let confirmations =
            walk.state.as_ref().map(|state| confirmations::reports(state, &walk.acts, &known));
        let confirmations = confirmations.unwrap_or_default();
        let run = walk.state.as_ref().and_then(TraceState::run);
        let policy = run.and_then(|run| Some((run, run.recorded_policy()?))).map(|(run, policy)| {
            words::policy(policy, || distinct_words(run, walk.registry, walk.trail.pin()))
        });
        let claims = run.map(|run| walk.claims.into_reports(run)).unwrap_or_default();
        let of_the_registry = walk.trail.trace() == walk.registry.trace();
        let trail = if of_the_registry { walk.registry_trail } else { Some(walk.trail) };
        let (hashes, epochs) = trail.map(super::trail::Trail::into_parts).unwrap_or_default();
        let given = options.registry.as_ref().map(|registry| registry.head().sequence);
        let newest = Newest { inclusions, registry: given };
        let histories = Histories { hashes, epochs, registry: Some(walk.registry.clone()) };
        let sandbox = walk.sandbox.into_words();
        let rested = walk.rested.into_events();
        let erased = walk.erasures.into_reports();
        let (operations, operations_total) = walk.acts.into_operations();
        let told = Told {
            proven_by_key,
            passkeys,
            desk_word,
            policy,
            sandbox,
            roles,
            claims,
            conditions,
            conditions_total,
            questions,
            operations,
            operations_total,
            confirmations,
            rested,
            erased,
        };
        Self::assemble(scope, findings, anchors, newest, told, histories)
    }

    fn assemble(
        scope: Scope,
        findings: Findings,
        anchors: Anchors,
        newest: Newest,
        told: Told,
        histories: Histories,
    ) -> Self {
        let verdict = match findings.worst() {
            None => Verdict::Pass,
            Some(FindingSeverity::Warning) => Verdict::PassWithWarnings,
            Some(FindingSeverity::NotEstablished) => Verdict::NotEstablished,
            Some(FindingSeverity::Failure) => Verdict::Fail,
        };
        let checks = Check::ALL.map(|check| {
            let (count, worst) = findings.of(check);
            let made = match check {
                Check::File => true,
                Check::Anchor => !anchors.is_empty(),
                Check::Inclusion => newest.inclusions,
                // Two files are compared elsewhere.
                Check::Equivocation => false,
                _ => scope.through.is_some(),
            };
            CheckReport { check, made: made || count > 0, findings: count, worst }
        });
        let findings_total = findings.total();
        let findings = findings.into_sorted();
        let (first_bad, last_trusted) = trusted(&scope, &findings);
        Self {
            words: words::verdict(&scope, verdict, &anchors, lacks_anchor_only(&findings, findings_total)),
            not_proven: words::not_proven(&scope, verdict, &anchors, newest.registry),
            scope,
            verdict,
            first_bad,
            last_trusted,
            anchors,
            checks: checks.to_vec(),
            proven_by_key: told.proven_by_key,
            passkeys: told.passkeys,
            desk_word: told.desk_word,
            policy: told.policy,
            sandbox: told.sandbox,
            roles: told.roles,
            claims: told.claims,
            conditions: told.conditions,
            conditions_total: told.conditions_total,
            questions: told.questions,
            operations: told.operations,
            operations_total: told.operations_total,
            confirmations: told.confirmations,
            rested: told.rested,
            erased: told.erased,
            findings,
            findings_total,
            hashes: histories.hashes,
            epochs: histories.epochs,
            registry: histories.registry,
        }
    }

    /// Returns the code of the first failure.
    pub fn code(&self) -> Option<Code> {
        self.findings
            .iter()
            .find(|finding| finding.severity == FindingSeverity::Failure)
            .map(|finding| finding.code)
    }

    /// Returns the hashes of the events of the trace, in order.
    pub fn hashes(&self) -> &[Digest] {
        &self.hashes
    }

    /// Returns the epoch of an event of the trace, or the one before if the file ends there.
    pub(super) fn epoch_of(&self, at: Sequence) -> u64 {
        self.epochs.iter().rev().find(|(begin, _)| *begin <= at).map_or(1, |(_, epoch)| *epoch)
    }

    /// Returns the registry in the file, if all of it holds.
    pub const fn registry(&self) -> Option<&Registry> {
        self.registry.as_ref()
    }

    /// Returns what a reader of the trace must not rely on, if anything, without a full stop.
    pub fn caution(&self) -> Option<String> {
        match (self.verdict, self.last_trusted) {
            (Verdict::Pass | Verdict::PassWithWarnings, _) => None,
            (Verdict::NotEstablished, _) => Some("Not everything here could be checked".to_owned()),
            (Verdict::Fail, Some(last)) => Some(format!("Do not rely on anything after event #{last}")),
            (Verdict::Fail, None) => Some("Do not rely on anything in this file".to_owned()),
        }
    }

    /// Returns a verdict as people read it.
    pub const fn verdict_word(verdict: Verdict) -> &'static str {
        text::verdict_word(verdict)
    }

    /// Returns the report as text for a terminal or a pipe.
    pub fn to_text(&self) -> String {
        text::render(self)
    }

    /// Returns the report as one self-contained page that prints well.
    pub fn to_html(&self) -> String {
        html::render(self, self.verdict, &[])
    }

    /// Returns the same page with the verdict over everything that was asked, and what else was looked at: titles, each with
    /// its rows.
    pub fn to_html_beside(&self, verdict: Verdict, beside: &[(&str, Vec<String>)]) -> String {
        html::render(self, verdict, beside)
    }

    /// Returns the report as what stands inside a page: headings from the first level on, no style.
    pub fn to_html_body(&self) -> String {
        html::body(self, self.verdict, &[])
    }
}

/// Returns whether nothing failed but that the reader demanded an anchor and gave none.
fn lacks_anchor_only(findings: &[Finding], total: u64) -> bool {
    let mut failures =
        findings.iter().filter(|finding| finding.severity == FindingSeverity::Failure).peekable();
    let is_shown = findings.len() as u64 == total;
    is_shown && failures.peek().is_some() && failures.all(|finding| finding.code == Code::AnchorMissing)
}

/// Returns the first bad event of the trace and the last one before it that can be trusted.
fn trusted(scope: &Scope, findings: &[Finding]) -> (Option<Sequence>, Option<Sequence>) {
    let failures = || findings.iter().filter(|finding| finding.severity == FindingSeverity::Failure);
    let Some(first) = failures().next() else {
        return (None, scope.through.map(|through| through.sequence));
    };
    let placed = failures().find_map(|finding| match finding.section {
        Section::Trace => finding.sequence.map(|sequence| (sequence, finding.code)),
        Section::File | Section::Registry => None,
    });
    if first.section == Section::Registry {
        return (placed.map(|(sequence, _)| sequence), None);
    }
    match placed {
        Some((sequence, code)) => {
            // A broken link leaves open which side of it was changed.
            let back = if code == Code::ChainBreak { 2 } else { 1 };
            let trusted =
                sequence.number().checked_sub(back).and_then(|number| Sequence::try_from(number).ok());
            (Some(sequence), trusted)
        }
        // Something about the whole does not hold: no event can be told apart from the others.
        None => (None, None),
    }
}

fn keys(walk: &Walk<'_>, names: &Names, options: &Options) -> Vec<KeyReport> {
    let report = |(fingerprint, spoken): (&Fingerprint, &super::walk::Spoken)| {
        let record = walk.registry.key(fingerprint)?;
        let pinned = options.pins.iter().find(|pin| pin.fingerprint == *fingerprint);
        let called = names.keys.iter().find(|(key, _)| key == fingerprint);
        Some(KeyReport {
            fingerprint: *fingerprint,
            principal: record.principal,
            roles: record.roles.clone(),
            statements: spoken.statements,
            pinned_as: pinned.map(|pin| pin.name.clone()),
            desk_says: called.map(|(_, name)| name.clone()),
            name_hidden: names.hidden.contains(fingerprint),
            origin: match record.origin {
                KeyOrigin::First => "first key of its principal",
                KeyOrigin::RotatedByKey => "named by the key before it",
                KeyOrigin::RotatedByRecovery => "named by a recovery key",
                KeyOrigin::DeskWord => "new key, desk's word",
            },
            standing: standing(record),
        })
    };
    walk.speakers.iter().filter_map(report).collect()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Returns what the holder of a key is called, and by whom.
fn key_name(key: &KeyReport) -> String {
    match (&key.pinned_as, &key.desk_says) {
        (Some(name), _) => format!("pinned as {}", visible(name)),
        (None, Some(name)) => format!("the desk calls it {}", quoted(name)),
        (None, None) if key.name_hidden => "its name is not established: erased or withheld".to_owned(),
        (None, None) => "unnamed".to_owned(),
    }
}

/// Returns what became of a key.
pub(super) const fn standing(record: &KeyRecord) -> &'static str {
    match record {
        record if record.revoked.is_some() => "revoked",
        record if record.retired.is_some() => "retired",
        record if record.rotated.is_some() => "rotated",
        _ => "active",
    }
}
