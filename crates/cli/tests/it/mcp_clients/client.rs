//! A client that nobody here wrote, in a process of its own, moved by lines (`conformance/mcp/client.py` says which).

use std::{
    collections::VecDeque,
    fmt,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use demur_mcp_fixture::variable;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// Whose SDK it stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    TypeScript,
}

/// How it reaches the desk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    Stdio,
    Http,
}

/// What it can do, and so how its user is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tier {
    /// 2026-07-28: what is needed comes back, and the call goes out again with it.
    Rounds,
    /// 2025-11-25: it is asked in the middle of the call.
    Elicits,
    /// It cannot ask its user anything.
    Told,
    /// In the revision that its SDK and the server agree on.
    Agreed,
}

/// One way to be a client.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    pub(super) language: Language,
    pub(super) transport: Transport,
    pub(super) tier: Tier,
}

impl Kind {
    /// Returns every way there is.
    pub(super) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for language in [Language::Python, Language::TypeScript] {
            for transport in [Transport::Stdio, Transport::Http] {
                for tier in [Tier::Rounds, Tier::Elicits, Tier::Told] {
                    all.push(Self { language, transport, tier });
                }
            }
        }
        all
    }

    /// Returns how such a client calls itself.
    pub(super) fn name(self) -> String {
        self.to_string().to_lowercase()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}-{:?}-{:?}", self.language, self.transport, self.tier)
    }
}

/// A client that runs, and hangs up with this value.
pub(super) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<String>,
    /// What was read while something else was waited for.
    kept: VecDeque<Value>,
    calls: u64,
    /// The version of the protocol that was agreed on.
    pub(super) version: String,
}

impl Client {
    /// Starts a client that wants these sets of tools, beside the usual ones, and returns once it is connected.
    pub(super) fn start(sandbox: &Sandbox, kind: Kind, tools: &str) -> Self {
        let server = match kind.transport {
            Transport::Stdio => stdio(sandbox, tools),
            Transport::Http => http(sandbox, &kind.name(), tools),
        };
        Self::connect(kind, &server)
    }

    /// Starts a client of a server that is told as the program takes it.
    pub(super) fn connect(kind: Kind, server: &Value) -> Self {
        let (interpreter, program) = match kind.language {
            Language::Python => ("DEMUR_MCP_PYTHON", "client.py"),
            Language::TypeScript => ("DEMUR_MCP_NODE", "client.mjs"),
        };
        let tier = match kind.tier {
            Tier::Rounds => "modern",
            Tier::Elicits => "elicitation",
            Tier::Told => "plain",
            Tier::Agreed => "auto",
        };
        let config = json!({"server": server, "tier": tier, "name": kind.name()});
        let mut child = Command::new(variable(interpreter))
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/mcp").join(program))
            .arg(config.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let (lines, output) = mpsc::channel();
        let reader = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in reader.lines().map_while(Result::ok) {
                let _ = lines.send(line);
            }
        });
        let mut client =
            Self { child, input, output, kept: VecDeque::new(), calls: 0, version: String::new() };
        let ready = client.read();
        let version = ready["ready"].as_str();
        version.unwrap_or_else(|| panic!("{kind}: {ready}")).clone_into(&mut client.version);
        client
    }

    /// Begins something and returns its number.
    pub(super) fn begin(&mut self, what: &str, details: &Value) -> u64 {
        self.calls += 1;
        let mut line = json!({"id": self.calls, "do": what});
        line.as_object_mut().unwrap().extend(details.as_object().unwrap().clone());
        self.write(&line);
        self.calls
    }

    /// Begins the call of a tool.
    pub(super) fn begin_call(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.begin("call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Says what the user says to a form.
    pub(super) fn answer(&mut self, number: &Value, result: &Value) {
        self.write(&json!({"answer": number, "result": result}));
    }

    /// Returns the next line of this kind: `elicit`, `withdrawn` or `progress`.
    pub(super) fn next(&mut self, kind: &str) -> Value {
        self.find(|line| line.get(kind).is_some())
    }

    /// Returns how something ended; whatever form comes up meanwhile is filled in by `user`.
    pub(super) fn end(&mut self, id: u64, user: impl Fn(&Value) -> Value) -> Value {
        loop {
            let line = self.find(|line| line["id"] == id || line.get("elicit").is_some());
            match line.get("elicit") {
                Some(number) => self.answer(number, &user(&line["request"])),
                None => return line,
            }
        }
    }

    /// Returns what something brought that has to succeed.
    pub(super) fn get(&mut self, what: &str, details: &Value) -> Value {
        let id = self.begin(what, details);
        let mut line = self.end(id, nobody);
        assert!(line["result"].is_object(), "{what}: {line}");
        line["result"].take()
    }

    /// Returns the result of a tool whose forms `user` fills in.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value, user: impl Fn(&Value) -> Value) -> Value {
        let id = self.begin_call(tool, arguments);
        let mut line = self.end(id, user);
        assert!(line["result"].is_object(), "{tool}: {line}");
        line["result"].take()
    }

    fn find(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.kept.iter().position(&is_wanted) {
            return self.kept.remove(at).unwrap();
        }
        loop {
            let line = self.read();
            if is_wanted(&line) {
                return line;
            }
            self.kept.push_back(line);
        }
    }

    fn read(&mut self) -> Value {
        let line = self.output.recv_timeout(PATIENCE);
        let line =
            line.unwrap_or_else(|error| panic!("the client says nothing ({error}); before: {:?}", self.kept));
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("the client said {line:?}"))
    }

    fn write(&mut self, line: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.input.take());
        // What it started ends with its input; whatever a test left unanswered must not hold it up.
        if thread::panicking() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// Says what a user says who fills in a form with this.
pub(super) fn accept(answer: &Value) -> Value {
    json!({"action": "accept", "content": {"answer": answer}})
}

/// Fails: nobody was to be asked.
pub(super) fn nobody(request: &Value) -> Value {
    panic!("nobody was to be asked, but: {request}")
}

/// Returns `demur mcp` in a sandbox with these sets of tools, as the programs take it.
pub(super) fn stdio(sandbox: &Sandbox, tools: &str) -> Value {
    let command = sandbox.command(&[]);
    let program = command.get_program().to_str().unwrap();
    let words = if tools.is_empty() { vec![program, "mcp"] } else { vec![program, "mcp", "--tools", tools] };
    json!({
        "command": words,
        "env": {"DEMUR_DATA": sandbox.data(), "HOME": sandbox.path("home"), "TMPDIR": sandbox.path("")},
    })
}

/// Returns `/mcp` of the server of a sandbox with a token of its own, as the programs take it.
pub(super) fn http(sandbox: &Sandbox, name: &str, tools: &str) -> Value {
    let made = sandbox.json(&["token", "new", name, "--scope", "ask", "--scope", "relay", "--for-anyone"]);
    let address = sandbox.json(&["status"])["address"].as_str().unwrap().to_owned();
    let query = if tools.is_empty() { String::new() } else { format!("?tools={tools}") };
    json!({"url": format!("{address}/mcp{query}"), "token": made["secret"]})
}

/// How long a client may say nothing: longer than any call takes.
const PATIENCE: Duration = Duration::from_secs(75);
