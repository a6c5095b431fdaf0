//! Our conditions beside cedar-policy 4.14.1: random policies in the part of its language that rule packs have, each
//! against random plans that lack fields or have them in another shape (`docs/rules.md`). What Cedar decides we decide
//! alike; where it errs, we ask or decide without the field. `cargo xtask bench cedar` runs it.
//!
//! With the usual count and seed the table in `docs/benchmarks.md` has to be the one that comes out; `DEMUR_BLESS=1` writes it
//! there.
//!
//! Usage: demur-cedar [POLICIES [SEED]]

mod page;
mod random;

use std::env;
use std::io::{self, Write as _};

use anyhow::{Context as _, Result, ensure};
use cedar_policy::{Authorizer, Context, Entities, PolicySet, Request};
use demur_rules::{Pack, Plan, Rules, Settled};
use serde_json::Value;

use self::page::grouped;
use self::random::Dice;

fn main() -> Result<()> {
    let mut arguments = env::args().skip(1);
    let policies =
        arguments.next().map_or(Ok(POLICIES), |text| text.parse()).context("not a count of policies")?;
    let seed = arguments.next().map_or(Ok(SEED), |text| text.parse()).context("not a seed")?;
    let table = compare(policies, seed)?;
    write!(io::stdout().lock(), "\n{table}")?;
    if (policies, seed) == (POLICIES, SEED) { page::hold(&table) } else { Ok(()) }
}

/// Compares this many policies and returns the table of what came out; an error if any differs.
fn compare(policies: u32, seed: u64) -> Result<String> {
    let (mut dice, mut tally) = (Dice::new(seed), Tally::default());
    for _ in 0..policies {
        let policy = Policy::new(&dice.policy());
        match (policy.cedar(), policy.ours()) {
            (Some(cedar), Some(ours)) => {
                for _ in 0..PLANS {
                    let plan = dice.plan();
                    let (theirs, ours) = (by_cedar(&cedar, &plan)?, by_us(&ours, &plan)?);
                    tally.count(&policy, &plan, theirs, ours);
                    // Giving a field changes what `has` says, so this holds only without it.
                    if theirs == Verdict::Open && ours != Verdict::Open && !policy.text.contains(" has ") {
                        for _ in 0..COMPLETIONS {
                            let complete = dice.complete(&plan);
                            tally.confirm(&policy, &complete, by_cedar(&cedar, &complete)?, ours);
                        }
                    }
                }
            }
            (None, None) => tally.refused += 1,
            (Some(_), None) => tally.differ(&format!("only we refuse {}", policy.text)),
            (None, Some(_)) => tally.differ(&format!("only Cedar refuses {}", policy.text)),
        }
    }
    ensure!(tally.differed == 0, "{} conditions differ from Cedar", tally.differed);
    Ok(tally.table(policies, seed))
}

/// What came of all comparisons.
#[derive(Default)]
struct Tally {
    holds: u64,
    fails: u64,
    erred_and_asked: u64,
    erred_and_decided: u64,
    /// Plans with every field, about which Cedar says what we had decided without.
    confirmed: u64,
    /// Policies that neither reads.
    refused: u64,
    differed: u64,
}

impl Tally {
    fn count(&mut self, policy: &Policy, plan: &Value, cedar: Verdict, ours: Verdict) {
        match (cedar, ours) {
            (Verdict::Holds, Verdict::Holds) => self.holds += 1,
            (Verdict::Fails, Verdict::Fails) => self.fails += 1,
            (Verdict::Open, Verdict::Open) => self.erred_and_asked += 1,
            (Verdict::Open, _) => self.erred_and_decided += 1,
            _ => self.differ(&format!("Cedar {cedar:?}, we {ours:?}: {plan} against {}", policy.text)),
        }
    }

    /// Counts what Cedar says to a plan that has what another lacked, which we decided without it.
    fn confirm(&mut self, policy: &Policy, plan: &Value, cedar: Verdict, ours: Verdict) {
        match cedar {
            Verdict::Open => {}
            decided if decided == ours => self.confirmed += 1,
            _ => self.differ(&format!("Cedar {cedar:?}, we before {ours:?}: {plan} against {}", policy.text)),
        }
    }

    fn differ(&mut self, what: &str) {
        self.differed += 1;
        if self.differed <= SHOWN {
            eprintln!("cedar: {what}");
        }
    }

    fn table(&self, policies: u32, seed: u64) -> String {
        let [holds, fails, agreed] = [self.holds, self.fails, self.holds + self.fails].map(grouped);
        let (policies, differed) = (grouped(policies.into()), grouped(self.differed));
        let rows = [
            (format!("{policies} random policies, each on {PLANS} random plans, seed {seed}"), String::new()),
            ("agreed".to_owned(), format!("{agreed} ({holds} true, {fails} false)")),
            ("**differed**".to_owned(), format!("**{differed}**")),
            ("Cedar erred and we asked for a field".to_owned(), grouped(self.erred_and_asked)),
            ("Cedar erred and we decided without the field".to_owned(), grouped(self.erred_and_decided)),
            ("Cedar said the same once it had the fields".to_owned(), grouped(self.confirmed)),
            ("policies that both refuse to read".to_owned(), grouped(self.refused)),
        ];
        let mut lines = rows.iter().map(|(name, figure)| {
            if figure.is_empty() { format!("| {name} | |\n") } else { format!("| {name} | {figure} |\n") }
        });
        let heading = lines.next().unwrap_or_default();
        format!("{heading}|---|---|\n{}", lines.collect::<String>())
    }
}

/// What a side says about a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Holds,
    Fails,
    /// Cedar erred, or we ask for a field.
    Open,
}

/// The text of one policy.
struct Policy {
    text: String,
}

impl Policy {
    fn new(clauses: &str) -> Self {
        let annotations = format!("@id(\"it\") @field(\"{GAP}\") @question(\"?\")");
        Self { text: format!("{annotations}\nforbid (principal, action, resource) {clauses};") }
    }

    fn cedar(&self) -> Option<PolicySet> {
        self.text.parse().ok()
    }

    fn ours(&self) -> Option<Rules> {
        let files = [("pack.toml", "[pack]\nname = \"one\"\nversion = \"1\"\n"), ("one.cedar", &self.text)];
        Rules::layer(&[Pack::read(files).ok()?]).ok()
    }
}

fn by_cedar(policies: &PolicySet, plan: &Value) -> Result<Verdict> {
    let context = Context::from_json_value(plan.clone(), None)?;
    let (principal, action, resource) = ("P::\"a\"".parse()?, "A::\"a\"".parse()?, "R::\"a\"".parse()?);
    let request = Request::new(principal, action, resource, context, None)?;
    let response = Authorizer::new().is_authorized(&request, policies, &Entities::empty());
    let diagnostics = response.diagnostics();
    Ok(match (diagnostics.errors().next(), diagnostics.reason().next()) {
        (Some(_), _) => Verdict::Open,
        (None, Some(_)) => Verdict::Holds,
        (None, None) => Verdict::Fails,
    })
}

fn by_us(rules: &Rules, plan: &Value) -> Result<Verdict> {
    let plan = Plan::try_from(plan.clone()).context("not a plan")?;
    let found = rules.detect(&plan, &Settled::default())?;
    Ok(match found.as_slice() {
        [] => Verdict::Fails,
        [one] if one.field.as_str() == GAP => Verdict::Holds,
        _ => Verdict::Open,
    })
}

/// Where a gap is if the policy holds: a field that no condition needs, so no question for a field stands there.
const GAP: &str = "nowhere";
const POLICIES: u32 = 20_000;
const SEED: u64 = 1;
const PLANS: u32 = 20;
/// How many times the missing fields are given to a plan that we decided without them.
const COMPLETIONS: u32 = 5;
const SHOWN: u64 = 10;
