//! Prints how many events a core reads and validates in a second, beside what `serde_json` alone takes for the same text, and how many
//! pass through the queue of a subscription.
#![expect(clippy::print_stdout, reason = "a program that prints its result")]
#![expect(clippy::disallowed_methods, reason = "it measures time")]

use std::{
    error::Error,
    hint::black_box,
    time::{Duration, Instant},
};

use demur_aaep::{capability::Capabilities, event::EventReader, subscription::DeliveryQueue};
use demur_core::time::Timestamp;
use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    let reader = EventReader::default();
    let pretty: String = CLARIFICATION.to_owned();
    let compact = serde_json::from_str::<Value>(&pretty)?.to_string();
    for (name, text) in [("as in the seed", pretty), ("compact", compact)] {
        reader.read(text.as_bytes())?;
        let ours = fastest(|| drop(black_box(reader.read(black_box(text.as_bytes())))));
        let plain = fastest(|| drop(black_box(serde_json::from_str::<Value>(black_box(&text)))));
        let ratio = ours.as_secs_f64() / plain.as_secs_f64();
        println!(
            "{name}, {} bytes: {:.0} events/s read and validated; serde_json to a Value {:.0}/s; ratio {ratio:.2}",
            text.len(),
            1.0 / ours.as_secs_f64(),
            1.0 / plain.as_secs_f64(),
        );
    }
    let (event, terms) = (reader.read(CLARIFICATION.as_bytes())?.event, Capabilities::default());
    let (mut queue, mut place) = (DeliveryQueue::new(&terms, 0, Timestamp::MIN), 0);
    let fed = fastest(|| {
        place += 1;
        drop(black_box(queue.feed(place, &event, &terms, &[], Timestamp::MIN)));
    });
    println!("through a queue: {:.0} events/s", 1.0 / fed.as_secs_f64());
    Ok(())
}

/// Returns how long one call takes in the fastest of many rounds: others share the machine.
fn fastest(mut work: impl FnMut()) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        (0..CALLS).for_each(|_| work());
        best = best.min(begin.elapsed());
    }
    best / CALLS
}

const ROUNDS: u32 = 60;
const CALLS: u32 = 2000;

/// The second example of the seed.
const CLARIFICATION: &str = include_str!("../../../conformance/aaep/seed/example-2.json");
