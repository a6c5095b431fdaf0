//! What is no message of the protocol, and what its sender hears: one error, under the id of the message where that can be
//! read.

use std::fmt;

use rmcp::{
    ErrorData,
    model::{ClientJsonRpcMessage, ErrorCode, RequestId},
};
use serde_json::{Value, json};

/// Why something is no message.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    id: Option<Value>,
    error: ErrorData,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.error.message)
    }
}

impl Fault {
    /// Returns the fault of a message that is longer than `longest` bytes, from how it begins.
    pub fn too_long(beginning: &[u8], longest: usize) -> Self {
        let words = format!("expected a message of at most {longest} bytes, found a longer one");
        Self { id: id_in(beginning), error: ErrorData::invalid_request(words, None) }
    }

    /// Returns the fault of a request whose id is that of another which has no reply yet.
    pub(crate) fn under_way(id: &RequestId) -> Self {
        Self::invalid(
            Some(json!(id)),
            "expected an id of its own for each request, found one without a reply yet",
        )
    }

    /// Returns the fault of a request that comes while as many are under way as there may be.
    pub(crate) fn too_many(id: &RequestId, requests: usize, bytes: usize) -> Self {
        let words = format!(
            "expected at most {requests} requests at once, of {bytes} bytes together, found more; send it again when \
             others have their replies"
        );
        Self { id: Some(json!(id)), error: ErrorData::new(TOO_MANY, words, None) }
    }

    fn invalid(id: Option<Value>, words: impl Into<String>) -> Self {
        Self { id, error: ErrorData::invalid_request(words.into(), None) }
    }

    /// Returns what its sender hears. An id that cannot be read is null, as JSON-RPC wants it.
    pub fn reply(&self) -> Value {
        json!({"jsonrpc": "2.0", "id": self.id, "error": self.error})
    }
}

/// Returns the message in these bytes; none if there is nothing to do and nobody to tell: an empty line, and a
/// notification that fits nothing.
pub fn read(bytes: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Fault> {
    let bytes = bytes.strip_prefix(MARK).unwrap_or(bytes).trim_ascii();
    if bytes.is_empty() {
        return Ok(None);
    }
    if depth(bytes) > MAX_DEPTH {
        let words = format!("expected at most {MAX_DEPTH} levels of lists and objects, found more");
        return Err(Fault::invalid(id_in(&bytes[..bytes.len().min(SEARCHED_BYTES)]), words));
    }
    match serde_json::from_slice(bytes) {
        Ok(message) => Ok(Some(message)),
        Err(_) => diagnose(bytes).map_or(Ok(None), Err),
    }
}

/// Returns the reply to bytes over HTTP that are no message. There the protocol leaves an id out that cannot be read.
pub fn no_message(bytes: &[u8]) -> Value {
    let fault = read(bytes).err().or_else(|| diagnose(bytes));
    let fault = fault.unwrap_or_else(|| Fault::invalid(None, NO_MESSAGE));
    let mut reply = fault.reply();
    if let Some(reply) = reply.as_object_mut().filter(|_| fault.id.is_none()) {
        reply.remove("id");
    }
    reply
}

/// Returns what is wrong with bytes that are no message; none where nobody may be told.
fn diagnose(bytes: &[u8]) -> Option<Fault> {
    let value: Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(error) => {
            let error = ErrorData::parse_error(format!("expected JSON: {error}"), None);
            return Some(Fault { id: None, error });
        }
    };
    let Some(message) = value.as_object() else { return Some(Fault::invalid(None, NO_MESSAGE)) };
    let given = message.get("id");
    let id = given.filter(|id| id.is_number() || id.is_string()).filter(|id| is_short(id)).cloned();
    if message.get("jsonrpc").is_none_or(|version| version != "2.0") {
        // An error about our error would go back and forth for ever.
        let is_error = message.contains_key("error") && !message.contains_key("method");
        return (!is_error).then(|| Fault::invalid(id, "expected the member \"jsonrpc\" to be \"2.0\""));
    }
    match message.get("method") {
        Some(Value::String(_)) if given.is_none() => None,
        Some(Value::String(_)) => {
            Some(Fault::invalid(id, "expected the member \"id\" to be a whole number or a text"))
        }
        Some(_) => Some(Fault::invalid(id, "expected the member \"method\" to be a text")),
        None if message.contains_key("error") => None,
        None => Some(Fault::invalid(id, NO_MESSAGE)),
    }
}

/// Returns whether an id is short enough to be sent back.
fn is_short(id: &Value) -> bool {
    id.as_str().is_none_or(|text| text.len() <= SEARCHED_BYTES)
}

/// Returns how deep lists and objects lie in each other.
fn depth(bytes: &[u8]) -> usize {
    let (mut deepest, mut depth, mut at) = (0, 0_usize, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let Some(end) = text_end(bytes, at) else { break };
                at = end;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
        at += 1;
    }
    deepest
}

/// Returns the id of a message of which only the beginning is there.
fn id_in(beginning: &[u8]) -> Option<Value> {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = beginning.get(at) {
        match byte {
            b'"' => {
                let end = text_end(beginning, at)?;
                let colon = spaces_end(beginning, end);
                let is_id = depth == 1 && &beginning[at..end] == b"\"id\"";
                if is_id && beginning.get(colon) == Some(&b':') {
                    return simple(&beginning[spaces_end(beginning, colon + 1)..]);
                }
                at = end;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns the text or number at the beginning, if all of it is there.
fn simple(bytes: &[u8]) -> Option<Value> {
    let end = match bytes.first()? {
        b'"' => text_end(bytes, 0)?,
        b'-' | b'0'..=b'9' => bytes.iter().position(|byte| !b"+-.0123456789eE".contains(byte))?,
        _ => return None,
    };
    serde_json::from_slice(&bytes[..end]).ok()
}

/// Returns where a text ends that begins at this quotation mark.
fn text_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn spaces_end(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// The first of the codes that JSON-RPC leaves to servers.
const TOO_MANY: ErrorCode = ErrorCode(-32000);
/// What programs on some systems put before a text.
const MARK: &[u8] = b"\xEF\xBB\xBF";
/// How deep lists and objects may lie in each other: as deep as they can be read.
const MAX_DEPTH: usize = 127;
/// Where the id of a message is looked for that cannot be read.
const SEARCHED_BYTES: usize = 4 << 10;
const NO_MESSAGE: &str = "expected one JSON-RPC message with the member \"method\"";

#[cfg(test)]
mod tests {
    use super::*;

    fn told(bytes: &str) -> Option<(i64, Value)> {
        let reply = read(bytes.as_bytes()).err()?.reply();
        Some((reply["error"]["code"].as_i64().unwrap(), reply["id"].clone()))
    }

    #[test]
    fn whatever_is_no_message_gets_its_code_and_its_id() {
        let deep = |levels: usize| {
            let (open, close) = ("[".repeat(levels), "]".repeat(levels));
            format!(r#"{{"jsonrpc":"2.0","id":"deep","method":"x","params":{{"a":{open}{close}}}}}"#)
        };
        for (line, code, id) in [
            ("{", -32700, Value::Null),
            (r#"{"jsonrpc":"2.0","id":3,"method":"ping"#, -32700, Value::Null),
            ("[]", -32600, Value::Null),
            (r#""words""#, -32600, Value::Null),
            (r#"{"jsonrpc":"2.0","id":4}"#, -32600, json!(4)),
            (r#"{"jsonrpc":"1.0","id":5,"method":"ping"}"#, -32600, json!(5)),
            (r#"{"id":"six","method":"ping"}"#, -32600, json!("six")),
            (r#"{"jsonrpc":"2.0","id":7,"method":8}"#, -32600, json!(7)),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, json!(1.5)),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, Value::Null),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600, Value::Null),
            (&deep(126), -32600, json!("deep")),
            (&deep(100_000), -32600, json!("deep")),
        ] {
            assert_eq!(told(line), Some((code, id)), "{line:.80}");
        }
        assert!(read(deep(125).as_bytes()).unwrap().is_some());
    }

    #[test]
    fn what_wants_no_answer_gets_none() {
        for line in [
            "",
            " \r",
            r#"{"jsonrpc":"2.0","method":"notifications/surprise","params":[]}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}"#,
            r#"{"error":{"code":"?"}}"#,
        ] {
            assert_eq!(told(line), None, "{line}");
        }
        assert!(read(b"\xEF\xBB\xBF{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r").unwrap().is_some());
    }

    /// Returns how deep a value is.
    fn levels(value: &Value) -> usize {
        match value {
            Value::Array(entries) => 1 + entries.iter().map(levels).max().unwrap_or(0),
            Value::Object(members) => 1 + members.values().map(levels).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// Whatever comes is read without harm, and what is said of it is what the parser finds.
    #[test]
    fn fuzz_depth_and_id_are_those_of_the_parser() {
        let parts = [
            "{",
            "}",
            "[",
            "]",
            "\"id\"",
            ":",
            ",",
            "1",
            "\"a\\\"\"",
            "\\",
            "\"",
            " ",
            "-2",
            "null",
            "\"id\":7,",
        ];
        let (mut seed, mut readable) = (1_u64, 0);
        for _ in 0..200_000 {
            let mut text = String::from("{\"a\":");
            loop {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let at = usize::try_from(seed >> 33).unwrap();
                if at % 7 == 0 {
                    break;
                }
                text.push_str(parts[at / 7 % parts.len()]);
            }
            let cut = &text[..text.len() / 2];
            let _ = (read(text.as_bytes()), id_in(cut.as_bytes()));
            let Ok(value) = serde_json::from_str::<Value>(&text) else { continue };
            readable += 1;
            assert_eq!(depth(text.as_bytes()), levels(&value), "{text}");
            // Of two members of the same name the parser takes the last.
            if text.matches("\"id\"").count() == 1 {
                let id = value.get("id").filter(|id| id.is_number() || id.is_string());
                assert_eq!(id_in(text.as_bytes()).as_ref(), id, "{text}");
            }
        }
        assert!(readable > 100, "{readable} of them were JSON");
    }

    #[test]
    fn id_is_read_from_a_beginning_only_if_all_of_it_is_there() {
        for (beginning, id) in [
            (r#"{"jsonrpc": "2.0", "id" : 12, "params": {"a"#, json!(12)),
            (r#"{"params":{"id":1,"x":["id"]},"id":"a\"b","#, json!("a\"b")),
            (r#"{"id":12"#, Value::Null),
            (r#"{"id":"cut"#, Value::Null),
            (r#"{"id":[1],"#, Value::Null),
            (r#"{"params":{"id":1"#, Value::Null),
            (r#"{"a":"id\"#, Value::Null),
        ] {
            assert_eq!(Fault::too_long(beginning.as_bytes(), 1).reply()["id"], id, "{beginning}");
        }
    }
}
