//! What the verifier says about a trace, in its own words.

use askama::Template;
use demur_ledger::verify::Report;

use crate::{
    frame::{Frame, Here},
    text::{self, Html},
    trace::About,
};

/// The report on a trace.
#[derive(Template)]
#[template(path = "verification.html")]
pub struct VerificationPage<'a> {
    /// The frame.
    pub frame: &'a Frame,
    /// The trace.
    pub about: About,
    found: Found,
}

enum Found {
    Report(String),
    NotExported(Html),
    TooLong,
}

impl<'a> VerificationPage<'a> {
    /// Returns the page of a report.
    pub fn new(frame: &'a Frame, about: About, report: &Report) -> Self {
        Self { frame, about, found: Found::Report(report.to_html_body()) }
    }

    /// Returns the page of a trace that cannot be exported.
    pub fn not_exported(frame: &'a Frame, about: About, reason: &str) -> Self {
        Self { frame, about, found: Found::NotExported(text::line(reason)) }
    }

    /// Returns the page of a trace that is too long to be verified for a page.
    pub const fn too_long(frame: &'a Frame, about: About) -> Self {
        Self { frame, about, found: Found::TooLong }
    }
}
