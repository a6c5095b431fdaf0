//! Rates of two pieces of work that take turns on one thread, so that both see the same machine. They count
//! processor time: what others do on the machine in the meantime is not charged.

use std::hint::black_box;
use std::time::Duration;

use anyhow::Result;

use crate::clock::spent_by_thread;

/// The median rates of our work and of its reference, in units per second.
#[derive(Debug, Clone, Copy)]
pub struct Comparison {
    /// Our rate.
    pub ours: f64,
    /// The rate of the reference.
    pub reference: f64,
    /// The median of the ratios of neighbouring passes, which drift cannot move.
    pub ratio: f64,
}

/// Returns the rates of two pieces of work; `units` is what one call of either does.
pub fn compare<A, B>(
    units: f64,
    mut ours: impl FnMut() -> A,
    mut reference: impl FnMut() -> B,
) -> Result<Comparison> {
    let (our_calls, reference_calls) = (calibrate(&mut ours)?, calibrate(&mut reference)?);
    let mut passes: Vec<(f64, f64)> = Vec::with_capacity(PASSES);
    for _ in 0..PASSES {
        let our_rate = rate(units, our_calls, &mut ours)?;
        passes.push((our_rate, rate(units, reference_calls, &mut reference)?));
    }
    Ok(Comparison {
        ours: median(passes.iter().map(|pass| pass.0)),
        reference: median(passes.iter().map(|pass| pass.1)),
        ratio: median(passes.iter().map(|pass| pass.0 / pass.1)),
    })
}

/// Returns the middle one of these values; there is at least one.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Returns how many calls fill a pass.
fn calibrate<T>(work: &mut impl FnMut() -> T) -> Result<u32> {
    let mut calls = 1;
    loop {
        let spent = time(calls, work)?;
        if spent >= PASS / 4 {
            let wanted = f64::from(calls) * PASS.as_secs_f64() / spent.as_secs_f64();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a count of calls, rounded"
            )]
            return Ok(wanted.max(1.0) as u32);
        }
        calls *= 2;
    }
}

fn rate<T>(units: f64, calls: u32, work: &mut impl FnMut() -> T) -> Result<f64> {
    Ok(units * f64::from(calls) / time(calls, work)?.as_secs_f64())
}

fn time<T>(calls: u32, work: &mut impl FnMut() -> T) -> Result<Duration> {
    let ((), spent) = spent_by_thread(|| {
        for _ in 0..calls {
            black_box(work());
        }
    })?;
    Ok(spent)
}

/// How long one pass takes.
const PASS: Duration = Duration::from_millis(60);

/// How many passes each piece of work gets; odd, so that there is a middle one.
const PASSES: usize = 15;
