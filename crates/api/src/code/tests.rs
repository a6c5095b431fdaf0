//! Codes and statuses as they were when every refusal still carried them by itself: none of them may change.

use std::{collections::BTreeSet, fs, path::Path};

use demur_core::reason::Reason;
use demur_ledger::verify::Code as Finding;

use super::*;
use crate::refusal::Refusal;

/// Which codes each status was sent with.
const BEFORE: [(u16, &str); 15] = [
    (
        400,
        "AGENT_NAME AGENT_UNKNOWN ANSWER_INVALID ANSWER_KIND ARGUMENTS ARTIFACT_MISSING \
          CHOICES_ALIKE CURSOR_INVALID DOCUMENT_INVALID FILE_EXISTS FILE_MALFORMED FILE_TRUNCATED \
          FORMAT_NEWER KEY_FILE_MALFORMED KEY_FILE_OPEN KEY_UNKNOWN MALFORMED MESSAGE_MALFORMED \
          NAME_INVALID NAME_MISSING NOT_A_RUN NO_DATA_FOLDER NO_IDENTITY NO_RULES OUTPUT_INVALID PEOPLE_MISSING \
          PLAN_MALFORMED ROLE_NOT_OF_A_RUN SCOPE_INVALID SCOPE_MISSING SECRET_ELSEWHERE \
          SESSION_UNREADABLE STORE_EXISTS TASK_INVALID TOO_MANY_GAPS TYPE_FORBIDDEN",
    ),
    (401, "LINK_SPENT UNAUTHENTICATED"),
    (403, "CALLER_SUPERVISED FORBIDDEN FORM_FOREIGN LAST_OPERATOR ORIGIN_FORBIDDEN"),
    (
        404,
        "ARTIFACT_UNKNOWN CONFIRMATION_UNKNOWN EVENT_UNKNOWN GAP_UNKNOWN IDENTITY_UNKNOWN NAME_UNKNOWN NOT_FOUND PASSKEY_UNKNOWN TOUCH_UNKNOWN \
          PERSON_UNKNOWN QUESTION_UNKNOWN RECEIPT_UNKNOWN SCHEMA_UNKNOWN SECRET_GONE SESSION_UNKNOWN SIGN_IN_UNKNOWN \
          TOKEN_UNKNOWN TRACE_UNKNOWN",
    ),
    (405, "METHOD_NOT_ALLOWED"),
    (408, "TOO_SLOW"),
    (
        409,
        "ASKER_ELSEWHERE ASSURANCE_TOO_LOW BUNDLE_INCOMPLETE CLAIM_UNKNOWN CONNECTION_LOST CONTENDED DESK_KEY_IN_USE HOLDER_KNOWN KEY_GONE KEY_STANDING MOVED \
          MUST_BE_ANSWERED NAME_CONFUSABLE NAME_TAKEN NEEDS_CLARIFICATION NOT_ATTESTED NOT_ENTITLED NOT_PARTICIPANT \
          NOT_TEXT NO_DEADLINE NO_SERVER NO_TCP OUT_OF_PLAN PERSON_NEEDED PERSON_RELEASES \
          PORT_FORBIDDEN PORT_TAKEN PROFILE_CONFLICT QUESTION_CLOSED RECORD_CHANGED ROTATED_ALREADY RUN_CLAIMED \
          RUN_NOT_BEGUN RUN_OF_ANOTHER_STORE RUN_OVER SERVER_SILENT SESSION_CONFLICT SETTLE_FIRST SETUP_CODE_WRONG PASSKEY_KNOWN PASSKEY_MISSING PASSKEY_UNFIT TOUCH_NEEDED TOUCH_STALE TASK_CHANGED TOO_MANY_PEOPLE TOO_MANY_TOKENS TRACE_CONFLICT TRACE_NEWER \
          VERDICT_UNFOUNDED VERSION_MISMATCH",
    ),
    (413, "TOO_LARGE"),
    (415, "MEDIA_TYPE"),
    (421, "HOST_FORBIDDEN"),
    (422, "IDEMPOTENCY_CONFLICT"),
    (429, "QUOTA_EXCEEDED TOO_MANY_ATTEMPTS TOO_MANY_CALLS"),
    (
        500,
        "BUG CLIENT_TROUBLE CLOCK FILE_TROUBLE FILE_UNREADABLE FILE_UNUSABLE FOLDER_OPEN LEASE_LOST NO_DESK_KEY NO_KEYS \
          NO_RANDOMNESS NO_STORE OUTPUT_TROUBLE PIPE_TROUBLE RECORD_DAMAGED RECORD_UNPROVEN RULES_MALFORMED \
          SERVER_ENDED SERVER_TROUBLE STORE_DAMAGED STORE_FOREIGN STORE_NEWER STORE_OLDER STORE_READ_ONLY \
          STORE_GONE STORE_STOPPED STORE_TROUBLE WRITE_UNCERTAIN",
    ),
    (503, "ERASURE_UNFINISHED FOLDER_IN_USE NO_REPLY OVERLOADED STOPPING STORE_LOCKED"),
    (507, "DISK_FULL"),
];

fn before() -> BTreeSet<(u16, &'static str)> {
    BEFORE.iter().flat_map(|(status, texts)| texts.split_whitespace().map(|text| (*status, text))).collect()
}

/// Returns every code.
fn all() -> impl Iterator<Item = Code> {
    Code::OWN.iter().copied().chain(RuleCode::ALL.iter().copied().map(Code::Rule))
}

#[test]
fn every_code_has_the_status_it_had() {
    let now: BTreeSet<_> = all().map(|code| (code.status(), code.as_str())).collect();
    let of_rules = RuleCode::ALL.iter().map(|rule| (409, rule.as_str()));
    assert_eq!(now, before().into_iter().chain(of_rules).collect());
}

#[test]
fn no_two_codes_have_one_text() {
    let texts: BTreeSet<_> = all().map(Code::as_str).collect();
    assert_eq!(texts.len(), all().count());
}

#[test]
fn what_was_told_is_read_back_as_the_same_code() {
    for code in all() {
        assert_eq!(Code::read(code.as_str()), Some(code));
    }
    assert_eq!(Code::read("NO_SUCH_CODE"), None);
}

#[test]
fn every_error_below_names_a_code_that_is_known() {
    let mut sources = Vec::new();
    find_sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut sources);
    let named: BTreeSet<&str> = sources.iter().flat_map(|source| codes(source)).collect();
    let unknown: Vec<_> = named.iter().filter(|text| Code::read(text).is_none()).collect();
    assert_eq!(unknown, [&""; 0]);
    assert!(named.contains("BUG") && named.contains("LEASE_LOST") && named.contains("NO_IDENTITY"));
    for finding in [Finding::FileMalformed, Finding::FileTruncated, Finding::FormatNewer] {
        assert!(Code::read(finding.as_str()).is_some(), "{finding}");
    }
}

#[test]
fn error_that_names_an_unknown_code_is_a_bug_and_says_which() {
    struct Unlisted;
    impl fmt::Display for Unlisted {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("expected this, found that")
        }
    }
    impl Reason for Unlisted {
        fn code(&self) -> &'static str {
            "NOT_LISTED_ANYWHERE"
        }
    }
    let refusal = Refusal::from(Unlisted);
    assert_eq!((refusal.code, Code::of("NOT_LISTED_ANYWHERE")), (Code::Bug, Code::Bug));
    assert_eq!(refusal.message, "NOT_LISTED_ANYWHERE: expected this, found that");
    assert!(refusal.cure.is_some());
}

/// Returns every text of upper-case words in a source.
pub(super) fn codes(source: &str) -> impl Iterator<Item = &str> {
    let is_code =
        |text: &&str| text.len() > 1 && text.chars().all(|sign| sign.is_ascii_uppercase() || sign == '_');
    source.split('"').filter(is_code)
}

/// Finds the sources in which an error names its code: all that implement `Reason`, and two that are asked without it.
fn find_sources(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("tests") {
            find_sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && !path.ends_with("code/tests.rs")
        {
            let source = fs::read_to_string(&path).unwrap();
            let is_asked =
                path.ends_with("ledger/src/verify.rs") || path.ends_with("identity/verification.rs");
            if is_asked || source.contains("\nimpl Reason for ") {
                found.push(source);
            }
        }
    }
}

#[test]
fn what_is_worth_another_try_is_never_called_ours() {
    for code in Code::OWN.iter().filter(|code| code.is_passing()) {
        assert_eq!(code.class(), Class::Busy, "{code}");
    }
}
