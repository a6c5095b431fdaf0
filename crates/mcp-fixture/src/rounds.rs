//! Calls in several rounds (`input_required`), the state between them sealed.

use std::{collections::BTreeMap, time::Duration};

use rmcp::{
    ErrorData,
    model::{
        ClientCapabilities, InputRequests, InputRequiredResult, InputResponses, RequestStateCodec,
        SealOptions,
    },
};
use serde::Deserialize;
use serde_json::Value;

use crate::live;

/// What has to be answered before a tool or a prompt is done.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rounds {
    /// Whether there is a state between the rounds.
    stateful: bool,
    /// What stands before the answers.
    done: String,
    asks: Vec<BTreeMap<String, Value>>,
}

/// Where a call stands.
pub(crate) enum Step {
    /// The next answers are needed.
    Ask(InputRequiredResult),
    /// Everything was answered.
    Done(String),
}

/// What came with a call.
pub(crate) struct Call<'a> {
    pub(crate) name: &'a str,
    pub(crate) responses: Option<&'a InputResponses>,
    pub(crate) state: Option<&'a str>,
    pub(crate) capabilities: &'a ClientCapabilities,
}

impl Rounds {
    /// Returns what to say to a call.
    pub(crate) fn step(&self, call: &Call<'_>, codec: &RequestStateCodec) -> Result<Step, ErrorData> {
        let round = match call.state {
            Some(state) => open(codec, state, call.name)?,
            None => 0,
        };
        let Some(requests) = self.asks.get(round) else {
            return Err(ErrorData::invalid_params("there is no such round", None));
        };
        match call.responses {
            Some(responses)
                if requests.iter().all(|(key, request)| is_answered(request, responses.get(key))) =>
            {
                match self.asks.get(round + 1) {
                    Some(next) => self.ask(next, round + 1, call, codec),
                    None => Ok(Step::Done(self.sentence(requests, responses))),
                }
            }
            _ => self.ask(requests, round, call, codec),
        }
    }

    fn ask(
        &self,
        requests: &BTreeMap<String, Value>,
        round: usize,
        call: &Call<'_>,
        codec: &RequestStateCodec,
    ) -> Result<Step, ErrorData> {
        let can = |request: &Value| match request["method"].as_str() {
            Some("elicitation/create") => call.capabilities.elicitation.is_some(),
            Some("sampling/createMessage") => call.capabilities.sampling.is_some(),
            _ => call.capabilities.roots.is_some(),
        };
        let wanted = requests.iter().filter(|(_, request)| can(request));
        let wanted = wanted.map(|(key, request)| (key.clone(), request.clone())).collect();
        let requests: InputRequests = live::from(Value::Object(wanted))?;
        let sealed = self.stateful.then(|| {
            let options = SealOptions::new().associated_data(call.name.as_bytes()).ttl(LIFETIME);
            codec.seal_with(round.to_string().as_bytes(), &options)
        });
        Ok(Step::Ask(InputRequiredResult::new(Some(requests), sealed)))
    }

    fn sentence(&self, requests: &BTreeMap<String, Value>, responses: &InputResponses) -> String {
        let answers = responses.iter().filter(|(key, _)| requests.contains_key(*key));
        let answers: Vec<String> = answers.map(|(_, answer)| answer.to_string()).collect();
        format!("{} {}", self.done, answers.join(" "))
    }
}

/// Returns the round that the state speaks of.
fn open(codec: &RequestStateCodec, state: &str, name: &str) -> Result<usize, ErrorData> {
    let opened = codec.open_with(state, name.as_bytes());
    let round = opened.ok().and_then(|bytes| String::from_utf8(bytes).ok()?.parse().ok());
    round
        .ok_or_else(|| ErrorData::invalid_params("the request state was not made here, or has expired", None))
}

/// Returns whether a response has the shape that its request asks for.
fn is_answered(request: &Value, response: Option<&Value>) -> bool {
    let Some(response) = response else { return false };
    match request["method"].as_str() {
        Some("elicitation/create") => {
            let schema = &request["params"]["requestedSchema"];
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            response["action"] == "accept"
                && required
                    .into_iter()
                    .all(|name| fits(&schema["properties"][name]["type"], &response["content"][name]))
        }
        Some("sampling/createMessage") => response["content"].is_object(),
        _ => response["roots"].is_array(),
    }
}

fn fits(kind: &Value, value: &Value) -> bool {
    match kind.as_str() {
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        _ => !value.is_null(),
    }
}

const LIFETIME: Duration = Duration::from_mins(10);
