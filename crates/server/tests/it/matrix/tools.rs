//! The same things through `/mcp`: what each tool says to each kind of caller.

use serde_json::{Value, json};

use super::{cell::Caller, rows::tools::Tool};

impl Caller<'_> {
    /// Returns what comes of the call of a tool.
    pub(super) fn told(&self, tool: &Tool) -> Value {
        let arguments: Value = serde_json::from_str(&self.fill(&tool.arguments.to_string())).unwrap();
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientInfo": {"name": super::callers::CLIENT, "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({"name": tool.name, "arguments": arguments, "_meta": meta});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let call = self.credential().call(self.server, "POST", "/mcp?tools=all");
        let call = call
            .header("Accept", "application/json, text/event-stream")
            .header("MCP-Protocol-Version", VERSION)
            .header("Mcp-Method", "tools/call")
            .header("Mcp-Name", tool.name)
            .json(&message);
        let reply = call.send();
        if reply.header("content-type") == Some("application/problem+json") {
            return json!({"status": reply.status, "code": reply.code()});
        }
        let told = reply.json();
        if let Some(error) = told.get("error") {
            return json!({"status": reply.status, "error": error["code"]});
        }
        let result = &told["result"];
        let is_error = result["isError"] == true;
        let words = result["content"][0]["text"].as_str().unwrap_or_default();
        // A refusal of the desk says its code first.
        let is_code = |word: &&str| word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        let code = words.split([':', ' ']).next().filter(|_| is_error).filter(is_code);
        let document = super::cell::steady(result["structuredContent"].clone());
        self.hide(&json!({"is_error": is_error, "code": code, "document": document}))
    }
}

const VERSION: &str = "2026-07-28";
