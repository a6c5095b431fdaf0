//! `demur rules explain`: for each gap of a plan which pack, row or policy made it, and what in the plan made that apply.

use demur_api::code::Code;
use demur_clarify::gap::Severity;
use demur_core::{hash::Digest, visible::visible};
use demur_rules::{Finding, PackName, Settled};
use serde::Serialize;

use super::{check, read_plan, tables::Tables};
use crate::{
    arguments::ExplainRules,
    context::Context,
    failure::Failure,
    output::{Paint, Reply, counted},
};

/// Explains the gaps of a plan.
pub(super) fn run(context: &mut Context<'_>, arguments: &ExplainRules) -> Result<(), Failure> {
    let rules = arguments.rules.source().load(&context.data()?)?;
    let plan = read_plan(&arguments.plan)?;
    let findings = rules.detect(&plan, &Settled::default()).map_err(|error| {
        Failure::of(Code::TooManyGaps, error).with_hint("correct the plan and look again")
    })?;
    let tables = Tables::of(&rules)?;
    let gaps = findings.into_iter().map(|finding| {
        let pack = tables.pack(&finding.rule).map(str::to_owned);
        Explained { finding, pack }
    });
    context.output.reply(&ExplainReply {
        gaps: gaps.collect(),
        hash: rules.hash(),
        packs: rules.packs().to_vec(),
    })
}

#[derive(Serialize)]
struct ExplainReply {
    gaps: Vec<Explained>,
    /// What a decision by these rules records.
    hash: Digest,
    packs: Vec<PackName>,
}

#[derive(Serialize)]
struct Explained {
    #[serde(flatten)]
    finding: Finding,
    /// Where its row comes from; none where it follows from no single row.
    pack: Option<String>,
}

impl Reply for ExplainReply {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let by = format!("by {}", check::packs(&self.packs));
        let mut lines = match self.gaps.len() {
            0 => vec![format!("{} {by} the plan leaves nothing open.", paint.good("No gaps:"))],
            more => vec![format!("{} {by}.", counted(more, "gap"))],
        };
        lines.push(format!("  hash      {}", self.hash));
        for gap in &self.gaps {
            lines.push(String::new());
            lines.extend(gap.lines(paint));
        }
        lines
    }
}

impl Explained {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let Self { finding, pack } = self;
        let severity = match finding.severity {
            Severity::Block => "BLOCK",
            Severity::Warn => "WARN",
        };
        let from = pack.as_ref().map_or_else(String::new, |pack| format!(" of pack {}", visible(pack)));
        let mut lines = vec![paint.strong(&format!("{severity} {}", finding.field))];
        let mut row = |label: &str, value: &str| lines.push(format!("  {label:<10}{}", visible(value)));
        row("rule", &format!("{}{from}", finding.rule));
        row("why", &finding.because);
        row("question", &finding.question);
        lines
    }
}
