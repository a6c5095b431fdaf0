//! Plans held against rule packs: what one look costs beside canonical JSON of the same plan, which every plan pays when
//! it is recorded, and what loading a pack costs. Processor time.

use std::{hint::black_box, io::Write, time::Duration};

use anyhow::{Context as _, Result, ensure};
use demur_bench::{clock::spent_by_thread, measure::compare};
use demur_core::canonical;
use demur_rules::{Pack, Plan, Rules, Settled};

/// Measures looks and loading.
pub(crate) fn run(out: &mut impl Write) -> Result<()> {
    writeln!(out)?;
    writeln!(
        out,
        "{:<28} {:>5} {:>10} {:>8} {:>13} {:>6}  bar",
        "plan against a pack", "gaps", "median us", "p99 us", "canonical us", "ratio"
    )?;
    let (default, travel) = (Rules::builtin()?, travel()?);
    for case in CASES {
        let rules = match case.pack {
            Against::Default => &default,
            Against::Travel => &travel,
        };
        eprintln!("rules: {}", case.name);
        case.measure(rules, out)?;
    }
    writeln!(out)?;
    writeln!(out, "{:<28} {:>5} {:>10} {:>8}", "loading a pack", "", "median us", "p99 us")?;
    load("default", Rules::builtin, out)?;
    load("travel", || Rules::layer(&[Pack::read(TRAVEL)?]), out)
}

/// A plan and how many gaps it has.
struct Case {
    name: &'static str,
    pack: Against,
    gaps: usize,
    plan: &'static str,
}

#[derive(Clone, Copy)]
enum Against {
    Default,
    Travel,
}

impl Case {
    fn measure(&self, rules: &Rules, out: &mut impl Write) -> Result<()> {
        let (plan, settled) = (Plan::read(self.plan.as_bytes())?, Settled::default());
        let found = rules.detect(&plan, &settled)?.len();
        ensure!(found == self.gaps, "{}: expected {} gaps, found {found}", self.name, self.gaps);
        let look = || rules.detect(black_box(&plan), &settled);
        let rates = compare(1.0, look, || canonical::to_vec(black_box(plan.as_value())))?;
        let [_, p99] = quantiles(LOOKS, look)?;
        let median = 1e6 / rates.ours;
        let met = if median < BAR && p99 < BAR { "met" } else { "missed" };
        writeln!(
            out,
            "{:<28} {found:>5} {median:>10.1} {p99:>8.1} {:>13.2} {:>6.0}  under {:.0} ms: {met}",
            self.name,
            1e6 / rates.reference,
            1.0 / rates.ratio,
            BAR / 1e3
        )?;
        Ok(())
    }
}

fn load<T, E>(name: &str, mut work: impl FnMut() -> Result<T, E>, out: &mut impl Write) -> Result<()> {
    let [median, p99] = quantiles(LOADS, &mut work)?;
    writeln!(out, "{name:<28} {:>5} {median:>10.0} {p99:>8.0}", "")?;
    Ok(())
}

/// Returns the median and the 99th of a hundred, in microseconds, of single calls. What reading the clock costs is
/// measured, too, and taken off.
fn quantiles<T>(calls: usize, mut work: impl FnMut() -> T) -> Result<[f64; 2]> {
    let [clock, _] = sorted(calls, || ())?;
    Ok(sorted(calls, || black_box(work()))?.map(|time| time.saturating_sub(clock).as_secs_f64() * 1e6))
}

fn sorted<T>(calls: usize, mut work: impl FnMut() -> T) -> Result<[Duration; 2]> {
    let mut times = Vec::with_capacity(calls);
    for _ in 0..calls {
        times.push(spent_by_thread(&mut work)?.1);
    }
    times.sort_unstable();
    let at = |share: usize| times.get(calls * share / 100).copied().context("no calls");
    Ok([at(50)?, at(99)?])
}

fn travel() -> Result<Rules> {
    Ok(Rules::layer(&[Pack::read(TRAVEL)?])?)
}

/// What one look may cost, in microseconds.
const BAR: f64 = 1000.0;
const LOOKS: usize = 10_000;
const LOADS: usize = 500;

const TRAVEL: [(&str, &str); 2] = [
    ("travel/pack.toml", include_str!("../../examples/rules/travel/pack.toml")),
    ("travel/trip.cedar", include_str!("../../examples/rules/travel/trip.cedar")),
];

const CASES: [Case; 4] = [
    Case {
        name: "default, complete",
        pack: Against::Default,
        gaps: 0,
        plan: r#"{"description": "A web part with the news of the trust", "component_type": "webpart-react",
            "operation": "add", "standards_selected": ["NHS Trust", "DTAC"],
            "compliance": {"overlaps": {"gdpr": {"lgpd": true}}}, "languages": ["en-gb", "cy"],
            "libraries": ["pnp-sp", "dayjs"], "data_storage": "properties", "api_choice": "rest", "spo_theme": true,
            "real_build": true, "output_path": "dist", "deployment_target": "SharePoint Online"}"#,
    },
    Case {
        name: "default, five gaps",
        pack: Against::Default,
        gaps: 5,
        plan: r#"{"description": "A web part", "operation": "add", "standards_selected": ["JSP 440", "GDPR"],
            "languages": ["en-gb", "ar-sa"], "real_build": true, "deployment_target": "USWDS"}"#,
    },
    Case {
        name: "travel, complete",
        pack: Against::Travel,
        gaps: 0,
        plan: r#"{"purpose": "a conference", "traveller": {"name": "Ada Lovelace", "nationality": "GB"},
            "trip": {"to": "Leeds", "country": "GB", "kind": "one-way", "depart": 20260510},
            "budget": {"amount": 900, "currency": "GBP"}, "payment": {"currency": "GBP"},
            "fare": {"refundable": true}}"#,
    },
    Case {
        name: "travel, two gaps",
        pack: Against::Travel,
        gaps: 2,
        plan: r#"{"purpose": "a conference", "traveller": {"name": "Ada Lovelace", "nationality": "GB"},
            "trip": {"to": "Pune", "country": "IN", "kind": "one-way", "depart": 20260510},
            "budget": {"amount": 900, "currency": "GBP"}, "payment": {"currency": "GBP"},
            "fare": {"refundable": true}}"#,
    },
];
