//! Codes and statuses as they were when every refusal still carried them by itself: none of them may change.

use std::collections::BTreeSet;

use super::*;

/// Which codes each status was sent with. A text under two statuses stands for two codes.
const BEFORE: [(u16, &str); 15] = [
    (
        400,
        "AGENT_NAME AGENT_UNKNOWN ANSWER_INVALID ANSWER_KIND ARGUMENTS ARTIFACT_MISSING \
          CHOICES_ALIKE CURSOR_INVALID DOCUMENT_INVALID FILE_EXISTS FILE_MALFORMED FILE_TRUNCATED \
          FORMAT_NEWER KEY_FILE_MALFORMED KEY_FILE_OPEN KEY_UNKNOWN MALFORMED MESSAGE_MALFORMED \
          NAME_INVALID NAME_MISSING NOT_A_RUN NO_DATA_FOLDER NO_IDENTITY NO_RULES OUTPUT_INVALID \
          PLAN_MALFORMED ROLE_NOT_OF_A_RUN SCOPE_INVALID SCOPE_MISSING SECRET_ELSEWHERE \
          SESSION_UNREADABLE STORE_EXISTS TASK_INVALID TOO_MANY_GAPS TYPE_FORBIDDEN",
    ),
    (401, "LINK_SPENT UNAUTHENTICATED"),
    (403, "FORBIDDEN FORM_FOREIGN ORIGIN_FORBIDDEN"),
    (
        404,
        "ARTIFACT_UNKNOWN EVENT_UNKNOWN GAP_UNKNOWN IDENTITY_UNKNOWN NAME_UNKNOWN NOT_FOUND \
          PERSON_UNKNOWN QUESTION_UNKNOWN RECEIPT_UNKNOWN SCHEMA_UNKNOWN SECRET_GONE SESSION_UNKNOWN \
          TOKEN_UNKNOWN TRACE_UNKNOWN",
    ),
    (405, "METHOD_NOT_ALLOWED"),
    (408, "TOO_SLOW"),
    (
        409,
        "ASSURANCE_TOO_LOW BUNDLE_INCOMPLETE CLAIM_UNKNOWN CONNECTION_LOST CONTENDED DESK_KEY_IN_USE HOLDER_KNOWN KEY_STANDING KEY_UNKNOWN MOVED \
          MUST_BE_ANSWERED NAME_TAKEN NEEDS_CLARIFICATION NOT_ATTESTED NOT_ENTITLED NOT_PARTICIPANT \
          NOT_TEXT NO_DEADLINE NO_SERVER NO_TCP OUT_OF_PLAN PERSON_NEEDED PERSON_RELEASES \
          PORT_FORBIDDEN PORT_TAKEN PROFILE_CONFLICT QUESTION_CLOSED RECORD_CHANGED ROTATED_ALREADY RUN_CLAIMED \
          RUN_NOT_BEGUN RUN_OVER SECRET_ELSEWHERE SERVER_SILENT SESSION_CONFLICT TASK_CHANGED TOO_MANY_PEOPLE TOO_MANY_TOKENS TRACE_CONFLICT TRACE_NEWER \
          VERDICT_UNFOUNDED VERSION_MISMATCH",
    ),
    (413, "TOO_LARGE"),
    (415, "MEDIA_TYPE"),
    (421, "HOST_FORBIDDEN"),
    (422, "IDEMPOTENCY_CONFLICT"),
    (429, "TOO_MANY_ATTEMPTS TOO_MANY_CALLS"),
    (
        500,
        "BUG CLIENT_TROUBLE CLOCK FILE_TROUBLE FILE_UNREADABLE FILE_UNUSABLE LEASE_LOST NO_DESK_KEY NO_KEYS \
          NO_RANDOMNESS NO_STORE OUTPUT_TROUBLE PIPE_TROUBLE RECORD_DAMAGED RULES_MALFORMED \
          SERVER_ENDED SERVER_TROUBLE STORE_DAMAGED STORE_FOREIGN STORE_NEWER STORE_OLDER STORE_READ_ONLY \
          STORE_STOPPED STORE_TROUBLE WRITE_UNCERTAIN",
    ),
    (503, "FOLDER_IN_USE NO_REPLY OVERLOADED STOPPING STORE_LOCKED"),
    (507, "DISK_FULL"),
];

fn before() -> BTreeSet<(u16, &'static str)> {
    BEFORE.iter().flat_map(|(status, texts)| texts.split_whitespace().map(|text| (*status, text))).collect()
}

#[test]
fn every_code_has_the_status_it_had() {
    let rules: BTreeSet<_> = RuleCode::ALL.iter().map(|rule| Code::of(rule.as_str())).collect();
    let all = Code::OWN.iter().copied().chain(rules);
    let now: BTreeSet<_> = all.map(|code| (code.status(), code.as_str())).collect();
    let of_rules = RuleCode::ALL.iter().map(|rule| (409, rule.as_str()));
    let expected = before().into_iter().chain(of_rules.filter(|(_, text)| *text != "QUESTION_UNKNOWN"));
    assert_eq!(now, expected.collect());
}

#[test]
fn what_was_told_is_read_back_as_the_same_code() {
    let rules = RuleCode::ALL.iter().map(|rule| Code::of(rule.as_str()));
    for code in Code::OWN.iter().copied().chain(rules) {
        let read = Code::read(code.as_str(), code.status()).unwrap();
        assert_eq!((read.as_str(), read.status()), (code.as_str(), code.status()));
        // The same text and the same status: where the record does not hold, the store's word is taken for it.
        assert!(read == code || code == Code::RecordUnproven, "{code:?} came back as {read:?}");
    }
    assert_eq!(Code::read("NO_SUCH_CODE", 400), None);
}

#[test]
fn a_text_with_two_meanings_is_told_apart_by_its_status() {
    assert_eq!(Code::read("KEY_UNKNOWN", 400), Some(Code::KeyUnknown));
    assert_eq!(Code::read("KEY_UNKNOWN", 409), Some(Code::Rule(RuleCode::KEY_UNKNOWN)));
    assert_eq!(Code::read("SECRET_ELSEWHERE", 409), Some(Code::AskerElsewhere));
}

#[test]
fn an_error_that_names_a_rule_has_the_code_of_that_rule() {
    assert_eq!(Code::of("ANSWER_KIND"), Code::Rule(RuleCode::ANSWER_KIND));
    assert_eq!(Code::of("QUESTION_UNKNOWN"), Code::QuestionUnknown);
    assert_eq!(Code::of("DISK_FULL"), Code::DiskFull);
    assert_eq!(Code::of("NOT_LISTED_ANYWHERE").as_str(), "NOT_LISTED_ANYWHERE");
}

#[test]
fn what_is_worth_another_try_is_never_called_ours() {
    for code in Code::OWN.iter().filter(|code| code.is_passing()) {
        assert_eq!(code.class(), Class::Busy, "{code}");
    }
}
