//! The executor: intends, runs, records, and claims what the tools printed, one step at a time (LED-06, LED-07, LED-11 to LED-14, LED-20, LED-21,
//! LED-27, LED-32, LED-33).

mod call;
mod claim;
mod statement;

use std::collections::BTreeSet;

use demur_ledger::{name::Sequence, state::Phase};

pub(super) use call::failed_for_good;
pub(super) use claim::{lacks_evidence, owes_check};
pub(super) use statement::{Shown, same, stdout, value, words};

use self::call::Standing;
use super::{Brief, Look, Move, Report, RoleError};

/// What only the process knows that runs the tools.
#[derive(Clone, Copy, Debug)]
pub struct Hands<'a> {
    /// How the tool ended that was run last.
    pub report: Option<&'a Report>,
    /// Executions that an earlier process began and did not end.
    pub lost: &'a BTreeSet<Sequence>,
    /// The call whose tool is ready to run, or is being made ready.
    pub ready: Option<&'a str>,
    /// The calls whose tools are being made ready to run after that one.
    pub ahead: &'a [String],
}

pub(super) fn next(
    brief: &Brief<'_>,
    hands: &Hands<'_>,
    look: &mut dyn Look,
) -> Result<Option<Move>, RoleError> {
    let phase = brief.history.state().phase();
    if !matches!(phase, Phase::Executing | Phase::Claiming) {
        return Ok(None);
    }
    for (number, goal, call) in brief.plan.open_calls() {
        let Some((proposal, meets)) = call::approved(brief, call) else { continue };
        let mut challenge = None;
        if call.reserve {
            challenge = claim::wants(brief, look, (goal, call))?;
            if challenge.is_none() {
                continue;
            }
        }
        let standing = call::standing(brief, call);
        // While this one runs and its end is recorded, the helpers of the next ones start.
        if matches!(standing, Standing::Running(_))
            && hands.report.is_none()
            && let Some(next) = upcoming(brief, hands, number)
        {
            return Ok(Some(next));
        }
        match standing {
            Standing::Waits => return Ok(None),
            Standing::Settled(_) => brief.plan.rest(number),
            open => {
                let why = call::Occasion { goal, challenge };
                return call::advance(brief, hands, (call, &why), (proposal, meets), &open).map(Some);
            }
        }
    }
    claim::next(brief, look)
}

/// Returns the preparation of a call that comes after this one, unless it or one before it waits for something.
fn upcoming(brief: &Brief<'_>, hands: &Hands<'_>, after: usize) -> Option<Move> {
    let later = brief.plan.open_calls().filter(|(number, _, call)| *number > after && !call.reserve);
    // What takes the place of another call is not expected to run.
    for (_, _, call) in later.filter(|(_, _, call)| call.fallback_for.is_none()).take(MAX_AHEAD) {
        call::approved(brief, call)?;
        if !matches!(call::standing(brief, call), Standing::Fresh(_)) {
            return None;
        }
        if !hands.ahead.iter().any(|name| *name == *call.name) {
            return Some(Move::Prepare { call: call.name.to_string(), ahead: true });
        }
    }
    None
}

/// How many calls are made ready ahead. A helper takes longer to start than many a tool to run: of two, one is ready when its
/// turn comes, and the other starts while the end of the tool before is recorded.
const MAX_AHEAD: usize = 2;
