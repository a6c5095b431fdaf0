//! `demur confirm`: one operation is put before somebody, confirmed or refused, and started once.

use demur_api::{
    call::{ApiRequest, IdempotencyKey},
    code::{Code, RuleCode},
    confirmation::{
        self as api, AskConfirmationParameters, ConfirmationId, ConfirmationListParameters, ConfirmationView,
        ListedConfirmations, OperationEnding,
    },
    operation::{
        AskConfirmation, EndOperation, GiveConfirmation, ListConfirmations, NoArguments, Nothing,
        OfConfirmation, RefuseConfirmation, ShowConfirmation, StartOperation, WaitForConfirmation,
    },
    question::WaitParameters,
    refusal::Refusal,
};
use demur_core::{
    hash::Digest,
    id::Ulid,
    limit::{Text, Whole},
    visible::visible,
};
use demur_desk::operating_system::OperatingSystem;
use demur_ledger::{
    attribution::assurance_word, confirmation::ConfirmationStanding, content::OperationObject, name::Sequence,
};
use serde::Serialize;

use crate::{
    arguments::{self, ConfirmCommand, DecideConfirmation},
    client::Client,
    context::Context,
    exit::Exit,
    failure::Failure,
    keys::clock,
    lookup::{self, Noun, TypedId},
    output::{Paint, Reply, Table},
    question::from_input,
};

/// Runs one of the `confirm` commands.
pub(crate) fn run(context: &mut Context<'_>, command: &ConfirmCommand) -> Result<Exit, Failure> {
    match command {
        ConfirmCommand::Ask(arguments) => ask(context, arguments),
        ConfirmCommand::List(arguments) => {
            let state = (!arguments.all).then(|| ConfirmationStanding::Open.as_str().to_owned());
            let listed = match Client::for_list(context)? {
                Some(client) => list(&client, state)?,
                None => ListedConfirmations { confirmations: Vec::new(), next: None },
            };
            let nowhere = Context::nowhere(&context.data()?, "confirmations");
            context.output.reply(&List { listed, all: arguments.all, nowhere })?;
            Ok(Exit::Success)
        }
        ConfirmCommand::Show(named) => {
            let client = Client::of_existing(context)?;
            let shown = fetch(&client, find(&client, &named.confirmation)?)?;
            told(context, shown)
        }
        ConfirmCommand::Wait(named) => {
            let client = Client::of_existing(context)?;
            let id = find(&client, &named.confirmation)?;
            wait(context, &client, id)
        }
        ConfirmCommand::Give(arguments) => {
            let client = Client::of_existing(context)?;
            let (asked, digest) = decided(&client, arguments)?;
            let body = api::GiveConfirmation { digest, note: arguments.note.clone(), by: None };
            told(context, client.call(ApiRequest::<GiveConfirmation>::send(of(asked.id), body))?)
        }
        ConfirmCommand::Refuse(arguments) => {
            let client = Client::of_existing(context)?;
            let (asked, digest) = decided(&client, arguments)?;
            let note = arguments.note.clone();
            let body = api::RefuseConfirmation { digest, note, by: None, instead: None };
            told(context, client.call(ApiRequest::<RefuseConfirmation>::send(of(asked.id), body))?)
        }
        ConfirmCommand::Start(arguments) => {
            let client = Client::of_existing(context)?;
            let id = find(&client, &arguments.confirmation)?;
            let operation = object("--operation", &arguments.operation)?;
            let body = api::StartOperation { operation, name: arguments.name.clone(), note: None };
            told(context, client.call(ApiRequest::<StartOperation>::send(of(id), body))?)
        }
        ConfirmCommand::End(arguments) => {
            let client = Client::of_existing(context)?;
            let id = find(&client, &arguments.confirmation)?;
            let body = api::EndOperation { failed: arguments.failed };
            told(context, client.call(ApiRequest::<EndOperation>::send(of(id), body))?)
        }
    }
}

fn ask(context: &mut Context<'_>, arguments: &arguments::AskConfirmation) -> Result<Exit, Failure> {
    let seconds = arguments.timeout.map(|time| Whole::try_from(time.as_secs())).transpose();
    let seconds = seconds.map_err(|error| Failure::input("USAGE", format!("--timeout: {error}")))?;
    let mut document = serde_json::Map::new();
    document.insert("action".to_owned(), arguments.action.as_str().into());
    let mut body: api::AskConfirmation =
        serde_json::from_value(document.into()).map_err(|error| Failure::bug(&error))?;
    body.consequence.clone_from(&arguments.consequence);
    body.operation = arguments.operation.as_deref().map(|typed| object("--operation", typed)).transpose()?;
    // What cannot be asked makes no data folder.
    let client = Client::open(context)?;
    body.trace = arguments.trace.as_ref().map(|typed| lookup::trace(&client, typed)).transpose()?;
    body.about = arguments.about.map(Sequence::from);
    body.risk = arguments.risk.into();
    body.timeout_seconds = seconds;
    let system = OperatingSystem::open()?;
    // A retry of the same request finds what the first one asked.
    let key = Ulid::new(system.now()?, &mut { system }).to_string();
    let key = Some(IdempotencyKey::try_from(key).map_err(|error| Failure::bug(&error))?);
    let query = AskConfirmationParameters { wait: None, asker: Some(arguments.asker.to_string()) };
    let asked = client.call(ApiRequest::<AskConfirmation> { path: NoArguments {}, query, body, key })?;
    let [show, give] = ["show", "give"].map(|act| context.typed(&format!("confirm {act} {}", asked.id)));
    context.output.asked_confirmation(asked.id, &show, &give);
    if arguments.no_wait {
        context.output.reply(&Asked { id: asked.id })?;
        return Ok(Exit::Success);
    }
    wait(context, &client, asked.id)
}

fn wait(context: &mut Context<'_>, client: &Client, id: ConfirmationId) -> Result<Exit, Failure> {
    loop {
        let query = WaitParameters { seconds: Some(REQUEST_WAIT_SECONDS) };
        let shown = client.call(ApiRequest::<WaitForConfirmation>::get(of(id), query))?;
        if shown.is_open() {
            continue;
        }
        let exit = match shown.state {
            ConfirmationStanding::Given | ConfirmationStanding::Open => Exit::Success,
            ConfirmationStanding::Refused => Exit::Declined,
            ConfirmationStanding::Expired => Exit::Expired,
        };
        if context.output.is_json() {
            context.output.reply(&Shown(shown))?;
        } else {
            context.output.write(format!("{}\n", shown.state).as_bytes())?;
            context.output.notice(&ended(&shown));
        }
        return Ok(exit);
    }
}

fn told(context: &mut Context<'_>, shown: ConfirmationView) -> Result<Exit, Failure> {
    context.output.reply(&Shown(shown))?;
    Ok(Exit::Success)
}

/// Returns the confirmation that is decided about, and the digest of what it shows.
fn decided(client: &Client, arguments: &DecideConfirmation) -> Result<(ConfirmationView, Digest), Failure> {
    if arguments.confirmation.is_last() && arguments.digest.is_none() {
        // Another one may have been asked for since the newest was looked at.
        let message =
            "expected the id of the confirmation that you looked at, or its --digest, found `last` alone";
        return Err(Failure::input("USAGE", message).with_hint("`demur confirm show last` prints both"));
    }
    let asked = fetch(client, find(client, &arguments.confirmation)?)?;
    let digest = digest_of(&asked)?;
    match &arguments.digest {
        Some(expected) if !digest.to_string().starts_with(&expected.to_ascii_lowercase()) => {
            let message = format!(
                "expected an operation whose digest begins with {}, found {digest}",
                visible(expected)
            );
            let refusal = Refusal::new(Code::Rule(RuleCode::CONFIRMATION_MISMATCH), message);
            Err(refusal.with_cure(format!("look at it: `demur confirm show {}`", asked.id)).into())
        }
        _ => Ok((asked, digest)),
    }
}

fn list(client: &Client, state: Option<String>) -> Result<ListedConfirmations, Failure> {
    let limit = Some(200);
    let query = ConfirmationListParameters {
        state,
        newest: Some(true),
        limit,
        ..ConfirmationListParameters::default()
    };
    client.call(ApiRequest::<ListConfirmations>::get(NoArguments {}, query))
}

fn find(client: &Client, typed: &TypedId) -> Result<ConfirmationId, Failure> {
    if let Ok(id) = typed.as_str().parse() {
        return Ok(id);
    }
    // The newest stands last, as in other lists.
    let mut ids: Vec<String> =
        list(client, None)?.confirmations.into_iter().map(|shown| shown.id.to_string()).collect();
    ids.reverse();
    lookup::among(Noun::Confirmation, typed, &ids)?.parse().map_err(|error| Failure::bug(&error))
}

pub(crate) fn fetch(client: &Client, id: ConfirmationId) -> Result<ConfirmationView, Failure> {
    client.call(ApiRequest::<ShowConfirmation>::get(of(id), Nothing {}))
}

/// Returns what is to be done, in its asker's words.
pub(crate) fn action(shown: &ConfirmationView) -> String {
    visible(shown.action.as_deref().unwrap_or("(erased)")).into_owned()
}

/// Returns a confirmation in two lines, as lists and streams show it: what is wanted, and how to look at it.
pub(crate) fn summary(shown: &ConfirmationView) -> Vec<String> {
    vec![action(shown), format!("Look at the exact operation: demur confirm show {}", shown.id)]
}

/// Returns the operations that wait for a yes or a no, the newest first, up to a page of them.
pub(crate) fn open(client: &Client) -> Result<Vec<ConfirmationView>, Failure> {
    let open = Some(ConfirmationStanding::Open.as_str().to_owned());
    Ok(list(client, open)?.confirmations)
}

/// Confirms what was shown.
pub(crate) fn give(
    client: &Client,
    shown: &ConfirmationView,
    note: &str,
) -> Result<ConfirmationView, Failure> {
    let body = api::GiveConfirmation { digest: digest_of(shown)?, note: noted(note)?, by: None };
    client.call(ApiRequest::<GiveConfirmation>::send(of(shown.id), body))
}

/// Refuses what was shown.
pub(crate) fn refuse(
    client: &Client,
    shown: &ConfirmationView,
    note: &str,
) -> Result<ConfirmationView, Failure> {
    let (digest, note) = (digest_of(shown)?, noted(note)?);
    let body = api::RefuseConfirmation { digest, note, by: None, instead: None };
    client.call(ApiRequest::<RefuseConfirmation>::send(of(shown.id), body))
}

fn noted(note: &str) -> Result<Option<Text<1, 4096>>, Failure> {
    let note = Some(note).filter(|note| !note.is_empty()).map(Text::try_from).transpose();
    note.map_err(|error| Failure::input("REASON_INVALID", format!("the reason: {error}")))
}

fn digest_of(shown: &ConfirmationView) -> Result<Digest, Failure> {
    shown.digest.ok_or_else(|| {
        let message = "expected an operation that can be read, found one that was erased";
        Failure::refused("CONFIRMATION_ERASED", message).with_hint("ask for a new confirmation")
    })
}

const fn of(confirmation: ConfirmationId) -> OfConfirmation {
    OfConfirmation { confirmation }
}

/// Returns the operation that was typed, or that comes on standard input.
pub(crate) fn object(option: &str, typed: &str) -> Result<OperationObject, Failure> {
    let read = (typed == "-").then(|| from_input("confirm", false)).transpose()?;
    let text = read.as_ref().map_or(typed, |text| text.as_str());
    serde_json::from_str(text).map_err(|error| {
        let message = format!("{option}: expected a JSON object, found something else: {error}");
        let hint = format!("such as {option} '{{\"amount\":10,\"to\":\"mallory\"}}'");
        Failure::input("USAGE", message).with_hint(hint)
    })
}

#[derive(Serialize)]
struct Asked {
    id: ConfirmationId,
}

impl Reply for Asked {
    fn lines(&self, _: Paint) -> Vec<String> {
        vec![self.id.to_string()]
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Shown(ConfirmationView);

impl Reply for Shown {
    fn lines(&self, paint: Paint) -> Vec<String> {
        describe(&self.0, paint)
    }
}

/// Returns a confirmation in full, with the exact operation.
pub(crate) fn describe(shown: &ConfirmationView, paint: Paint) -> Vec<String> {
    let mut lines = vec![action(shown)];
    if let Some(consequence) = &shown.consequence {
        lines.push(format!("What follows: {}", visible(consequence)));
    }
    if let Some(risk) = shown.risk {
        lines.push(format!("Risk, as its asker says: {}", risk.as_str()));
    }
    let operation =
        shown.operation.as_ref().and_then(|operation| serde_json::to_string_pretty(operation).ok());
    lines.push("Operation:".to_owned());
    lines.extend(operation.iter().flat_map(|text| text.lines()).map(|line| format!("  {}", visible(line))));
    lines.extend(shown.digest.map(|digest| format!("Digest: {digest}")));
    lines.push(format!("Asked by {} at {}", visible(&shown.asker.name), clock(shown.asked)));
    lines.push(format!("{} {}", paint.good("State:"), ended(shown)));
    if let Some(started) = shown.started {
        lines.push(format!("Started as event {started}"));
    }
    if let Some(OperationEnding { event, failed }) = shown.ended {
        let how = if failed { paint.bad("Failed") } else { "Done".to_owned() };
        lines.push(format!("{how}, as its asker says in event {event}"));
    }
    lines.push(format!("Id: {}", shown.id));
    lines
}

/// Returns what became of a confirmation, in one sentence.
pub(crate) fn ended(shown: &ConfirmationView) -> String {
    let ending = shown.outcome.as_ref();
    let by = ending.and_then(|ending| ending.by.as_deref()).map_or("somebody".into(), visible);
    let how = ending.and_then(|ending| ending.assurance).map_or("", assurance_word);
    let note = ending.and_then(|ending| ending.note.as_deref());
    let note = note.map_or_else(String::new, |note| format!(" {}", visible(note)));
    match shown.state {
        ConfirmationStanding::Open => match shown.deadline {
            Some(deadline) => format!("It waits; at {} it is refused.", clock(deadline)),
            None => "It waits.".to_owned(),
        },
        ConfirmationStanding::Given => format!("Confirmed by {by} ({how}).{note}"),
        ConfirmationStanding::Refused => format!("Refused by {by} ({how}).{note}"),
        ConfirmationStanding::Expired => "Refused: nobody confirmed it in time.".to_owned(),
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct List {
    listed: ListedConfirmations,
    /// Whether everything was asked for, and not only what waits.
    #[serde(skip)]
    all: bool,
    /// What to say where there is no data folder.
    #[serde(skip)]
    nowhere: Option<String>,
}

impl Reply for List {
    fn lines(&self, paint: Paint) -> Vec<String> {
        if self.listed.confirmations.is_empty() {
            let none = if self.all { "No confirmations here." } else { "Nothing waits for a yes or a no." };
            return vec![self.nowhere.clone().unwrap_or_else(|| none.to_owned())];
        }
        let mut table = Table::new(["ID", "STATE", "ASKER", "ASKED", "ACTION"]);
        for shown in &self.listed.confirmations {
            table.add([
                shown.id.to_string(),
                shown.state.to_string(),
                visible(&shown.asker.name).into_owned(),
                clock(shown.asked),
                visible(shown.action.as_deref().unwrap_or("(erased)")).into_owned(),
            ]);
        }
        table.lines(paint)
    }
}

/// How long one request waits: the server allows no more.
const REQUEST_WAIT_SECONDS: u64 = 300;
