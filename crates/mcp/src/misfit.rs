//! What does not have the shape of any request: the client hears what is wrong with it in the protocol's own error.

use rmcp::{
    ErrorData,
    model::{
        CallToolRequestParams, CustomRequest, ErrorCode, GetPromptRequestParams, ReadResourceRequestParams,
    },
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::arguments::{Misfit, fit};

/// Returns what is wrong with a request, which the library hands on as it came.
pub(crate) fn told(request: CustomRequest) -> ErrorData {
    let params = request.params.unwrap_or_default();
    let why = match request.method.as_str() {
        "tools/call" => why::<CallToolRequestParams>(params),
        "prompts/get" => why::<GetPromptRequestParams>(params),
        "resources/read" => why::<ReadResourceRequestParams>(params),
        _ => return unknown(&request.method),
    };
    ErrorData::invalid_params(format!("params of {}: {why}", request.method), None)
}

fn why<T: DeserializeOwned>(params: Value) -> String {
    match fit::<T>(params) {
        Err(Misfit { member: Some(member), why }) => format!("{member}: {why}"),
        Err(Misfit { member: None, why }) => why,
        Ok(_) => "they do not fit the schema".to_owned(),
    }
}

fn unknown(method: &str) -> ErrorData {
    let shown: String = method.chars().take(64).collect();
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("unknown method {shown:?}"), None)
}
