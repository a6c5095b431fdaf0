//! Reads a registry file twice: the verifier says whether it holds, then its events are folded.

use std::error::Error;

use demur_ledger::{
    chain::Chain,
    content::Opening,
    desk::Recorded,
    export::{Disclosure, EventLine, Line},
    name::TraceId,
    registry::Registry,
    verify::{Options, verify},
};

use super::Damage;

/// A registry, its trace and its events.
pub(super) type Folded = (Registry, Chain, Vec<Recorded>);

/// Returns the registry in the bytes of a file that holds.
pub(super) fn read(bytes: &[u8]) -> Result<Folded, Damage> {
    let report = verify(bytes, &Options::default(), &mut |_| ())?;
    if let Some(damage) = Damage::found_by(&report) {
        return Err(damage);
    }
    let mut folded = None;
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())) {
        let taken = take(&mut folded, line, report.scope.trace);
        taken.map_err(|error| Damage::at(number, error))?;
    }
    folded.ok_or_else(|| Damage::at(1, "expected the events of a registry, found none"))
}

/// Most of what can go wrong here the verifier has ruled out.
fn take(folded: &mut Option<Folded>, line: &[u8], trace: TraceId) -> Result<(), Box<dyn Error>> {
    let Line::Event(line) = Line::parse(line)? else { return Ok(()) };
    let event = line.event()?;
    if event.envelope().trace != trace {
        return Err("expected the export of a registry, found that of a run".into());
    }
    let opening = opening(&line)?;
    let (_, chain, recorded) = match folded {
        Some(folded) => {
            folded.0.apply(&event)?;
            folded
        }
        None => folded.insert((Registry::open(&event)?, Chain::new(trace), Vec::new())),
    };
    chain.push(&event);
    recorded.push(Recorded { event, opening });
    Ok(())
}

fn opening(line: &EventLine<'_>) -> Result<Option<Opening>, Box<dyn Error>> {
    match (line.disclosure, line.content()?, line.salt) {
        (Disclosure::Absent, ..) => Ok(None),
        (Disclosure::Disclosed, Some(bytes), Some(salt)) => Ok(Some(Opening::new(bytes.to_vec(), salt)?)),
        // An export may keep names back, but this file is where they are kept.
        _ => Err("expected the content beside the event, found that it was kept back".into()),
    }
}

#[cfg(test)]
mod tests {
    use demur_core::{key::SecretKey, random::Seeded, time::Timestamp};
    use demur_ledger::{
        desk::Desk,
        export::{ExportWriter, Header},
    };

    use super::*;

    /// Returns the export of a registry whose only event has its content disclosed or not.
    fn export(disclosure: Disclosure) -> Vec<u8> {
        let (key, mut random) = (SecretKey::from_seed(&[1; 32]), Seeded::from_number(1));
        let (desk, first) = Desk::create(key, None, "desk", Timestamp::MIN, &mut random).unwrap();
        let (software, trace) = ("test".try_into().unwrap(), desk.registry_chain().trace());
        let header = Header { format: 1, software, store: desk.store(), trace };
        let (mut writer, mut bytes) = ExportWriter::begin(&header).unwrap();
        bytes.extend(match disclosure {
            Disclosure::Disclosed => writer.event(&first.event, first.opening.as_ref()).unwrap(),
            other => writer.event_without_content(&first.event, other).unwrap(),
        });
        let head = desk.head(desk.registry_chain()).unwrap().unwrap();
        bytes.extend(writer.head(&head).unwrap());
        let registry = head.document.registry;
        bytes.extend(writer.finish(registry, (registry, 1), Timestamp::MIN, desk.key()).unwrap());
        bytes
    }

    #[test]
    fn names_must_be_there() {
        assert_eq!(read(&export(Disclosure::Disclosed)).unwrap().2.len(), 1);
        // Such a file verifies, but names would be lost when it is written again.
        for disclosure in [Disclosure::Withheld, Disclosure::Erased, Disclosure::Missing] {
            let damage = read(&export(disclosure)).unwrap_err();
            assert!(damage.to_string().starts_with("line 2: expected the content"), "{damage}");
        }
    }
}
