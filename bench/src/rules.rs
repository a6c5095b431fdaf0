//! Plans held against rule packs: what one look costs beside canonical JSON of the same plan, which every plan pays when
//! it is recorded, and what loading a pack costs. Processor time.

use std::{hint::black_box, io::Write, time::Duration};

use anyhow::{Context as _, Result, ensure};
use demur_bench::{
    clock::spent_by_thread,
    measure::compare,
    table::{Table, met},
};
use demur_core::canonical;
use demur_rules::{Pack, Plan, Rules, Settled};

/// Measures looks and loading.
pub(crate) fn run(out: &mut impl Write) -> Result<()> {
    let mut table = Table::new(["plan", "gaps", "median", "p99", "canonical JSON", "ratio", "bar met"]);
    let (default, travel) = (Rules::builtin()?, travel()?);
    for case in CASES {
        let rules = match case.pack {
            Against::Default => &default,
            Against::Travel => &travel,
        };
        eprintln!("rules: {}", case.name);
        table.row(case.measure(rules)?);
    }
    table.write(out)?;
    let mut table = Table::new(["loading", "median", "p99"]);
    table.row(load("default pack", Rules::builtin)?);
    table.row(load("travel pack", || Rules::layer(&[Pack::read(TRAVEL)?]))?);
    table.write(out)?;
    Ok(())
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
    fn measure(&self, rules: &Rules) -> Result<[String; 7]> {
        let (plan, settled) = (Plan::read(self.plan.as_bytes())?, Settled::default());
        let found = rules.detect(&plan, &settled)?.len();
        ensure!(found == self.gaps, "{}: expected {} gaps, found {found}", self.name, self.gaps);
        let look = || rules.detect(black_box(&plan), &settled);
        let rates = compare(1.0, look, || canonical::to_vec(black_box(plan.as_value())))?;
        let [_, p99] = quantiles(LOOKS, look)?;
        let median = 1e6 / rates.ours;
        Ok([
            self.name.to_owned(),
            found.to_string(),
            format!("{median:.1} us"),
            format!("{p99:.1} us"),
            format!("{:.2} us", 1e6 / rates.reference),
            format!("{:.0}", 1.0 / rates.ratio),
            met(median < BAR && p99 < BAR).to_owned(),
        ])
    }
}

fn load<T, E>(name: &str, mut work: impl FnMut() -> Result<T, E>) -> Result<[String; 3]> {
    let [median, p99] = quantiles(LOADS, &mut work)?.map(|time| format!("{:.2} ms", time / 1e3));
    Ok([name.to_owned(), median, p99])
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
        name: "default pack, complete",
        pack: Against::Default,
        gaps: 0,
        plan: r#"{"description": "A web part with the news of the trust", "component_type": "webpart-react",
            "operation": "add", "standards_selected": ["NHS Trust", "DTAC"],
            "compliance": {"overlaps": {"gdpr": {"lgpd": true}}}, "languages": ["en-gb", "cy"],
            "libraries": ["pnp-sp", "dayjs"], "data_storage": "properties", "api_choice": "rest", "spo_theme": true,
            "real_build": true, "output_path": "dist", "deployment_target": "SharePoint Online"}"#,
    },
    Case {
        name: "default pack, five gaps",
        pack: Against::Default,
        gaps: 5,
        plan: r#"{"description": "A web part", "operation": "add", "standards_selected": ["JSP 440", "GDPR"],
            "languages": ["en-gb", "ar-sa"], "real_build": true, "deployment_target": "USWDS"}"#,
    },
    Case {
        name: "travel pack, complete",
        pack: Against::Travel,
        gaps: 0,
        plan: r#"{"purpose": "a conference", "traveller": {"name": "Ada Lovelace", "nationality": "GB"},
            "trip": {"to": "Leeds", "country": "GB", "kind": "one-way", "depart": 20260510},
            "budget": {"amount": 900, "currency": "GBP"}, "payment": {"currency": "GBP"},
            "fare": {"refundable": true}}"#,
    },
    Case {
        name: "travel pack, two gaps",
        pack: Against::Travel,
        gaps: 2,
        plan: r#"{"purpose": "a conference", "traveller": {"name": "Ada Lovelace", "nationality": "GB"},
            "trip": {"to": "Pune", "country": "IN", "kind": "one-way", "depart": 20260510},
            "budget": {"amount": 900, "currency": "GBP"}, "payment": {"currency": "GBP"},
            "fare": {"refundable": true}}"#,
    },
];
