//! The codes of rules: what door, guards, registry and engine say no with. They are written down where they are made; the
//! list here lets one be read back from a text, and a test holds it against the sources. What the desk says no with, too, has
//! a row of its own in the table.

use std::fmt;

/// The code of a rule that said no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleCode(&'static str);

impl RuleCode {
    /// Returns the rule's code of this text, if a rule has it.
    pub fn from_text(text: &str) -> Option<Self> {
        Self::ALL.iter().find(|known| known.0 == text).copied()
    }

    /// Returns it as everybody sees it.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for RuleCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0)
    }
}

macro_rules! rule_codes {
    ($($name:ident),+ $(,)?) => {
        impl RuleCode {
            /// Every code that rules alone have, in order.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            $(#[doc = concat!("`", stringify!($name), "`")]
            pub const $name: Self = Self(stringify!($name));)+
        }
    };
}

rule_codes! {
    ACTOR, ACTOR_MISMATCH, ALREADY_ANSWERED, ALREADY_ERASED, ANSWER_CHOICE, ANSWER_DEFAULT, ANSWER_REQUEST,
    APPROVAL_MISSING, ARTIFACT_MISMATCH, ARTIFACT_SIZE, ARTIFACT_TOO_LARGE, ARTIFACT_UNASKED, ASCENDING,
    ASSURANCE_FORGED, ASSURANCE_OVERSTATED, ASSURANCE_TOO_LOW, BLOCKED_AGAIN, BUNDLE_DIFFERS,
    BUNDLE_INCOMPLETE, CHALLENGE_NEEDED, CHECKPOINT_OWED, CHECK_FAILED, CITES_UNSEEN, CLIENT_HELD_ROLES,
    COMMAND_USED, COMMITMENT, CONDITIONS_UNMET, CONDITION_COUNT, CONDITION_UNSHOWN, CONFIRMATIONS_OPEN,
    CONFIRMATION_CLOSED, CONFIRMATION_EXPIRED, CONFIRMATION_FORM, CONFIRMATION_IN_TIME, CONFIRMATION_MISMATCH,
    CONFIRMATION_OTHER, CONFIRMATION_SPENT, CONTENT_MALFORMED, CONTENT_RULE, DESK_PRINCIPAL, DOES_NOT_FOLLOW,
    ENROLMENT, EPOCH, EVENT_TOO_LARGE, EVIDENCE_MINIMUM, EVIDENCE_WEAK, EXECUTION_OPEN, EXPIRED,
    FALLBACK_FORBIDDEN, FALLBACK_NEEDED, FIELD_ANSWERED, INPUT_MISMATCH, INTENT_BLOCKED, INTENT_USED,
    JUDGES_OWN_WORK, KEY_BOUND, KEY_KNOWN, KEY_RETIRED, KEY_REVOKED, KEY_ROLE, KEY_ROLES, KEY_ROLE_MISMATCH,
    KEY_STATE, LAST_DESK_KEY, LAST_OPERATOR_PASSKEY, MUST_BE_ANSWERED, NOTHING_TO_ERASE, NOT_ANSWERED,
    NOT_ASKER, NOT_ENTITLED, NOT_FOR_AUTHORS, NOT_OF_A_RUN, NOT_OF_THIS_TRACE, NOT_OPENED, NOT_PARTICIPANT,
    NOT_REGISTRY, NOT_THE_ANSWER, NOT_YOUR_ANSWER, NO_ARTIFACT, NO_RECOVERY, OPERATION_BLOCKED,
    OPERATION_UNCONFIRMED, OTHER_STORE, OTHER_TRACE, OUT_OF_PHASE, OUT_OF_PLAN, OWN_CLIENT, PASSKEY_INVALID,
    PASSKEY_NEEDED, PERSON_STATE, PLACE, POLICY_FIXED, POLICY_MISMATCH, POLICY_MISSING, POSSESSION,
    PROPOSAL_NOT_APPROVED, QUESTIONS_OPEN, QUESTION_CLOSED, QUESTION_ERASED, QUESTION_EXPIRED, QUESTION_FORM,
    QUESTION_IN_TIME, QUESTION_OTHER, QUESTION_SECRET, RECOVERY_KEY, REFERENCE, REGISTRY_SHAPE,
    REPORT_MISMATCH, RETRY_LIMIT, RISK_UNDERSTATED, ROLE_FORBIDDEN, ROLE_MISSING, ROOT_KNOWN, ROOT_ROLE,
    ROTATION, SEEN_UNKNOWN, SELF_ANSWER, SHAPE, SIGNATURE_INVALID, SIGNER_NOT_ENTITLED, SIG_INVALID,
    SIG_MISSING, SPOKE_AFTER_FINAL, STATEMENT_MALFORMED, TOKEN_LIST, TOKEN_STATE, TOOL_BLOCKED,
    TOOL_NOT_ALLOWED, TOOL_NOT_PROPOSED, TOO_MANY, TRACE_EXISTS, TRACE_FAILED, TYPE_UNKNOWN,
    VERIFICATION_OPEN, VOUCHER, WRITE,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use demur_ledger::verify::Code as Finding;

    use super::*;
    use crate::code::{Code, tests::codes};

    /// Where rules say no.
    const SOURCES: [&str; 9] = [
        include_str!("../../../engine/src/refusal.rs"),
        include_str!("../../../ledger/src/admission/error.rs"),
        include_str!("../../../ledger/src/confirmation/error.rs"),
        include_str!("../../../ledger/src/content/question.rs"),
        include_str!("../../../ledger/src/cure.rs"),
        include_str!("../../../ledger/src/erasure.rs"),
        include_str!("../../../ledger/src/passkey.rs"),
        include_str!("../../../ledger/src/question/error.rs"),
        include_str!("../../../ledger/src/state/error.rs"),
    ];

    const MEANING: &str = include_str!("../../../ledger/src/meaning/error.rs");

    fn first_word(text: &str) -> &str {
        text.split(|sign: char| !sign.is_ascii_alphanumeric()).next().unwrap_or_default()
    }

    #[test]
    fn list_holds_what_rules_alone_say_and_nothing_else() {
        let has_a_row = |text: &&str| Code::OWN.iter().any(|code| code.as_str() == *text);
        // Demands about meaning are named as the verifier names its findings.
        let named: BTreeSet<_> = MEANING.split("Code::").skip(1).map(first_word).collect();
        let found = Finding::ALL.iter().filter(|code| named.contains(format!("{code:?}").as_str()));
        let said = SOURCES.into_iter().flat_map(codes).chain(found.map(|code| code.as_str()));
        let said: BTreeSet<_> = said.filter(|text| !has_a_row(text)).collect();
        let listed: Vec<_> = RuleCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(listed, Vec::from_iter(said));
    }
}
