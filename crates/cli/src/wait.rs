//! `demur wait`, and the waiting of `demur ask`: however often the server is replaced meanwhile. A command that is stopped says
//! that the question stays open.

use std::time::Duration;

use demur_api::{
    call::{ApiRequest, Call as _},
    code::Code,
    operation::{ForgetSecret, Nothing, OfQuestion, ReadSecret, WaitForQuestion},
    question::{Delivered, QuestionId, QuestionView, WaitParameters},
};
use demur_ledger::{facts::AnswerKind, question::OutcomeKind};
use serde::Serialize;
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    task::JoinSet,
    time,
};
use zeroize::Zeroizing;

use crate::{
    arguments::Wait,
    client::{Client, SocketApi},
    context::Context,
    exit::Exit,
    failure::Failure,
    lookup,
    output::{Paint, Reply},
};

/// Waits for questions that were asked before, and prints their answers.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Wait) -> Result<Exit, Failure> {
    let client = Client::of_existing(context)?;
    let ids: Result<Vec<_>, _> = arguments.questions.iter().map(|id| lookup::question(context, id)).collect();
    let ids = ids?;
    let stops = Stops::new(&client)?;
    if ids.len() == 1 || arguments.any {
        return one_of(context, &client, stops, &ids);
    }
    let settled = client.block_on(settle(client.api(), stops, &ids, false))?;
    let settled = settled.map_err(|exit| stopped(context, exit, &ids))?;
    let mut taken = Vec::new();
    for question in settled {
        taken.push(Ended { secret: secret_of(&client, &question)?, question });
    }
    context.output.reply(&All { questions: &taken })?;
    for ended in &taken {
        remark(context, &ended.question);
        forget(&client, ended)?;
    }
    Ok(taken.iter().map(Ended::exit).find(|exit| *exit != Exit::Success).unwrap_or(Exit::Success))
}

/// Waits until one of these questions is settled, and prints its answer alone on standard output.
pub(crate) fn one_of(
    context: &mut Context<'_>,
    client: &Client,
    stops: Stops,
    ids: &[QuestionId],
) -> Result<Exit, Failure> {
    let settled = client.block_on(settle(client.api(), stops, ids, true))?;
    let settled = settled.map_err(|exit| stopped(context, exit, ids))?;
    let Some(question) = settled.into_iter().next() else {
        return Err(Failure::bug(&"nothing settled"));
    };
    if ids.len() > 1 {
        context.output.notice(&format!("Question {} is settled.", question.id));
    }
    let ended = Ended { secret: secret_of(client, &question)?, question };
    // The words of an answer are printed as they are: a program reads them.
    match ended.value() {
        Some(value) if !context.output.is_json() => {
            context.output.write(&Zeroizing::new([value.as_bytes(), b"\n"].concat()))?;
        }
        None if !context.output.is_json() => {}
        _ => context.output.reply(&ended)?,
    }
    remark(context, &ended.question);
    forget(client, &ended)?;
    Ok(ended.exit())
}

/// The signals that end the waiting, and how the command ends then. Heard from when this was made, also before anybody
/// waits for them.
pub(crate) struct Stops([(Signal, Exit); 2]);

impl Stops {
    pub(crate) fn new(client: &Client) -> Result<Self, Failure> {
        let listen = async {
            let interrupt = signal(SignalKind::interrupt())?;
            Ok([(interrupt, Exit::Interrupted), (signal(SignalKind::terminate())?, Exit::Terminated)])
        };
        let made: Result<_, std::io::Error> = client.block_on(listen);
        made.map(Self).map_err(|error| Failure::of(Code::ClientTrouble, error))
    }
}

/// Returns the questions once they are no longer open, in the order of their ids; or with `any` the first that is not; or
/// how the command ends that was told to stop.
async fn settle(
    api: &SocketApi,
    stops: Stops,
    ids: &[QuestionId],
    any: bool,
) -> Result<Result<Vec<QuestionView>, Exit>, Failure> {
    let mut tasks = JoinSet::new();
    for (signal, exit) in stops.0 {
        tasks.spawn(told(signal, exit));
    }
    for (at, id) in ids.iter().enumerate() {
        tasks.spawn(until_settled(api.clone(), at, *id));
    }
    let mut settled: Vec<Option<QuestionView>> = vec![None; ids.len()];
    while let Some(ended) = tasks.join_next().await {
        match ended.map_err(|error| Failure::bug(&error))? {
            Heard::Signal(exit) => return Ok(Err(exit)),
            Heard::Settled(at, question) => settled[at] = Some(*question?),
        }
        if any || settled.iter().all(Option::is_some) {
            break;
        }
    }
    Ok(Ok(settled.into_iter().flatten().collect()))
}

/// What ended one of the waits.
enum Heard {
    Signal(Exit),
    Settled(usize, Result<Box<QuestionView>, Failure>),
}

async fn told(mut signal: Signal, exit: Exit) -> Heard {
    signal.recv().await;
    Heard::Signal(exit)
}

async fn until_settled(api: SocketApi, at: usize, id: QuestionId) -> Heard {
    loop {
        let query = WaitParameters { seconds: Some(REQUEST_WAIT.as_secs()) };
        let request = ApiRequest::<WaitForQuestion>::get(OfQuestion { question: id }, query);
        match api.call(request).await.map(|reply| reply.document) {
            Ok(shown) if !shown.is_open() => return Heard::Settled(at, Ok(Box::new(shown))),
            Ok(_) => {}
            // The server is away or about to end, or as many wait as may: the question is still there.
            Err(refusal) if refusal.code.is_passing() => time::sleep(RETRY_INTERVAL).await,
            Err(refusal) => return Heard::Settled(at, Err(refusal.into())),
        }
    }
}

/// Returns the failure of a command that a signal has stopped.
fn stopped(context: &Context<'_>, exit: Exit, ids: &[QuestionId]) -> Failure {
    let names: Vec<_> = ids.iter().map(ToString::to_string).collect();
    let (stays, it) = if ids.len() == 1 { ("question", "it") } else { ("questions", "one") };
    let verb = if ids.len() == 1 { "stays" } else { "stay" };
    let message = format!("stopped waiting; {stays} {} {verb} open", names.join(" "));
    let go_on = context.typed(&format!("wait {}", names.join(" ")));
    let withdraw = context.typed(&format!("cancel {}", names.first().map_or("ID", String::as_str)));
    Failure::new(exit, "WAIT_STOPPED", message)
        .with_hint(format!("`{go_on}` goes on waiting; `{withdraw}` withdraws {it}"))
}

/// A secret is read by its asker alone: by the user of this machine, for whoever asked here.
fn secret_of(client: &Client, question: &QuestionView) -> Result<Option<Delivered>, Failure> {
    let waits = question.state == OutcomeKind::Answered && question.kinds.contains(&AnswerKind::Secret);
    let path = OfQuestion { question: question.id };
    waits.then(|| client.call(ApiRequest::<ReadSecret>::get(path, Nothing {}))).transpose()
}

/// Has a secret forgotten that has arrived: nobody needs it any more.
fn forget(client: &Client, ended: &Ended) -> Result<(), Failure> {
    match ended.secret {
        Some(_) => {
            let path = OfQuestion { question: ended.question.id };
            client.call(ApiRequest::<ForgetSecret>::get(path, Nothing {})).map(drop)
        }
        None => Ok(()),
    }
}

/// Says on standard error why there is no answer, or whose it is not.
fn remark(context: &Context<'_>, question: &QuestionView) {
    if question.state == OutcomeKind::Answered {
        return;
    }
    let ending = question.outcome.as_ref();
    let by = ending.and_then(|ending| ending.by.as_deref());
    let note = ending.and_then(|ending| ending.note.as_deref());
    context.output.notice(&unanswered(question.state, by, note));
}

fn unanswered(state: OutcomeKind, by: Option<&str>, note: Option<&str>) -> String {
    let ended = match (state, by) {
        (OutcomeKind::Expired, _) => "Nobody answered in time.".to_owned(),
        (OutcomeKind::Defaulted, _) => "Nobody answered in time. The default holds.".to_owned(),
        (state, Some(by)) => format!("The question was {state} by {by}."),
        (state, None) => format!("The question was {state}."),
    };
    note.map_or_else(|| ended.clone(), |note| format!("{ended} {note}"))
}

/// A question that is settled, and what its asker alone gets.
#[derive(Serialize)]
struct Ended {
    question: QuestionView,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<Delivered>,
}

impl Ended {
    /// Returns the answer.
    fn value(&self) -> Option<Zeroizing<String>> {
        let told = || self.question.outcome.as_ref()?.value.as_ref().map(ToString::to_string);
        self.secret.as_ref().map(|secret| secret.value.clone()).or_else(told).map(Zeroizing::new)
    }

    fn exit(&self) -> Exit {
        match self.question.state {
            OutcomeKind::Answered | OutcomeKind::Accepted => Exit::Success,
            OutcomeKind::Declined => Exit::Declined,
            OutcomeKind::Expired => Exit::Expired,
            OutcomeKind::Defaulted => Exit::Defaulted,
            OutcomeKind::Open | OutcomeKind::Cancelled | OutcomeKind::Withdrawn => Exit::Cancelled,
        }
    }
}

impl Reply for Ended {
    fn lines(&self, _: Paint) -> Vec<String> {
        self.value().iter().map(|value| value.to_string()).collect()
    }
}

#[derive(Serialize)]
struct All<'a> {
    questions: &'a [Ended],
}

impl Reply for All<'_> {
    /// One line each, whatever is in them: the third line is the answer to the third question.
    fn lines(&self, _: Paint) -> Vec<String> {
        let line = |ended: &Ended| ended.value().unwrap_or_default().replace('\n', "\\n");
        self.questions.iter().map(line).collect()
    }
}

/// How long one request waits: a connection that is broken without a word is noticed then.
const REQUEST_WAIT: Duration = Duration::from_mins(5);
/// After how long a server that has no room for those who wait is asked again.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_question_is_told_in_everyday_words() {
        assert_eq!(unanswered(OutcomeKind::Expired, None, None), "Nobody answered in time.");
        assert_eq!(
            unanswered(OutcomeKind::Defaulted, None, None),
            "Nobody answered in time. The default holds."
        );
        let declined = unanswered(OutcomeKind::Declined, Some("ada"), Some("Ask Finn."));
        assert_eq!(declined, "The question was declined by ada. Ask Finn.");
    }
}
