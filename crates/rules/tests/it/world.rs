//! The packs that tests use, and plans in one line.

use demur_rules::{Pack, Plan, Rules, builtin};

/// Returns the files of the travel pack.
pub(crate) const TRAVEL: [(&str, &str); 2] = [
    ("travel/pack.toml", include_str!("../../../../examples/rules/travel/pack.toml")),
    ("travel/trip.cedar", include_str!("../../../../examples/rules/travel/trip.cedar")),
];

/// Returns the rules with this name.
pub(crate) fn rules(pack: &str) -> Rules {
    match pack {
        "default" => Rules::builtin().unwrap_or_else(|error| panic!("{error}")),
        "travel" => Rules::layer(&[travel()]).unwrap_or_else(|error| panic!("{error}")),
        other => panic!("no pack {other}"),
    }
}

/// Returns the files of a pack.
pub(crate) fn files(pack: &str) -> [(&'static str, &'static str); 2] {
    match pack {
        "default" => builtin::FILES,
        _ => TRAVEL,
    }
}

pub(crate) fn travel() -> Pack {
    Pack::read(TRAVEL).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn plan(text: &str) -> Plan {
    Plan::read(text.as_bytes()).unwrap()
}

/// Returns the full count where `DEMUR_PROOF=full` is set, and otherwise the reduced one.
#[expect(clippy::disallowed_methods, reason = "the test harness decides how long a proof takes")]
pub(crate) fn count(full: usize, reduced: usize) -> usize {
    if std::env::var("DEMUR_PROOF").is_ok_and(|proof| proof == "full") { full } else { reduced }
}
