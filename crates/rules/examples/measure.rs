//! Prints how long one look at a plan takes with the built-in rules: the median of many.
#![expect(clippy::print_stdout, reason = "a program that prints its result")]
#![expect(clippy::disallowed_methods, reason = "it measures time")]

use std::{error::Error, hint::black_box, time::Instant};

use demur_rules::{Plan, Rules, Settled};

fn main() -> Result<(), Box<dyn Error>> {
    let begin = Instant::now();
    let rules = Rules::builtin()?;
    println!("loading the built-in pack: {:?}", begin.elapsed());
    let plans = [("complete", COMPLETE), ("with five gaps", GAPS)];
    for (name, text) in plans {
        let plan = Plan::read(text.as_bytes())?;
        let mut times = Vec::with_capacity(ROUNDS);
        for _ in 0..ROUNDS {
            let begin = Instant::now();
            black_box(rules.detect(black_box(&plan), &Settled::default())?);
            times.push(begin.elapsed());
        }
        times.sort_unstable();
        let gaps = rules.detect(&plan, &Settled::default())?.len();
        println!(
            "{name}, {gaps} gaps: median {:?}, 99 % within {:?}",
            times[ROUNDS / 2],
            times[ROUNDS * 99 / 100]
        );
    }
    Ok(())
}

const ROUNDS: usize = 10_000;

const COMPLETE: &str = r#"{"description": "A web part with the news of the trust", "component_type": "webpart-react",
  "operation": "add", "standards_selected": ["NHS Trust", "DTAC"], "compliance": {"overlaps": {"gdpr": {"lgpd": true}}},
  "languages": ["en-gb", "cy"], "libraries": ["pnp-sp", "dayjs"], "data_storage": "properties", "api_choice": "rest",
  "spo_theme": true, "real_build": true, "output_path": "dist", "deployment_target": "SharePoint Online"}"#;

const GAPS: &str = r#"{"description": "A web part", "operation": "add", "standards_selected": ["JSP 440", "GDPR"],
  "languages": ["en-gb", "ar-sa"], "real_build": true, "deployment_target": "USWDS"}"#;
