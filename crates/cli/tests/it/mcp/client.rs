//! A client of `demur mcp`: a process with two pipes, one JSON message a line.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A client with a bridge of its own.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// What every request says, in the way of 2026-07-28.
    meta: Value,
    number: u64,
}

impl Client {
    /// Starts the bridge for a client of 2026-07-28 with these capabilities.
    pub(crate) fn modern(sandbox: &Sandbox, arguments: &[&str], capabilities: &Value) -> Self {
        let mut client = Self::start(sandbox, arguments);
        client.meta = meta("desktop", capabilities);
        client
    }

    /// Starts the bridge for such a client in a program of its own: bridges that the test starts itself are all one client's.
    pub(crate) fn apart(sandbox: &Sandbox, arguments: &[&str], capabilities: &Value) -> Self {
        let bridge = sandbox.command(&[&["mcp"], arguments].concat());
        let mut program = Command::new("/bin/sh");
        program.env_clear();
        // It waits for the bridge instead of becoming it.
        program.args(["-c", "\"$0\" \"$@\"; exit $?"]).arg(bridge.get_program()).args(bridge.get_args());
        for (name, value) in bridge.get_envs() {
            match value {
                Some(value) => program.env(name, value),
                None => program.env_remove(name),
            };
        }
        if let Some(folder) = bridge.get_current_dir() {
            program.current_dir(folder);
        }
        let mut client = Self::spawn(program);
        client.meta = meta("desktop", capabilities);
        client
    }

    /// Returns the client under another name.
    pub(crate) fn named(mut self, name: &str) -> Self {
        self.meta["io.modelcontextprotocol/clientInfo"]["name"] = json!(name);
        self
    }

    /// Starts the bridge for a client of an earlier revision, introduced.
    pub(crate) fn legacy(sandbox: &Sandbox, arguments: &[&str], version: &str, capabilities: &Value) -> Self {
        let mut client = Self::start(sandbox, arguments);
        let info = json!({"name": "desktop", "version": "1"});
        let params = json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": info});
        let reply = client.request("initialize", params);
        assert_eq!(reply["result"]["protocolVersion"], version, "{reply}");
        client.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    /// Starts the bridge as a session of Claude Code does that shows forms. It is there when this returns: until then a hook
    /// takes the session for one without a bridge.
    pub(crate) fn of_session(sandbox: &Sandbox, arguments: &[&str], session: &str) -> Self {
        let mut command = sandbox.command(&[&["mcp"], arguments].concat());
        command.env("CLAUDE_CODE_SESSION_ID", session);
        let mut client = Self::spawn(command);
        client.meta = meta("claude-code", &json!({"elicitation": {}}));
        let listed = client.request("tools/list", json!({}));
        assert!(listed["result"]["tools"].is_array(), "{listed}");
        client
    }

    /// Starts the bridge for a client that has not said anything yet.
    pub(crate) fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        Self::spawn(sandbox.command(&[&["mcp"], arguments].concat()))
    }

    fn spawn(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let (sender, messages) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line}"));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self { child, input, messages, meta: Value::Null, number: 0 }
    }

    pub(crate) fn write(&mut self, message: &Value) {
        self.write_bytes(format!("{message}\n").as_bytes());
    }

    pub(crate) fn write_bytes(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// Returns how much memory the bridge has had at most, in KiB.
    pub(crate) fn peak_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Sends a request and returns its number.
    pub(crate) fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.number += 1;
        if !self.meta.is_null() {
            params["_meta"] = self.meta.clone();
        }
        self.write(&json!({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}));
        self.number
    }

    pub(crate) fn next(&mut self) -> Value {
        self.messages.recv_timeout(Duration::from_mins(1)).expect("the bridge answers")
    }

    /// Returns the reply to a request, whatever else comes before it.
    pub(crate) fn reply(&mut self, number: u64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == number && message["method"].is_null() {
                return message;
            }
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let number = self.send(method, params);
        self.reply(number)
    }

    /// Calls a tool and returns what comes back.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let reply = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(reply["error"].is_null(), "{reply}");
        reply["result"].clone()
    }

    /// Calls a tool once more with what was missing.
    pub(crate) fn again(
        &mut self,
        tool: &str,
        arguments: &Value,
        before: &Value,
        answer: impl Fn(&str) -> Value,
    ) -> Value {
        let needs = before["inputRequests"].as_object().unwrap_or_else(|| panic!("{before}"));
        let accept =
            |key: &String| (key.clone(), json!({"action": "accept", "content": {"answer": answer(key)}}));
        let responses: serde_json::Map<_, _> = needs.keys().map(accept).collect();
        let params = json!({
            "name": tool, "arguments": arguments, "requestState": before["requestState"], "inputResponses": responses,
        });
        self.request("tools/call", params)["result"].clone()
    }

    /// Hangs up and returns how the bridge ended.
    pub(crate) fn hang_up(mut self) -> Option<i32> {
        drop(self.input.take());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns what every request of a client of 2026-07-28 says.
pub(crate) fn meta(name: &str, capabilities: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": name, "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}
