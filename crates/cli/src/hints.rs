//! What somebody at a terminal can do about a refusal that nobody meets elsewhere: by code. Cures that others read, too,
//! come with the refusal.

use demur_api::code::Code;

/// Returns what to do about a refusal that came without a cure.
pub(crate) fn hint_of(code: Code) -> Option<&'static str> {
    HINTS.iter().find(|(known, _)| *known == code).map(|(_, hint)| *hint)
}

const HINTS: &[(Code, &str)] = &[
    (Code::NoDataFolder, "name one with --data DIR"),
    (Code::PortForbidden, "name a port above 1023; without one, `demur serve` takes a free one by itself"),
    (Code::PortTaken, "name another port; without one, `demur serve` takes a free one by itself"),
];

#[cfg(test)]
mod tests {
    use demur_api::refusal::Refusal;

    use super::*;
    use crate::failure::Failure;

    #[test]
    fn a_cure_that_came_with_the_refusal_is_what_is_shown() {
        for (code, hint) in HINTS.iter().copied() {
            let refusal = Refusal::new(code, "no");
            assert_eq!(Failure::from(refusal.clone()).hint(), Some(hint));
            assert_eq!(Failure::from(refusal.with_cure("another")).hint(), Some("another"));
        }
        assert_eq!(Failure::of(Code::NotFound, "no").hint(), None);
    }
}
