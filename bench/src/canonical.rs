//! Canonical JSON: our writer beside serde_jcs, our readers beside serde_json.

use std::hint::black_box;

use anyhow::{Result, ensure};
use demur_core::canonical;
use demur_core::limit::Limits;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::event::Envelope;
use crate::report::{Bar, Report};
use demur_bench::measure::compare;

/// Measures writing and reading of one usual event.
pub(crate) fn run(report: &mut Report) -> Result<()> {
    let typed = Envelope::sample();
    let value = serde_json::to_value(&typed)?;
    let bytes = canonical::to_vec(&typed)?;
    ensure!(bytes == serde_jcs::to_vec(&typed)?, "both writers must write the same bytes");
    ensure!(bytes == canonical::to_vec(&value)?, "typed and untyped values must be written alike");
    write(report, &typed, &value, bytes.len())?;
    read(report, &bytes)
}

fn write(report: &mut Report, typed: &Envelope, value: &Value, length: usize) -> Result<()> {
    let row = |what: &str| format!("write {length} B, {what}");
    let ours_typed = || canonical::to_vec(black_box(typed));
    let theirs_typed = || serde_jcs::to_vec(black_box(typed));
    let ours_value = || canonical::to_vec(black_box(value));
    let theirs_value = || serde_jcs::to_vec(black_box(value));
    let plain = || serde_json::to_vec(black_box(typed));
    let bar = Some(Bar::Ratio(6.0));
    report.add(&row("typed / serde_jcs typed"), "/s", compare(1.0, ours_typed, theirs_typed)?, bar);
    report.add(&row("typed / serde_jcs Value"), "/s", compare(1.0, ours_typed, theirs_value)?, bar);
    report.add(&row("Value / serde_jcs Value"), "/s", compare(1.0, ours_value, theirs_value)?, bar);
    report.add(&row("typed / serde_json typed"), "/s", compare(1.0, ours_typed, plain)?, None);
    Ok(())
}

fn read(report: &mut Report, bytes: &[u8]) -> Result<()> {
    #[expect(clippy::cast_precision_loss, reason = "an event is short")]
    let length = bytes.len() as f64;
    let row = |what: &str| format!("read {} B, {what}", bytes.len());
    let check = || canonical::check(black_box(bytes), &Limits::EVENT);
    let scan = || canonical::scan(black_box(bytes), &Limits::EVENT);
    let skip = || serde_json::from_slice::<IgnoredAny>(black_box(bytes));
    let ours = || canonical::from_canonical::<Envelope>(black_box(bytes), &Limits::EVENT);
    let theirs = || serde_json::from_slice::<Envelope>(black_box(bytes));
    report.add(
        &row("check / serde_json skipping"),
        "B/s",
        compare(length, check, skip)?,
        Some(Bar::Rate(1e9)),
    );
    report.add(&row("scan / serde_json skipping"), "B/s", compare(length, scan, skip)?, None);
    report.add(&row("from_canonical typed / serde_json typed"), "/s", compare(1.0, ours, theirs)?, None);
    Ok(())
}
