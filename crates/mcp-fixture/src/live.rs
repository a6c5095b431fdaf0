//! What happens while a call runs: progress, log messages, questions to the client, and notices to those who listen.
#![expect(deprecated, reason = "2025-11-25 has sampling and log messages, and its suite asks for them")]

use std::fmt::Display;

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolResult, ClientCapabilities, ClientResult, ContentBlock, CreateMessageRequest, ElicitRequest,
        LoggingLevel, ProgressNotificationParam, RequestMetaObject, ServerRequest,
    },
    service::RequestContext,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::catalog::Elicitation;

/// Sends three notices of progress, if the caller wants them.
pub(crate) async fn progress(context: &RequestContext<RoleServer>) -> Result<CallToolResult, ErrorData> {
    if let Some(token) = context.meta.get_progress_token() {
        for done in [0.0, 50.0, 100.0] {
            let notice = ProgressNotificationParam::new(token.clone(), done).with_total(100.0);
            context.peer.notify_progress(notice).await.map_err(|error| internal(&error))?;
        }
    }
    Ok(said("Progress was reported."))
}

/// Sends three log messages, if the caller takes them: since 2026-07-28 it has to say so with each request.
pub(crate) async fn log(context: &RequestContext<RoleServer>) -> Result<CallToolResult, ErrorData> {
    let wants = context
        .meta
        .log_level()
        .is_some_and(|level| matches!(level, LoggingLevel::Debug | LoggingLevel::Info));
    if wants || !is_stateless(&context.meta) {
        for text in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
            let message = from(json!({"level": "info", "data": text}))?;
            context.peer.notify_logging_message(message).await.map_err(|error| internal(&error))?;
        }
    }
    Ok(said("It was logged."))
}

/// Has the client ask its model.
pub(crate) async fn sample(
    context: &RequestContext<RoleServer>,
    prompt: &Value,
) -> Result<CallToolResult, ErrorData> {
    let messages = json!([{"role": "user", "content": {"type": "text", "text": prompt}}]);
    let request = CreateMessageRequest::new(from(json!({"messages": messages, "maxTokens": 100}))?);
    let sent = context.peer.send_request(ServerRequest::CreateMessageRequest(request)).await;
    let ClientResult::CreateMessageResult(result) = sent.map_err(|error| internal(&error))? else {
        return Err(unexpected());
    };
    let result = serde_json::to_value(&*result).map_err(|error| internal(&error))?;
    Ok(said(&format!("LLM response: {}", result["content"]["text"].as_str().unwrap_or_default())))
}

/// Has the client ask its person.
pub(crate) async fn elicit(
    context: &RequestContext<RoleServer>,
    elicitation: &Elicitation,
    message: Option<&Value>,
) -> Result<CallToolResult, ErrorData> {
    let mut request = elicitation.request.clone();
    if let Some(message) = message {
        request["message"] = message.clone();
    }
    let request = ElicitRequest::new(from(request)?);
    let sent = context.peer.send_request(ServerRequest::ElicitRequest(request)).await;
    let ClientResult::ElicitResult(result) = sent.map_err(|error| internal(&error))? else {
        return Err(unexpected());
    };
    let result = serde_json::to_value(&result).map_err(|error| internal(&error))?;
    let action = result["action"].as_str().unwrap_or_default();
    Ok(said(&format!("{} action={action}, content={}", elicitation.said, result["content"])))
}

/// Refuses a caller that did not declare sampling.
pub(crate) fn needs_sampling(capabilities: &ClientCapabilities) -> Result<CallToolResult, ErrorData> {
    if capabilities.sampling.is_some() {
        return Ok(said("Sampling was declared."));
    }
    Err(ErrorData::missing_required_client_capability(from(json!({"sampling": {}}))?))
}

/// Returns a result of one text.
pub(crate) fn said(text: &str) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// Returns the capabilities that came with the request, or with the handshake.
pub(crate) fn capabilities(context: &RequestContext<RoleServer>) -> ClientCapabilities {
    context.client_capabilities().unwrap_or_default()
}

/// Returns whether the caller takes part in the stateless lifecycle.
pub(crate) fn is_stateless(meta: &RequestMetaObject) -> bool {
    meta.protocol_version().is_some()
}

/// Returns a document as a type of the protocol.
pub(crate) fn from<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| internal(&error))
}

/// Returns the error for what cannot go wrong, or is the client's doing.
pub(crate) fn internal(error: &dyn Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn unexpected() -> ErrorData {
    ErrorData::internal_error("the client answered something else", None)
}
