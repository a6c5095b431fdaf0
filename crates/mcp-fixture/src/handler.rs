//! The server's side of the protocol.
#![expect(deprecated, reason = "2025-11-25 has subscriptions and log levels, and its suite asks for them")]

use std::sync::Arc;

use anyhow::{Context as _, Result};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
        CompletionInfo, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation,
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
        RequestStateCodec, ResourceContents, ServerConfig, SetLevelRequestMethod, SetLevelRequestParams,
        SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
    },
    service::{RequestContext, SubscriptionContext},
};
use serde_json::{Value, json};
use tokio::sync::broadcast;

use crate::{
    catalog::Catalog,
    live::{self, capabilities, from, said},
    rounds::{Call, Step},
};

/// One server for all connections.
#[derive(Clone)]
pub(crate) struct Fixture {
    catalog: Arc<Catalog>,
    codec: Arc<RequestStateCodec>,
    changes: broadcast::Sender<Change>,
}

/// What those who listen are told.
#[derive(Debug, Clone, Copy)]
enum Change {
    Tools,
    Prompts,
}

impl Fixture {
    /// Returns the server with everything in the catalog.
    pub(crate) fn load() -> Result<Self> {
        let catalog = Catalog::read().context("the catalog cannot be read")?;
        let codec = RequestStateCodec::try_new(b"a key that guards nothing but tests")?;
        Ok(Self { catalog: Arc::new(catalog), codec: Arc::new(codec), changes: broadcast::channel(16).0 })
    }

    async fn call(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let argument = |name: &str| request.arguments.as_ref().and_then(|arguments| arguments.get(name));
        if let Some(result) = self.catalog.results.get(&*request.name) {
            return Ok(result.clone());
        }
        if let Some(elicitation) = self.catalog.elicitations.get(&*request.name) {
            return live::elicit(context, elicitation, argument("message")).await;
        }
        match &*request.name {
            "test_sampling" => live::sample(context, argument("prompt").unwrap_or(&Value::Null)).await,
            "test_tool_with_progress" => live::progress(context).await,
            "test_tool_with_logging" | "test_logging_tool" => live::log(context).await,
            "test_missing_capability" => live::needs_sampling(&capabilities(context)),
            "test_trigger_tool_change" => Ok(self.tell(Change::Tools)),
            "test_trigger_prompt_change" => Ok(self.tell(Change::Prompts)),
            unknown => Err(ErrorData::invalid_params(format!("there is no tool `{unknown}`"), None)),
        }
    }

    fn prompt(&self, request: &GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
        let Some(messages) = self.catalog.messages.get(&request.name) else {
            return Err(ErrorData::invalid_params(format!("there is no prompt `{}`", request.name), None));
        };
        let mut text = messages.to_string();
        for (name, value) in request.arguments.iter().flatten() {
            text = text.replace(&format!("{{{name}}}"), value.as_str().unwrap_or_default());
        }
        serde_json::from_str(&text).map_err(|error| live::internal(&error))
    }

    fn content(&self, uri: &str) -> Result<ResourceContents, ErrorData> {
        if let Some(contents) = self.catalog.contents.get(uri) {
            return Ok(contents.clone());
        }
        let Some(id) = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"))
        else {
            return Err(ErrorData::resource_not_found("Resource not found", Some(json!({"uri": uri}))));
        };
        let text = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")}).to_string();
        from(json!({"uri": uri, "mimeType": "application/json", "text": text}))
    }

    fn tell(&self, change: Change) -> CallToolResult {
        let listeners = self.changes.send(change).unwrap_or_default();
        said(&format!("{listeners} were told."))
    }
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(self.catalog.capabilities.clone())
            .with_server_info(Implementation::new("demur-mcp-fixture", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.catalog.tools.clone()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.catalog.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(rounds) = self.catalog.rounds.get(&*request.name) else {
            return self.call(&request, &context).await.map(Into::into);
        };
        let (responses, state) = (request.input_responses.as_ref(), request.request_state.as_deref());
        let call = Call { name: &request.name, responses, state, capabilities: &capabilities(&context) };
        Ok(match rounds.step(&call, &self.codec)? {
            Step::Ask(needed) => needed.into(),
            Step::Done(sentence) => said(&sentence).into(),
        })
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(self.catalog.prompts.clone()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let Some(rounds) = self.catalog.prompt_rounds.get(&request.name) else {
            return self.prompt(&request).map(Into::into);
        };
        let (responses, state) = (request.input_responses.as_ref(), request.request_state.as_deref());
        let call = Call { name: &request.name, responses, state, capabilities: &capabilities(&context) };
        Ok(match rounds.step(&call, &self.codec)? {
            Step::Ask(needed) => needed.into(),
            Step::Done(text) => {
                let message = json!({"role": "user", "content": {"type": "text", "text": text}});
                from::<GetPromptResult>(json!({"resultType": "complete", "messages": [message]}))?.into()
            }
        })
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(self.catalog.resources.clone()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(self.catalog.templates.clone()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(ReadResourceResult::new(vec![self.content(&request.uri)?]).into())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let info = CompletionInfo::new(vec!["paris".to_owned()]);
        info.map(CompleteResult::new).map_err(|error| ErrorData::internal_error(error, None))
    }

    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if live::is_stateless(&context.meta) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        Ok(())
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.catalog.capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes.subscribe();
        loop {
            let change = tokio::select! {
                change = changes.recv() => change,
                () = context.cancelled() => return Ok(()),
            };
            let Ok(change) = change else { continue };
            // Whoever did not ask for this kind is told nothing: the sink refuses it.
            drop(match change {
                Change::Tools => context.sink().notify_tool_list_changed().await,
                Change::Prompts => context.sink().notify_prompt_list_changed().await,
            });
        }
    }
}
