//! `demur check`, `demur plan`, `demur audit` and `demur handoff`: a plan from submission to attestation.

mod attest;
mod paper;
mod reply;

use std::{path::Path, thread, time::Duration};

use demur_clarify::{document::Document, time::Time, uuid::Uuid};
use demur_core::{id::Uuid7, limit::Text};
use demur_engine::command::{Consequences, Told};
use demur_ledger::{facts::Assurance, name::Sequence, role::Role};
use demur_plan::{
    Error, Session,
    act::{self, Act, Judged},
};
use demur_rules::{Plan, Rules};
use demur_store::contract::Store as _;
use serde::Serialize;

pub(crate) use attest::{attest, attest_folder};
pub(crate) use paper::{audit, hand_off};
pub(crate) use reply::PlanReply;

use crate::{
    archive::Archive,
    arguments::{BeginOperation, Check, ConfirmPlan, PlanCommand, ResolvePlan, RulesChoice, SubmitPlan},
    context::Context,
    error::CommandError,
    exit::Exit,
    output::{Paint, Reply},
    owner::Owner,
    rules::{self, Shelf},
    world::World,
};
use demur_desk::session::{self as desk, Voice};

/// Goes on with a plan.
pub(crate) fn run(context: &mut Context<'_>, command: &PlanCommand) -> Result<Exit, CommandError> {
    match command {
        PlanCommand::Submit(arguments) => submit(context, arguments),
        PlanCommand::Show(arguments) => {
            let archive = Archive::open(context.data()?)?;
            let session = desk::read(archive.ledger(), arguments.session)?;
            let document = document(&session, archive.ledger(), &context.keystore()?)?;
            context.output.reply(&PlanReply::of(&session, document)?)?;
            Ok(Exit::Success)
        }
        PlanCommand::Resolve(arguments) => resolve(context, arguments),
        PlanCommand::Begin(arguments) => begin(context, arguments),
        PlanCommand::Confirm(arguments) => confirm(context, arguments),
        PlanCommand::Attest(arguments) => attest(context, arguments),
    }
}

/// Holds a plan against the rules; records nothing.
pub(crate) fn check(context: &mut Context<'_>, arguments: &Check) -> Result<Exit, CommandError> {
    let mut shelf = Shelf::new(arguments.rules.rules.clone(), arguments.rules.only);
    if !arguments.watch {
        let reply = checked(context, &rules::read_plan(&arguments.plan)?, &*shelf.rules()?)?;
        context.output.reply(&reply)?;
        return Ok(reply.exit());
    }
    if arguments.plan == Path::new("-") {
        let message = "expected a file with --watch, found standard input";
        return Err(CommandError::input("USAGE", message).with_hint("it is read again: save it first"));
    }
    let mut told = None;
    while !context.output.is_deserted() {
        // What is half written is wrong for a moment; whoever watches sees it right itself.
        let looked = rules::read_plan(&arguments.plan).and_then(|plan| Ok((plan, shelf.rules()?)));
        let seen = looked.as_ref().map(|(plan, rules)| (plan.clone(), rules.hash())).map_err(Clone::clone);
        if told.as_ref() != Some(&seen) {
            match looked.and_then(|(plan, rules)| checked(context, &plan, &rules)) {
                Ok(reply) => context.output.reply(&reply)?,
                Err(error) => context.output.error(&error),
            }
            told = Some(seen);
        }
        thread::sleep(LOOK_AGAIN);
    }
    Ok(Exit::Success)
}

fn checked(context: &Context<'_>, plan: &Plan, rules: &Rules) -> Result<PlanReply, CommandError> {
    let gaps = act::gaps(plan, rules)?;
    let status = if gaps.is_empty() { "ready_to_proceed" } else { "needs_clarification" };
    let mut reply = PlanReply::new(status, gaps, rules.hash().to_string(), None);
    reply.document = signed(context, &reply)?;
    Ok(reply)
}

/// Returns the signed document of a check, if there is a key to sign it.
fn signed(context: &Context<'_>, reply: &PlanReply) -> Result<Option<Document>, CommandError> {
    let data = context.data()?;
    if reply.gaps.is_empty() || !context.output.is_json() || !data.has_store()? {
        return Ok(None);
    }
    let archive = Archive::open(data)?;
    let signer = desk::signer(archive.ledger(), &context.keystore()?)?;
    let now = World::open()?.now()?;
    let gaps =
        reply.gaps.clone().try_into().map_err(|_| CommandError::bug(&"more gaps than a document has"))?;
    let accepted = 0.try_into()?;
    Ok(Some(Document::sign(new_uuid()?, Time::from(now), gaps, accepted, &signer).map_err(Error::from)?))
}

fn submit(context: &mut Context<'_>, arguments: &SubmitPlan) -> Result<Exit, CommandError> {
    let (plan, rules) = (rules::read_plan(&arguments.plan)?, chosen(&arguments.rules)?);
    let owner = Owner::open(&context.data()?)?;
    let author = desk::author(&owner, &arguments.author, Role::Agent)?;
    let uuid = arguments.session.map_or_else(new_uuid, Ok)?;
    let (trace, principal) = (desk::trace_of(uuid), author.principal());
    if owner.ledger().store().trace(trace)?.is_none() {
        let name = arguments.author.parse().map_err(|error| CommandError::input("AGENT_NAME", error))?;
        let voice = Voice::Key(Box::new(author));
        desk::perform(&owner, trace, &voice, || Ok((act::submit(uuid, &name, &plan, &rules)?, ())))?;
    }
    desk::keep_receipt(&owner, trace, Sequence::FIRST, arguments.receipt.as_deref())?;
    let session = desk::read(owner.ledger(), uuid)?;
    if !session.is_submission_of(&plan, &rules, principal) {
        let message = format!("session {uuid} is about another plan, under other rules or of another agent");
        return Err(CommandError::refused("SESSION_CONFLICT", message).with_hint(
            "submit the plan under a session of its own, or answer what is asked about the other",
        ));
    }
    tell(context, &owner, &session, &arguments.author)
}

fn resolve(context: &mut Context<'_>, arguments: &ResolvePlan) -> Result<Exit, CommandError> {
    let owner = Owner::open(&context.data()?)?;
    let voice = match &arguments.author {
        Some(name) => Voice::Key(Box::new(desk::author(&owner, name, Role::Answerer)?)),
        None => Voice::Person,
    };
    let (assurance, by) = match &voice {
        Voice::Key(_) => (Assurance::Agent, None),
        Voice::Person => (Assurance::Terminal, Some(whoever()?)),
    };
    let trace = desk::trace_of(arguments.session);
    if desk::read(owner.ledger(), arguments.session)?.repeats_answer(
        &arguments.gap,
        arguments.answer.as_deref(),
        voice.principal(),
    )? {
        return resolved(context, &owner, arguments, &Judged::Resolved, by.as_deref());
    }
    let mut told = None;
    let performed = desk::perform(&owner, trace, &voice, || {
        let session = desk::read(owner.ledger(), arguments.session)?;
        let (act, judged) = resolving(&session, arguments, assurance, by.as_ref())?;
        told = Some(judged.clone());
        Ok((act, judged))
    });
    // An answer that is not of its kind was refused; the gap stays open like after any other that does not settle it.
    let judged = match (performed, told) {
        (Ok((at, judged)), _) => {
            desk::keep_receipt(&owner, trace, at.sequence, arguments.receipt.as_deref())?;
            judged
        }
        (Err(error), Some(judged @ Judged::Escalated(_))) if error.is_about_the_kind() => judged,
        (Err(error), _) => return Err(error),
    };
    resolved(context, &owner, arguments, &judged, by.as_deref())
}

/// Says what became of an answer, and where the session stands.
fn resolved(
    context: &mut Context<'_>,
    owner: &Owner,
    arguments: &ResolvePlan,
    judged: &Judged,
    by: Option<&str>,
) -> Result<Exit, CommandError> {
    let session = desk::read(owner.ledger(), arguments.session)?;
    let reply = PlanReply::of(&session, document(&session, owner.ledger(), owner.keystore())?)?;
    context.output.reply(&Resolution::new(arguments, judged, reply))?;
    deliver(owner, &session, arguments.author.as_deref().or(by).unwrap_or("somebody"))?;
    Ok(if matches!(judged, Judged::Resolved) { Exit::Success } else { Exit::Refused })
}

/// Returns what is said to settle a gap, and whether it does.
fn resolving(
    session: &Session,
    arguments: &ResolvePlan,
    assurance: Assurance,
    by: Option<&Text<1, 256>>,
) -> Result<(Act, Judged), CommandError> {
    let gap = session.gap(&arguments.gap)?;
    let by = by.cloned();
    let Some(answer) = &arguments.answer else {
        let reason = arguments.note.clone().map_or_else(|| Text::try_from("accepted as it is"), Ok)?;
        return Ok((session.accept(gap, assurance, by, reason)?, Judged::Resolved));
    };
    let shown = by.is_some().then(|| gap.shown()).transpose()?;
    Ok(session.answer(gap, answer, assurance, act::Voice { by, note: arguments.note.clone(), shown })?)
}

fn begin(context: &mut Context<'_>, arguments: &BeginOperation) -> Result<Exit, CommandError> {
    let owner = Owner::open(&context.data()?)?;
    let voice = Voice::Key(Box::new(desk::author(&owner, &arguments.author, Role::Agent)?));
    desk::read(owner.ledger(), arguments.session)?;
    let trace = desk::trace_of(arguments.session);
    desk::perform(&owner, trace, &voice, || Ok((act::begin(arguments.operation.clone()), ())))?;
    let session = desk::read(owner.ledger(), arguments.session)?;
    tell(context, &owner, &session, &arguments.author)?;
    Ok(Exit::Success)
}

fn confirm(context: &mut Context<'_>, arguments: &ConfirmPlan) -> Result<Exit, CommandError> {
    let owner = Owner::open(&context.data()?)?;
    let voice = Voice::Key(Box::new(desk::author(&owner, &arguments.author, Role::Agent)?));
    let trace = desk::trace_of(arguments.session);
    let confirmed = desk::perform(&owner, trace, &voice, || {
        Ok((desk::read(owner.ledger(), arguments.session)?.confirm()?, ()))
    });
    match confirmed {
        Ok((at, ())) => desk::keep_receipt(&owner, trace, at.sequence, arguments.receipt.as_deref())?,
        Err(error) => return Err(with_open_gaps(error, &desk::read(owner.ledger(), arguments.session)?)),
    }
    let session = desk::read(owner.ledger(), arguments.session)?;
    tell(context, &owner, &session, &arguments.author)
}

/// Returns the error with the gaps that are still open (CLR-31).
fn with_open_gaps(error: CommandError, session: &Session) -> CommandError {
    let open: Vec<_> = session.open_gaps().map(|gap| format!("{} ({})", gap.id, gap.field)).collect();
    if open.is_empty() { error } else { error.with_hint(format!("settle {}", open.join(", "))) }
}

/// Says where a session stands, and records that it was said.
fn tell(context: &mut Context<'_>, owner: &Owner, session: &Session, to: &str) -> Result<Exit, CommandError> {
    let reply = PlanReply::of(session, document(session, owner.ledger(), owner.keystore())?)?;
    context.output.reply(&reply)?;
    deliver(owner, session, to)?;
    Ok(reply.exit())
}

/// Records what was put before whom.
fn deliver(owner: &Owner, session: &Session, to: &str) -> Result<(), CommandError> {
    let mut sayings = session.deliveries(to, "command line")?.into_iter();
    let Some(first) = sayings.next() else { return Ok(()) };
    let rest = Consequences { after: None, sayings: sayings.collect() };
    owner.ledger().record(session.trace(), Told { first, rest })?;
    Ok(())
}

fn document(
    session: &Session,
    ledger: &demur_store::ledger::Ledger<demur_store::sqlite::SqliteStore>,
    keystore: &crate::keystore::Keystore,
) -> Result<Option<Document>, CommandError> {
    if session.open_gaps().next().is_none() {
        return Ok(None);
    }
    Ok(Some(session.document(&desk::signer(ledger, keystore)?)?))
}

/// Returns the rules that were chosen.
fn chosen(choice: &RulesChoice) -> Result<Rules, CommandError> {
    rules::load(&choice.rules, choice.only)
}

/// Returns the name of whoever sits at the terminal, by the system's word.
fn whoever() -> Result<Text<1, 256>, CommandError> {
    let named = ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    let named =
        named.filter(|name| !name.is_empty()).unwrap_or_else(|| "somebody at the terminal".to_owned());
    Ok(Text::cut(&named)?)
}

/// Returns a new name for a session, an attestation or a handoff.
pub(crate) fn new_uuid() -> Result<Uuid, CommandError> {
    let world = World::open()?;
    Ok(Uuid7::new(world.now()?, &mut { world }).into())
}

/// What became of an answer.
#[derive(Serialize)]
struct Resolution {
    gap_id: String,
    /// `resolved` or `escalated`.
    status: &'static str,
    accepted_answer: Option<String>,
    /// Why it does not settle the gap.
    reason: Option<String>,
    session: PlanReply,
}

impl Resolution {
    fn new(arguments: &ResolvePlan, judged: &Judged, session: PlanReply) -> Self {
        let (status, reason) = match judged {
            Judged::Resolved => ("resolved", None),
            Judged::Escalated(why) => ("escalated", Some(why.to_string())),
        };
        let accepted_answer = arguments.answer.clone().filter(|_| reason.is_none());
        Self { gap_id: arguments.gap.clone(), status, accepted_answer, reason, session }
    }
}

impl Reply for Resolution {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let mut lines = match &self.reason {
            None => vec![format!("{} {}", paint.good("Resolved:"), self.gap_id)],
            Some(reason) => {
                vec![format!("{} {} stays open: {reason}", paint.bad("Escalated:"), self.gap_id)]
            }
        };
        lines.extend(self.session.lines(paint));
        lines
    }
}

/// How long a change of a watched file may go unseen.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
