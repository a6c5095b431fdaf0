//! What the stages say to each other: lines of JSON, and bytes as they are.
//!
//! | from | to | what |
//! |---|---|---|
//! | caller | supervisor | a request, then one byte that starts the tool; the end of the stream ends everything |
//! | supervisor | helper | the same |
//! | helper | supervisor | [`Note::Limits`], then [`Note::Failure`] or the end: the tool runs |
//! | supervisor | caller | [`Note::Limits`], then an outcome |

use std::io::{self, BufRead, Read, Write};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{Request, SandboxLimits, ToolOutcome};

/// The byte that starts a prepared tool.
pub(crate) const START: &[u8] = b"\n";

/// What a stage says before the tool runs, one per line.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Note {
    /// The limits that are in force, and those that are not.
    Limits(Vec<String>),
    /// The tool cannot be started.
    Failure(String),
}

/// A request without its bytes.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestLine<R> {
    request: R,
    /// How many bytes follow the line.
    stdin: u64,
}

/// An outcome without its bytes.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OutcomeLine<O> {
    outcome: O,
    /// How many bytes follow the line.
    stdout: u64,
    /// How many bytes follow those.
    stderr: u64,
}

/// Writes a request.
pub(crate) fn write_request(to: &mut impl Write, request: &Request) -> io::Result<()> {
    write_line(to, &RequestLine { request, stdin: request.stdin.len() as u64 })?;
    to.write_all(&request.stdin)?;
    to.flush()
}

/// Reads a request.
pub(crate) fn read_request(from: &mut impl BufRead) -> io::Result<Request> {
    let RequestLine::<Request> { mut request, stdin } = read_line(from)?;
    request.stdin = read_bytes(from, stdin, Request::MOST_INPUT as u64)?;
    Ok(request)
}

/// Writes an outcome.
pub(crate) fn write_outcome(to: &mut impl Write, outcome: &ToolOutcome) -> io::Result<()> {
    let (stdout, stderr) = (outcome.stdout.len() as u64, outcome.stderr.len() as u64);
    write_line(to, &OutcomeLine { outcome, stdout, stderr })?;
    to.write_all(&outcome.stdout)?;
    to.write_all(&outcome.stderr)?;
    to.flush()
}

/// Reads an outcome.
pub(crate) fn read_outcome(from: &mut impl BufRead) -> io::Result<ToolOutcome> {
    let OutcomeLine::<ToolOutcome> { mut outcome, stdout, stderr } = read_line(from)?;
    outcome.stdout = read_bytes(from, stdout, SandboxLimits::MOST.output)?;
    outcome.stderr = read_bytes(from, stderr, SandboxLimits::MOST.output)?;
    Ok(outcome)
}

/// Writes a note.
pub(crate) fn write_note(to: &mut impl Write, note: &Note) -> io::Result<()> {
    write_line(to, note)?;
    to.flush()
}

/// Reads a note.
pub(crate) fn read_note(from: &mut impl BufRead) -> io::Result<Note> {
    read_line(from)
}

fn write_line(to: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    to.write_all(&line)
}

fn read_line<T: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<T> {
    let mut line = Vec::new();
    from.by_ref().take(MOST_LINE).read_until(b'\n', &mut line)?;
    if line.pop() != Some(b'\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_slice(&line)?)
}

fn read_bytes(from: &mut impl BufRead, count: u64, most: u64) -> io::Result<Vec<u8>> {
    if count > most {
        let message = format!("expected at most {most} bytes, found {count}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    let mut bytes = Vec::new();
    from.by_ref().take(count).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == count { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// The most bytes in a line: arguments and environment of a program have less room in the kernel.
const MOST_LINE: u64 = 8 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limit, ToolEnding};

    #[test]
    fn requests_and_outcomes_arrive_as_they_were() {
        let mut request = Request::new(["sh", "-c", "\n"], "/tmp");
        request.stdin = vec![0, 10, 255];
        let outcome = ToolOutcome {
            ending: ToolEnding::Limit(Limit::Output),
            stdout: b"\n{}".to_vec(),
            stderr: vec![128],
            duration_ms: 7,
            limits: vec!["a".into()],
        };
        let mut bytes = Vec::new();
        write_request(&mut bytes, &request).unwrap();
        write_outcome(&mut bytes, &outcome).unwrap();
        let mut from = bytes.as_slice();
        assert_eq!(read_request(&mut from).unwrap(), request);
        assert_eq!(read_outcome(&mut from).unwrap(), outcome);
        assert!(from.is_empty());
    }

    #[test]
    fn refuses_what_is_cut_off() {
        let mut bytes = Vec::new();
        let mut request = Request::new(["true"], "/tmp");
        request.stdin = vec![1; 9];
        write_request(&mut bytes, &request).unwrap();
        for end in 0..bytes.len() {
            let error = read_request(&mut &bytes[..end]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{end}");
        }
    }

    #[test]
    fn refuses_more_bytes_than_there_may_be() {
        let line = br#"{"request":{"command":["true"],"folder":"/"},"stdin":99999999999}"#;
        let mut bytes = line.to_vec();
        bytes.push(b'\n');
        assert_eq!(read_request(&mut bytes.as_slice()).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_line_of_json_is_enough_to_ask() {
        let mut line = br#"{"request":{"command":["true"],"folder":"/"},"stdin":0}"#.to_vec();
        line.push(b'\n');
        assert_eq!(read_request(&mut line.as_slice()).unwrap(), Request::new(["true"], "/"));
    }
}
