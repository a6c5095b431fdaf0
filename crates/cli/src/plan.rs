//! `demur check`, `demur plan`, `demur audit` and `demur handoff`: a plan from submission to attestation.

mod amend;
mod attest;
mod list;
mod paper;
mod recorded;
mod reply;
mod verify;

use std::{path::Path, thread, time::Duration};

use demur_api::{
    call::ApiRequest,
    code::Code,
    operation::{
        BeginOperationAs, CheckPlanUnder, ConfirmPlanAs, NoArguments, Nothing, OfEvent, OfGap, OfPlan,
        ResolveGapAs, ShowPlanHere, ShowReceipt, SubmitPlanAs,
    },
    plan::{self as api, GapStatus, PlanStanding, ResolvedGap, ToldPlan},
};
use demur_clarify::{name::AgentId, uuid::Uuid};
use demur_core::{canonical, limit::Text, visible::visible};
use demur_desk::{
    durable,
    plan::{self as desk},
    visible::shell_word,
};
use demur_ledger::name::{Sequence, TraceId};
use demur_rules::{Plan, Rules};
use serde::Serialize;
use serde_json::{Map, Value};

pub(crate) use attest::{attest, attestation_of};
pub(crate) use paper::{audit, hand_off};

use self::reply::exit;
use crate::{
    arguments::{BeginOperation, Check, ConfirmPlan, PlanCommand, ResolvePlan, RulesChoice, SubmitPlan},
    client::{Client, SocketRequest},
    confirm,
    context::Context,
    exit::Exit,
    failure::Failure,
    lookup::{self, TypedId},
    output::{Paint, Reply},
    reader::Reader,
    rules::{self, RulesCache},
    user::user_name,
};

/// Goes on with a plan.
pub(crate) fn run(context: &mut Context<'_>, command: &PlanCommand) -> Result<Exit, Failure> {
    match command {
        PlanCommand::Submit(arguments) => submit(context, arguments),
        PlanCommand::List(arguments) => list::run(context, arguments).map(|()| Exit::Success),
        PlanCommand::Show(arguments) => {
            let reader = Reader::open(context.data()?)?;
            let path = OfPlan { session: lookup::session(&reader, &arguments.session)? };
            let told = reader.call(ApiRequest::<ShowPlanHere>::get(path, Nothing {}))?;
            context.output.reply(&told.into_standing())?;
            Ok(Exit::Success)
        }
        PlanCommand::Resolve(arguments) => resolve(context, arguments),
        PlanCommand::Amend(arguments) => amend::amend(context, arguments),
        PlanCommand::Withdraw(arguments) => amend::withdraw(context, arguments),
        PlanCommand::AskAgain(arguments) => amend::ask_again(context, arguments),
        PlanCommand::Begin(arguments) => begin(context, arguments),
        PlanCommand::Confirm(arguments) => confirm(context, arguments),
        PlanCommand::Attest(arguments) => attest(context, arguments),
    }
}

/// Holds a plan against the rules; records nothing.
pub(crate) fn check(context: &mut Context<'_>, arguments: &Check) -> Result<Exit, Failure> {
    let mut cache = RulesCache::new(arguments.rules.source(), context.data()?);
    if !arguments.watch {
        let reply = checked(context, &rules::read_plan(&arguments.plan)?, &*cache.rules()?)?;
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
        let looked = rules::read_plan(&arguments.plan).and_then(|plan| Ok((plan, cache.rules()?)));
        let seen = looked.as_ref().map(|(plan, rules)| (plan.clone(), rules.hash())).map_err(Clone::clone);
        if told.as_ref() != Some(&seen) {
            match looked.and_then(|(plan, rules)| checked(context, &plan, &rules)) {
                Ok(reply) => context.output.reply(&reply)?,
                Err(error) => context.output.error(&error),
            }
            told = Some(seen);
        }
        thread::sleep(LOOK_INTERVAL);
    }
    Ok(Exit::Success)
}

/// A person is told what the rules find; a program gets a signed document of it, if there is a key to sign with.
fn checked(context: &Context<'_>, plan: &Plan, rules: &Rules) -> Result<PlanStanding, Failure> {
    let (checked, data) = (desk::check(plan, rules, None)?, context.data()?);
    if !context.output.is_json() || !data.has_store()? {
        return Ok(checked);
    }
    let given = api::CheckPlanUnder { plan: members(plan)?, rules: document(rules)? };
    Reader::open(data)?.call(ApiRequest::<CheckPlanUnder>::send(NoArguments {}, given))
}

fn submit(context: &mut Context<'_>, arguments: &SubmitPlan) -> Result<Exit, Failure> {
    let (plan, rules) = (rules::read_plan(&arguments.plan)?, chosen(context, &arguments.rules)?);
    arguments.author.parse::<AgentId>().map_err(|error| Failure::of(Code::AgentName, error))?;
    let client = Client::of_store(context).map_err(|error| {
        let make = context.typed(&format!("keys new {} --role agent", shell_word(arguments.author.as_ref())));
        if error.is(Code::NoKeys) {
            error.with_hint(format!("`{make}` makes the key of the agent"))
        } else {
            error
        }
    })?;
    let given = api::SubmitPlanAs {
        author: named(&arguments.author)?,
        plan: members(&plan)?,
        rules: document(&rules)?,
        // Named here: the same submission again is recorded once, however often it is sent.
        session_id: Some(arguments.session.map_or_else(desk::new_uuid, Ok)?),
    };
    let told = client.call(ApiRequest::<SubmitPlanAs>::send(NoArguments {}, given))?;
    tell(context, &client, told, arguments.receipt.as_deref())
}

fn resolve(context: &mut Context<'_>, arguments: &ResolvePlan) -> Result<Exit, Failure> {
    let (client, session) = of_session(context, &arguments.session)?;
    let given = api::ResolveGapAs {
        answer: arguments.answer.clone(),
        author: arguments.author.as_deref().map(named).transpose()?,
        by: user_name()?,
        note: arguments.note.clone(),
    };
    let path = OfGap { session, gap: arguments.gap.clone() };
    let told = client.call_with(&ApiRequest::<ResolveGapAs>::send(path, given), SocketRequest::once)?;
    let receipt = arguments.receipt.as_deref();
    keep_receipt(&client, TraceId::of_session(session.as_u128()), told.plan.event, receipt)?;
    let accepted_answer = arguments.answer.clone().filter(|_| told.reason.is_none());
    let (status, reason) = (told.status, told.reason);
    let (gap_id, session) = (arguments.gap.clone(), told.plan.into_standing());
    context.output.reply(&ResolvedGap { gap_id, status, accepted_answer, reason, session })?;
    Ok(if status == GapStatus::Resolved { Exit::Success } else { Exit::Refused })
}

fn begin(context: &mut Context<'_>, arguments: &BeginOperation) -> Result<Exit, Failure> {
    let (client, session) = of_session(context, &arguments.session)?;
    let exact = arguments.exact.as_deref().map(|typed| confirm::object("--exact", typed)).transpose()?;
    let (author, operation) = (named(&arguments.author)?, arguments.operation.clone());
    let given = api::BeginOperationAs { author, operation, exact };
    let request = ApiRequest::<BeginOperationAs>::send(OfPlan { session }, given);
    let told = client.call_with(&request, SocketRequest::once)?;
    let operation = arguments.operation.to_string();
    context.output.reply(&Begun { operation, standing: told.into_standing() })?;
    Ok(Exit::Success)
}

/// An operation that is on record as begun.
#[derive(Serialize)]
struct Begun {
    #[serde(skip)]
    operation: String,
    #[serde(flatten)]
    standing: PlanStanding,
}

impl Reply for Begun {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let mut lines =
            vec![format!("{} {} is on record as begun.", paint.good("Begun:"), visible(&self.operation))];
        lines.extend(self.standing.lines(paint));
        lines
    }
}

fn confirm(context: &mut Context<'_>, arguments: &ConfirmPlan) -> Result<Exit, Failure> {
    let (client, session) = of_session(context, &arguments.session)?;
    let given = api::ConfirmPlanAs { author: named(&arguments.author)? };
    let request = ApiRequest::<ConfirmPlanAs>::send(OfPlan { session }, given);
    let told = client.call_with(&request, SocketRequest::once)?;
    tell(context, &client, told, arguments.receipt.as_deref())
}

/// Says where a session stands, and keeps the receipt of what was signed if it is wanted.
fn tell(
    context: &mut Context<'_>,
    client: &Client,
    told: ToldPlan,
    receipt: Option<&Path>,
) -> Result<Exit, Failure> {
    let event = told.event;
    let standing = told.into_standing();
    if let Some(trace) = standing.trace {
        keep_receipt(client, trace, event, receipt)?;
    }
    context.output.reply(&standing)?;
    Ok(exit(&standing))
}

/// Returns the way to the server, and the session that is meant.
fn of_session(context: &Context<'_>, typed: &TypedId) -> Result<(Client, Uuid), Failure> {
    let client = Client::of_store(context)?;
    let session = lookup::session(&client, typed)?;
    Ok((client, session))
}

/// Writes the receipt for a statement to a new file, if somebody wants it.
fn keep_receipt(
    client: &Client,
    trace: TraceId,
    event: Option<Sequence>,
    path: Option<&Path>,
) -> Result<(), Failure> {
    let (Some(path), Some(sequence)) = (path, event) else { return Ok(()) };
    let receipt = client.call(ApiRequest::<ShowReceipt>::get(OfEvent { trace, sequence }, Nothing {}))?;
    let mut bytes = canonical::to_vec(&receipt)?;
    bytes.push(b'\n');
    durable::create(path, &bytes).map_err(|error| {
        Failure::file("write", path, &error)
            .with_hint("the statement is recorded; only its receipt is not written")
    })
}

fn named(author: &str) -> Result<Text<1, 256>, Failure> {
    Ok(Text::try_from(author)?)
}

/// Returns a plan as it travels.
fn members(plan: &Plan) -> Result<Map<String, Value>, Failure> {
    plan.as_value().as_object().cloned().ok_or_else(|| Failure::bug(&"a plan that is no object"))
}

/// Returns rules as they travel: every pack in one document.
pub(crate) fn document(rules: &Rules) -> Result<String, Failure> {
    String::from_utf8(rules.document().to_vec()).map_err(|error| Failure::bug(&error))
}

/// Returns the rules that were chosen.
fn chosen(context: &Context<'_>, choice: &RulesChoice) -> Result<Rules, Failure> {
    Ok(choice.source().load(&context.data()?)?)
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
const LOOK_INTERVAL: Duration = Duration::from_millis(200);
