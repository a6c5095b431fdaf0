//! Exit codes: one table that the help text prints and every error maps to.

use std::{fmt, process::ExitCode};

use demur_api::code::Class;

/// How the command ends. Scripts rely on these numbers: none ever changes its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All went well.
    Success,
    /// A check did not hold.
    VerificationFailed,
    /// What was given cannot be used: arguments, a file, a key.
    BadInput,
    /// The rules said no.
    Refused,
    /// Our own trouble.
    Internal,
    /// A policy stopped it before it began.
    PolicyBlocked,
    /// A question was declined.
    Declined,
    /// A question was cancelled.
    Cancelled,
    /// A question was not answered in time.
    Expired,
    /// A question was not answered in time, and its default holds.
    Defaulted,
    /// Ctrl-C ended the waiting for an answer.
    Interrupted,
    /// SIGTERM ended the waiting for an answer.
    Terminated,
}

impl Exit {
    /// Every way to end, by number.
    pub(crate) const ALL: [Self; 12] = [
        Self::Success,
        Self::VerificationFailed,
        Self::BadInput,
        Self::Refused,
        Self::Internal,
        Self::PolicyBlocked,
        Self::Declined,
        Self::Cancelled,
        Self::Expired,
        Self::Defaulted,
        Self::Interrupted,
        Self::Terminated,
    ];

    /// Returns the number the shell sees.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::VerificationFailed => 1,
            Self::BadInput => 2,
            Self::Refused => 3,
            Self::Internal => 4,
            Self::PolicyBlocked => 5,
            Self::Declined => 10,
            Self::Cancelled => 11,
            Self::Expired => 12,
            Self::Defaulted => 13,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    /// Returns what the number means, in words.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Success => "all went well",
            Self::VerificationFailed => "verification failed, or what was asked for could not be established",
            Self::BadInput => {
                "bad input: arguments, an unknown key or trace, a malformed, damaged or newer file or store"
            }
            Self::Refused => "refused by the rules, or the data folder is in use",
            Self::Internal => "internal error: disk full, trouble with files of our own, a bug",
            Self::PolicyBlocked => "blocked by policy before anything ran",
            Self::Declined => {
                "`demur ask`, `demur wait`: the question was declined; `demur confirm`: refused"
            }
            Self::Cancelled => "`demur ask`, `demur wait`: the question was cancelled",
            Self::Expired => "`demur ask`, `demur wait`, `demur confirm`: nobody answered in time",
            Self::Defaulted => "`demur ask`, `demur wait`: nobody answered in time; the default is printed",
            Self::Interrupted => "`demur ask`, `demur wait`: stopped with Ctrl-C; the question stays open",
            Self::Terminated => "`demur ask`, `demur wait`: stopped by SIGTERM; the question stays open",
        }
    }
}

/// How a command ends that was refused.
impl From<Class> for Exit {
    fn from(class: Class) -> Self {
        match class {
            Class::Input | Class::Unknown | Class::Forbidden => Self::BadInput,
            Class::Refused | Class::Busy => Self::Refused,
            Class::Unproven => Self::VerificationFailed,
            Class::Ours => Self::Internal,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// The line of the help text.
impl fmt::Display for Exit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:<3}  {}", self.code(), self.meaning())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use demur_api::code::{Code, RuleCode};

    use super::*;

    /// How a command ended with each code when every failure still carried both. A rule that said no ended with 3.
    const BEFORE: [(u8, &str); 4] = [
        (1, "RECORD_UNPROVEN"),
        (
            2,
            "AGENT_NAME AGENT_UNKNOWN ANSWER_INVALID ANSWER_KIND ARGUMENTS ARTIFACT_MISSING \
              ARTIFACT_UNKNOWN CALLER_SUPERVISED CHOICES_ALIKE CONFIRMATION_UNKNOWN CURSOR_INVALID DOCUMENT_INVALID EVENT_UNKNOWN \
              FILE_EXISTS FILE_MALFORMED FILE_TRUNCATED FILE_UNREADABLE FILE_UNUSABLE FOLDER_OPEN FORBIDDEN \
              FORMAT_NEWER FORM_FOREIGN GAP_UNKNOWN PASSKEY_UNKNOWN TOUCH_UNKNOWN IDENTITY_UNKNOWN KEY_FILE_MALFORMED \
              KEY_FILE_OPEN KEY_UNKNOWN LINK_SPENT MALFORMED MEDIA_TYPE MESSAGE_MALFORMED \
              NAME_INVALID NAME_MISSING NAME_UNKNOWN NOT_A_RUN NOT_FOUND NO_DATA_FOLDER \
              LAST_OPERATOR NO_IDENTITY NO_KEYS NO_RULES NO_STORE ORIGIN_FORBIDDEN OUTPUT_INVALID PEOPLE_MISSING PERSON_UNKNOWN \
              PLAN_MALFORMED QUESTION_UNKNOWN RECEIPT_UNKNOWN RECORD_DAMAGED ROLE_NOT_OF_A_RUN \
              RULES_MALFORMED SCHEMA_UNKNOWN SCOPE_INVALID SCOPE_MISSING SECRET_ELSEWHERE \
              SECRET_GONE SESSION_UNKNOWN SESSION_UNREADABLE SIGN_IN_UNKNOWN STORE_DAMAGED STORE_EXISTS \
              STORE_FOREIGN STORE_NEWER STORE_OLDER STORE_READ_ONLY TASK_INVALID TOKEN_UNKNOWN TOO_LARGE \
              TOO_MANY_GAPS TRACE_UNKNOWN TYPE_FORBIDDEN UNAUTHENTICATED",
        ),
        (
            3,
            "ASKER_ELSEWHERE ASSURANCE_TOO_LOW BUNDLE_INCOMPLETE CLAIM_UNKNOWN CONNECTION_LOST CONTENDED ERASURE_UNFINISHED \
              DESK_KEY_IN_USE FOLDER_IN_USE HOLDER_KNOWN HOST_FORBIDDEN IDEMPOTENCY_CONFLICT KEY_GONE KEY_STANDING \
              METHOD_NOT_ALLOWED MOVED MUST_BE_ANSWERED NAME_CONFUSABLE NAME_TAKEN NEEDS_CLARIFICATION \
              NOT_ATTESTED NOT_ENTITLED NOT_PARTICIPANT NOT_TEXT NO_DEADLINE NO_DESK_KEY NO_REPLY \
              NO_SERVER NO_TCP OUT_OF_PLAN OVERLOADED PERSON_NEEDED PERSON_RELEASES PORT_FORBIDDEN \
              PORT_TAKEN PROFILE_CONFLICT QUESTION_CLOSED QUOTA_EXCEEDED RECORD_CHANGED ROTATED_ALREADY RUN_CLAIMED RUN_NOT_BEGUN RUN_OF_ANOTHER_STORE RUN_OVER \
              SERVER_SILENT SESSION_CONFLICT SETTLE_FIRST STOPPING STORE_LOCKED TASK_CHANGED TOO_MANY_ATTEMPTS TOO_MANY_CALLS \
              TOO_MANY_PEOPLE TOO_MANY_TOKENS TOO_SLOW PASSKEY_KNOWN PASSKEY_MISSING PASSKEY_UNFIT SETUP_CODE_WRONG TOUCH_NEEDED TOUCH_STALE TRACE_CONFLICT TRACE_NEWER \
              VERDICT_UNFOUNDED VERSION_MISMATCH",
        ),
        (
            4,
            "BUG CLIENT_TROUBLE CLOCK DISK_FULL FILE_TROUBLE LEASE_LOST NO_RANDOMNESS OUTPUT_TROUBLE \
              PIPE_TROUBLE SERVER_ENDED SERVER_TROUBLE STORE_GONE STORE_STOPPED STORE_TROUBLE WRITE_UNCERTAIN",
        ),
    ];

    #[test]
    fn codes_never_change() {
        let codes = Exit::ALL.map(Exit::code);
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 130, 143]);
    }

    #[test]
    fn every_refusal_ends_a_command_as_it_did() {
        let rules = RuleCode::ALL.iter().copied().map(Code::Rule);
        let all = Code::OWN.iter().copied().chain(rules);
        let now: BTreeSet<_> = all.map(|code| (Exit::from(code.class()).code(), code.as_str())).collect();
        let listed =
            BEFORE.iter().flat_map(|(exit, codes)| codes.split_whitespace().map(|code| (*exit, code)));
        let of_rules = RuleCode::ALL.iter().map(|rule| (3, rule.as_str()));
        assert_eq!(now, listed.chain(of_rules).collect());
    }
}
