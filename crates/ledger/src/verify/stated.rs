//! The checks that an export states, found before it is verified: a check stands after the artifact it looks into, whose
//! bytes are gone by then. Nothing is believed here. The walk asks for the outcome of the very check that an event states,
//! and what was found at the first look only decides whether that is known.

use std::{
    collections::BTreeMap,
    io::{self, BufRead},
};

use memchr::{memchr, memmem};

use crate::{
    check::Subject,
    content::CheckContent,
    envelope::Event,
    event_type::{Content, EventType, Facts},
    export::Line,
    name::Sequence,
    state::MOST_CHECKS,
};

/// Checks by the artifact that each looks into.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatedChecks {
    checks: BTreeMap<Sequence, Vec<CheckContent>>,
    count: usize,
}

/// What came of the checks of one artifact, in their order.
pub(super) type Outcomes = Box<[bool]>;

impl StatedChecks {
    /// Returns the checks in an export. What cannot be read is left out: whoever verifies the file says what is wrong.
    pub fn find(mut reader: impl BufRead) -> io::Result<Self> {
        let mut found = Self::default();
        let mut line = Vec::new();
        while next_line(&mut reader, &mut line)? {
            if memmem::find(&line, MARK).is_some()
                && let Some((artifact, check)) = stated(&line)
            {
                found.add(artifact, check);
            }
        }
        Ok(found)
    }

    /// Takes the check that an event states, if it states one. Both are as a store keeps them.
    pub fn take(&mut self, event: &[u8], content: &[u8]) {
        if memmem::find(event, MARK).is_none() {
            return;
        }
        let Ok(event) = Event::parse(event) else { return };
        let Ok(Facts::CheckStated(facts)) = event.said().map(|said| said.facts) else { return };
        if let Ok(Content::CheckStated(check)) = Content::parse(EventType::CheckStated, content) {
            self.add(facts.artifact, check);
        }
    }

    /// Adds a check on an artifact. There are no more than a run can have.
    fn add(&mut self, artifact: Sequence, check: CheckContent) {
        if self.count < MOST_CHECKS {
            self.checks.entry(artifact).or_default().push(check);
            self.count += 1;
        }
    }

    /// Returns what comes of the checks on an artifact with these bytes.
    pub(super) fn evaluate(&self, artifact: Sequence, bytes: &[u8]) -> Outcomes {
        let Some(checks) = self.checks.get(&artifact) else { return Outcomes::default() };
        let subject = Subject::new(bytes);
        checks.iter().map(|check| subject.holds(check)).collect()
    }

    /// Returns what came of one check on an artifact, if it was among them.
    pub(super) fn outcome(
        &self,
        artifact: Sequence,
        check: &CheckContent,
        outcomes: &Outcomes,
    ) -> Option<bool> {
        let place = self.checks.get(&artifact)?.iter().position(|stated| stated == check)?;
        outcomes.get(place).copied()
    }
}

/// Reads the next line without its line feed; returns whether there is one. Of a line that is too long for an event only
/// the beginning is kept.
fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let mut begun = false;
    loop {
        let bytes = match reader.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if bytes.is_empty() {
            return Ok(begun);
        }
        begun = true;
        let end = memchr(b'\n', bytes);
        let part = &bytes[..end.unwrap_or(bytes.len())];
        let room = LONGEST.saturating_sub(line.len());
        line.extend_from_slice(&part[..part.len().min(room)]);
        let taken = end.map_or(bytes.len(), |end| end + 1);
        reader.consume(taken);
        if end.is_some() {
            return Ok(true);
        }
    }
}

/// Returns the check that an event line states, and its artifact.
fn stated(line: &[u8]) -> Option<(Sequence, CheckContent)> {
    let Ok(Line::Event(line)) = Line::parse(line) else { return None };
    let event = line.event().ok()?;
    let Facts::CheckStated(facts) = event.said().ok()?.facts else { return None };
    match Content::parse(EventType::CheckStated, line.content?.get().as_bytes()) {
        Ok(Content::CheckStated(check)) => Some((facts.artifact, check)),
        _ => None,
    }
}

/// What stands in every line that states a check.
const MARK: &[u8] = br#""type":"check_stated""#;

/// How many bytes of a line are kept: an event with its content has fewer.
const LONGEST: usize = 2 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_whole_or_cut_but_never_joined() {
        let mut file = vec![b'x'; LONGEST + 5];
        file.extend_from_slice(b"\n\nsecond\nlast");
        let mut reader = io::BufReader::with_capacity(7, &file[..]);
        let (mut line, mut found) = (Vec::new(), Vec::new());
        while next_line(&mut reader, &mut line).unwrap() {
            found.push((line.len(), line.last().copied()));
        }
        assert_eq!(found, [(LONGEST, Some(b'x')), (0, None), (6, Some(b'd')), (4, Some(b't'))]);
    }
}
