//! A call as a task (`io.modelcontextprotocol/tasks`): the client hears at once how its call is called, and looks again by
//! itself. There is no store of tasks: a question is one, and so is a plan that is being clarified. So a task outlives the
//! server, and nothing is pushed.

use demur_api::{
    call::ApiRequest,
    operation::{Nothing, OfQuestion, ShowQuestion},
    question::{QuestionId, QuestionView},
    refusal::Refusal,
};
use demur_clarify::uuid::Uuid;
use demur_core::time::Timestamp;
use rmcp::{
    ErrorData,
    model::{
        CallToolResponse, CallToolResult, CreateTaskResult, DetailedTask, ElicitRequest, GetTaskResult,
        InputRequest, InputRequests, Task, TaskPayload, TaskStatus,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    ask,
    host::CallerConnection,
    new_names::NewNames,
    pass::Passed,
    plan::{self, Goal},
    prompt::Prompt,
    reply::Stop,
    tier::Tier,
    tool_call::ToolCall,
};

/// What a task is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TaskSubject {
    /// A question: its id is the task's.
    Question(QuestionId),
    /// A plan, and what is wanted of it: sealed, because nothing else says whose it is.
    Plan(Uuid, Goal),
}

impl TaskSubject {
    fn name(&self, call: &ToolCall<'_, impl CallerConnection>) -> Result<String, Stop> {
        match self {
            Self::Question(id) => Ok(id.to_string()),
            Self::Plan(..) => Ok(call.states.seal_task(self, &call.visitor.identity)?),
        }
    }

    /// Returns what a task of this caller is about.
    fn of(call: &ToolCall<'_, impl CallerConnection>, name: &str) -> Result<Self, Stop> {
        let question = name.parse().ok().map(Self::Question);
        let plan = || call.states.unseal_task(name, &call.visitor.identity);
        question.or_else(plan).ok_or_else(|| unknown(name).into())
    }

    /// Returns under which name it is remembered.
    fn note(&self) -> String {
        match self {
            Self::Question(id) => id.to_string(),
            Self::Plan(session, goal) => format!("{session} {}", goal.as_str()),
        }
    }
}

/// How a task stands at the desk.
struct Standing {
    /// What the task is about, in the order in which it was asked.
    questions: Vec<QuestionView>,
    begun: Timestamp,
    changed: Timestamp,
}

impl Standing {
    fn of(questions: Vec<QuestionView>, name: &str) -> Result<Self, Stop> {
        let begun = questions.iter().map(|question| question.asked).min();
        let ended =
            questions.iter().filter_map(|question| question.outcome.as_ref()).map(|ending| ending.time);
        let changed = ended.chain(questions.iter().map(|question| question.asked)).max();
        let (Some(begun), Some(changed)) = (begun, changed) else {
            return Err(unknown(name).into());
        };
        Ok(Self { questions, begun, changed })
    }

    fn open(&self) -> impl Iterator<Item = &QuestionView> {
        self.questions.iter().filter(|question| question.is_open())
    }
}

/// Returns what a client hears whose call has become a task.
pub(crate) fn begin(
    call: &ToolCall<'_, impl CallerConnection>,
    subject: TaskSubject,
    begun: Timestamp,
) -> Result<CallToolResponse, Stop> {
    // Whoever asks again waits again, whatever was called off before under the same name.
    call.memory.resume(&call.visitor.identity, &subject.note());
    Ok(CreateTaskResult::new(seed(subject.name(call)?, begun, begun)).into())
}

/// Returns how a task stands; with its result where it has one.
pub(crate) async fn get(
    call: &ToolCall<'_, impl CallerConnection>,
    name: &str,
) -> Result<GetTaskResult, Stop> {
    let subject = TaskSubject::of(call, name)?;
    let standing = own(call, subject, name).await?;
    let payload = if call.memory.is_stopped(&call.visitor.identity, &subject.note()) {
        TaskPayload::Cancelled
    } else if standing.open().next().is_some() {
        waiting(call, &standing).await
    } else {
        let result = match (subject, standing.questions.as_slice()) {
            (TaskSubject::Plan(session, goal), _) => plan::result(call, session, goal).await?,
            (TaskSubject::Question(_), [question]) => ask::result(call, question).await?,
            (TaskSubject::Question(_), _) => return Err(unknown(name).into()),
        };
        TaskPayload::Completed { result: object(&result)? }
    };
    let task = seed(name.to_owned(), standing.begun, standing.changed);
    Ok(GetTaskResult::new(DetailedTask::new(task, payload)))
}

/// Takes in what the client's user said in the forms of a task.
pub(crate) async fn update(call: &ToolCall<'_, impl CallerConnection>, name: &str) -> Result<(), Stop> {
    let standing = own(call, TaskSubject::of(call, name)?, name).await?;
    for question in standing.open() {
        let prompt = Prompt::of(question);
        let Some(said) = call.response(&prompt)? else { continue };
        if let Passed::Misfit(why) = call.pass_on(&prompt, said).await? {
            // The key was used: the same form does not come again.
            call.close(&prompt);
            let message = format!("inputResponses.{}: {why}; the question stays open", prompt.key);
            return Err(ErrorData::invalid_params(message, None).into());
        }
    }
    Ok(())
}

/// Stops waiting. The question stays: somebody else may need it, and `cancel_question` is how it is called off.
pub(crate) async fn cancel(call: &ToolCall<'_, impl CallerConnection>, name: &str) -> Result<(), Stop> {
    let subject = TaskSubject::of(call, name)?;
    if own(call, subject, name).await?.open().next().is_some() {
        call.memory.stop(&call.visitor.identity, &subject.note());
    }
    Ok(())
}

/// Returns how a task of this very caller stands; another's is unknown.
async fn own(
    call: &ToolCall<'_, impl CallerConnection>,
    subject: TaskSubject,
    name: &str,
) -> Result<Standing, Stop> {
    let hidden = |refusal: Refusal| match refusal.code.status() {
        403 | 404 => unknown(name).into(),
        _ => Stop::from(refusal),
    };
    let questions = match subject {
        TaskSubject::Question(id) => {
            let request = ApiRequest::<ShowQuestion>::get(OfQuestion { question: id }, Nothing {});
            let shown = call.visitor.ask(request).await.map_err(hidden)?;
            if !call.visitor.is_asker(&shown.asker) {
                return Err(unknown(name).into());
            }
            vec![shown]
        }
        TaskSubject::Plan(session, _) => plan::questions(call, session, None).await?,
    };
    Standing::of(questions, name)
}

/// Returns what an open task says: that it works, or with which forms it asks.
async fn waiting(call: &ToolCall<'_, impl CallerConnection>, standing: &Standing) -> TaskPayload {
    let Tier::Task(Some(modes)) = call.tier else { return TaskPayload::Working };
    let address = call.address().await;
    let prompts = standing.open().map(Prompt::of).filter(|prompt| call.may_show(prompt));
    let request = |prompt: Prompt| {
        let request = prompt.request(modes, address.as_deref())?;
        Some((prompt.key, InputRequest::Elicitation(ElicitRequest::new(request))))
    };
    let input_requests: InputRequests = prompts.filter_map(request).collect();
    if input_requests.is_empty() {
        TaskPayload::Working
    } else {
        TaskPayload::InputRequired { input_requests }
    }
}

fn seed(name: String, begun: Timestamp, changed: Timestamp) -> Task {
    // Without a clock nobody knows how long it has been: then the client looks as often as at first.
    let now = NewNames::open().map_or(begun, |names| names.now());
    let is_young = now.as_millis().saturating_sub(begun.as_millis()) < OFTEN_FOR_MS;
    Task::new(name, TaskStatus::Working, begun.to_string(), changed.to_string())
        .with_poll_interval_ms(if is_young { FIRST_POLL_MS } else { LATER_POLL_MS })
}

fn object(result: &CallToolResult) -> Result<rmcp::model::JsonObject, Stop> {
    match serde_json::to_value(result) {
        Ok(Value::Object(object)) => Ok(object),
        _ => Err(ErrorData::internal_error("expected the result of a tool", None).into()),
    }
}

fn unknown(id: &str) -> ErrorData {
    let shown: String = id.chars().take(64).collect();
    ErrorData::invalid_params(format!("expected a task of yours, found none called {shown:?}"), None)
}

/// How long a task is looked at often, in milliseconds.
const OFTEN_FOR_MS: u64 = 5 * 60 * 1_000;
/// How often it is looked at in the beginning, and how often then, in milliseconds.
const FIRST_POLL_MS: u64 = 2_000;
const LATER_POLL_MS: u64 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_young_task_is_looked_at_more_often_than_an_old_one() {
        let now = NewNames::open().unwrap().now();
        let before = |millis| Timestamp::from_millis(now.as_millis() - millis).unwrap();
        let pace = |begun| seed("a task".to_owned(), begun, begun).poll_interval_ms;
        assert_eq!((pace(before(0)), pace(before(OFTEN_FOR_MS))), (Some(FIRST_POLL_MS), Some(LATER_POLL_MS)));
    }
}
