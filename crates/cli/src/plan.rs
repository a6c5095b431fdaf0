//! `demur check`, `demur plan`, `demur audit` and `demur handoff`: a plan from submission to attestation.

mod attest;
mod list;
mod paper;
mod reply;

use std::{path::Path, thread, time::Duration};

use demur_api::{
    code::Code,
    plan::{PlanStanding, ResolvedGap},
};
use demur_clarify::seal::Signer;
use demur_core::limit::Text;
use demur_desk::{
    plan::{self as desk, Resolution, Submission},
    session::{self, Speaker},
};
use demur_ledger::{facts::Assurance, name::Sequence, role::Role};
use demur_plan::{Session, act::Judged};
use demur_rules::{Plan, Rules};

pub(crate) use attest::{attest, attest_folder};
pub(crate) use paper::{audit, hand_off};

use self::reply::exit;
use crate::{
    archive::Archive,
    arguments::{BeginOperation, Check, ConfirmPlan, PlanCommand, ResolvePlan, RulesChoice, SubmitPlan},
    borrow,
    context::Context,
    exit::Exit,
    failure::Failure,
    lookup,
    output::{Paint, Reply},
    owner::Owner,
    rules::{self, Shelf},
};

/// Goes on with a plan.
pub(crate) fn run(context: &mut Context<'_>, command: &PlanCommand) -> Result<Exit, Failure> {
    match command {
        PlanCommand::Submit(arguments) => submit(context, arguments),
        PlanCommand::List(arguments) => list::run(context, arguments).map(|()| Exit::Success),
        PlanCommand::Show(arguments) => {
            let archive = Archive::open(context.data()?)?;
            let id = lookup::session(archive.ledger().store(), &arguments.session)?;
            let session = session::read(archive.ledger(), id)?;
            let document = desk::document(&session, archive.ledger(), &context.keystore()?)?;
            context.output.reply(&desk::standing(&session, document)?)?;
            Ok(Exit::Success)
        }
        PlanCommand::Resolve(arguments) => resolve(context, arguments),
        PlanCommand::Begin(arguments) => begin(context, arguments),
        PlanCommand::Confirm(arguments) => confirm(context, arguments),
        PlanCommand::Attest(arguments) => attest(context, arguments),
    }
}

/// Holds a plan against the rules; records nothing.
pub(crate) fn check(context: &mut Context<'_>, arguments: &Check) -> Result<Exit, Failure> {
    let mut shelf = Shelf::new(arguments.rules.rules.clone(), arguments.rules.only);
    if !arguments.watch {
        let reply = checked(context, &rules::read_plan(&arguments.plan)?, &*shelf.rules()?)?;
        context.output.reply(&reply)?;
        return Ok(exit(&reply));
    }
    if arguments.plan == Path::new("-") {
        let message = "expected a file with --watch, found standard input";
        return Err(Failure::input("USAGE", message).with_hint("it is read again: save it first"));
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

fn checked(context: &Context<'_>, plan: &Plan, rules: &Rules) -> Result<PlanStanding, Failure> {
    Ok(desk::check(plan, rules, signer(context)?.as_ref())?)
}

/// Returns the key that signs the document of a check, for a program and if there is one.
fn signer(context: &Context<'_>) -> Result<Option<Signer>, Failure> {
    let data = context.data()?;
    if !context.output.is_json() || !data.has_store()? {
        return Ok(None);
    }
    let archive = Archive::open(data)?;
    Ok(Some(session::signer(archive.ledger(), &context.keystore()?)?))
}

fn submit(context: &mut Context<'_>, arguments: &SubmitPlan) -> Result<Exit, Failure> {
    let (plan, rules) = (rules::read_plan(&arguments.plan)?, chosen(&arguments.rules)?);
    let name = arguments.author.parse().map_err(|error| Failure::of(Code::AgentName, error))?;
    let owner = borrow::open(&context.data()?)?;
    let author = session::author(&owner, &arguments.author, Role::Agent)?;
    let submission =
        Submission { author, name: &name, plan: &plan, rules: &rules, session: arguments.session };
    let session = desk::submit(&owner, submission)?;
    session::keep_receipt(&owner, session.trace(), Sequence::FIRST, arguments.receipt.as_deref())?;
    tell(context, &owner, &session, &arguments.author)
}

fn resolve(context: &mut Context<'_>, arguments: &ResolvePlan) -> Result<Exit, Failure> {
    let owner = borrow::open(&context.data()?)?;
    let speaker = match &arguments.author {
        Some(name) => Speaker::Key(session::author(&owner, name, Role::Answerer)?),
        None => Speaker::Person { name: whoever()?, assurance: Assurance::Terminal },
    };
    let id = lookup::session(owner.ledger().store(), &arguments.session)?;
    let resolution = Resolution {
        session: id,
        gap: &arguments.gap,
        answer: arguments.answer.as_deref(),
        note: arguments.note.clone(),
    };
    let (at, judged) = desk::resolve(&owner, &speaker, &resolution)?;
    if let Some(at) = at {
        let trace = session::trace_of(id);
        session::keep_receipt(&owner, trace, at.sequence, arguments.receipt.as_deref())?;
    }
    let session = session::read(owner.ledger(), id)?;
    let standing = standing(&owner, &session)?;
    let answer = arguments.answer.as_deref();
    context.output.reply(&desk::resolved(&arguments.gap, answer, &judged, standing))?;
    let by = speaker.by();
    let to = arguments.author.as_deref().or(by.as_deref()).unwrap_or("somebody");
    desk::deliver(&owner, &session, to, CHANNEL)?;
    Ok(if matches!(judged, Judged::Resolved) { Exit::Success } else { Exit::Refused })
}

fn begin(context: &mut Context<'_>, arguments: &BeginOperation) -> Result<Exit, Failure> {
    let owner = borrow::open(&context.data()?)?;
    let author = session::author(&owner, &arguments.author, Role::Agent)?;
    let id = lookup::session(owner.ledger().store(), &arguments.session)?;
    let session = desk::begin(&owner, author, id, &arguments.operation)?;
    tell(context, &owner, &session, &arguments.author)?;
    Ok(Exit::Success)
}

fn confirm(context: &mut Context<'_>, arguments: &ConfirmPlan) -> Result<Exit, Failure> {
    let owner = borrow::open(&context.data()?)?;
    let author = session::author(&owner, &arguments.author, Role::Agent)?;
    let id = lookup::session(owner.ledger().store(), &arguments.session)?;
    let (at, session) = desk::confirm(&owner, author, id)?;
    session::keep_receipt(&owner, session.trace(), at.sequence, arguments.receipt.as_deref())?;
    tell(context, &owner, &session, &arguments.author)
}

/// Says where a session stands, and records that it was said.
fn tell(context: &mut Context<'_>, owner: &Owner, session: &Session, to: &str) -> Result<Exit, Failure> {
    let standing = standing(owner, session)?;
    context.output.reply(&standing)?;
    desk::deliver(owner, session, to, CHANNEL)?;
    Ok(exit(&standing))
}

fn standing(owner: &Owner, session: &Session) -> Result<PlanStanding, Failure> {
    let document = desk::document(session, owner.ledger(), owner.keystore())?;
    Ok(desk::standing(session, document)?)
}

/// Returns the rules that were chosen.
fn chosen(choice: &RulesChoice) -> Result<Rules, Failure> {
    Ok(rules::load(&choice.rules, choice.only)?)
}

/// Returns the name of whoever sits at the terminal, by the system's word.
pub(crate) fn whoever() -> Result<Text<1, 256>, Failure> {
    let named = ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    let named =
        named.filter(|name| !name.is_empty()).unwrap_or_else(|| "somebody at the terminal".to_owned());
    Ok(Text::cut(&named)?)
}

impl Reply for ResolvedGap {
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
/// The way on which questions of a plan reach somebody here.
const CHANNEL: &str = "command line";
