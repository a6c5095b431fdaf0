//! What the bytes of an artifact say, looked up in them (`docs/format.md` 10). Pure, and bounded: of bytes beyond the
//! limits of a line nothing is said.

use demur_core::{canonical, limit::Limits};
use serde::Deserialize;

use crate::facts::VerificationStatus;

/// Returns the status that a report bears: its member `status`, where its bytes are a JSON object.
pub(crate) fn status(report: &[u8]) -> Option<VerificationStatus> {
    #[derive(Deserialize)]
    struct Report {
        status: VerificationStatus,
    }
    canonical::from_json::<Report>(report, &Limits::LINE).ok().map(|report| report.status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_bears_the_status_that_it_names_once() {
        let bears = |report: &str| status(report.as_bytes());
        assert_eq!(bears(r#"{"status":"pass"}"#), Some(VerificationStatus::Pass));
        assert_eq!(bears("{ \"verdict\": [1.50],\n\"status\": \"fail\" }"), Some(VerificationStatus::Fail));
        for none in [
            "",
            "pass",
            "\"pass\"",
            "{}",
            r#"["pass"]"#,
            r#"[["status","pass"]]"#,
            r#"{"status":"Pass"}"#,
            r#"{"status":["pass"]}"#,
            r#"{"status":"not_established"}"#,
            r#"{"status":"pass","status":"pass"}"#,
            r#"{"status":"pass"}{}"#,
            r#"{"verdict":{"status":"pass"}}"#,
        ] {
            assert_eq!(bears(none), None, "{none}");
        }
    }
}
