//! Which event is meant: a trace, a dot and a number, as `demur trace show` counts.

use demur_ledger::name::{Sequence, TraceId};

use super::{TypedId, any_trace, quoted};
use crate::{failure::Failure, reader::Find};

/// Returns the event that is meant.
pub(crate) fn event(at: &impl Find, typed: &TypedId) -> Result<(TraceId, Sequence), Failure> {
    let malformed = || {
        let message = format!("expected an event as TRACE.NUMBER, found {}", quoted(typed.as_str()));
        Failure::input("EVENT_MALFORMED", message)
            .with_hint("`demur trace show last` numbers the events: the first of the last trace is last.0")
    };
    let (trace, number) = typed.as_str().split_once('.').ok_or_else(malformed)?;
    let plain = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    let number = number.parse::<u64>().ok().filter(|_| plain);
    let sequence = number.and_then(|number| Sequence::try_from(number).ok()).ok_or_else(malformed)?;
    Ok((any_trace(at, &TypedId(trace.to_owned()))?, sequence))
}
