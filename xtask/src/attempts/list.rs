//! The list of attempts, `conformance/attempts.toml`.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use serde::Deserialize;

/// Every demand, in the order of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AttemptList {
    #[serde(rename = "group", default)]
    pub(crate) groups: Vec<DemandGroup>,
    #[serde(rename = "demand", default)]
    pub(crate) demands: Vec<Demand>,
}

/// Demands that stand in one table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DemandGroup {
    pub(crate) id: String,
    pub(crate) title: String,
    /// What the reader has to know first.
    pub(crate) about: String,
    /// The ways in that can say what these demands refuse.
    pub(crate) ways: Vec<Way>,
}

/// Something that must not be.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Demand {
    pub(crate) group: String,
    pub(crate) text: String,
    /// The ways in that can say it, where these differ from its group's.
    pub(crate) ways: Option<Vec<Way>>,
    pub(crate) attempts: Vec<Attempt>,
}

/// One attempt: who, through which way, what comes of it, and the test that makes it.
#[derive(Debug, Deserialize)]
#[serde(from = "(Speaker, Way, String, String)")]
pub(crate) struct Attempt {
    pub(crate) who: Speaker,
    pub(crate) way: Way,
    /// The code of the refusal, or in words what the report says.
    pub(crate) refusal: String,
    /// `server::run::NAME`, or `attack::NAME` of the corpus.
    pub(crate) test: String,
}

impl From<(Speaker, Way, String, String)> for Attempt {
    fn from((who, way, refusal, test): (Speaker, Way, String, String)) -> Self {
        Self { who, way, refusal, test }
    }
}

/// Who tries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Speaker {
    /// The executor of a run.
    Executor,
    /// Any other agent: planner, critic, auditor, who submits a plan or asks.
    Agent,
    /// Another program of the user who runs demur.
    SameUser,
    /// Whoever has the data folder, its database and its keys.
    Operator,
}

impl Speaker {
    /// Returns the word people read.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Executor => "executor",
            Self::Agent => "agent",
            Self::SameUser => "same user",
            Self::Operator => "operator",
        }
    }
}

/// A way in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Way {
    /// Requests with a token.
    Http,
    /// Tools of MCP.
    Mcp,
    /// The lines of an agent in a process of its own.
    Lines,
    /// The command, over the socket.
    CommandLine,
    /// The inbox in a browser.
    Page,
    /// The database, or a file that somebody is given.
    Files,
}

impl Way {
    /// Returns the word people read.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "HTTP",
            Self::Mcp => "MCP",
            Self::Lines => "lines",
            Self::CommandLine => "command line",
            Self::Page => "page",
            Self::Files => "files",
        }
    }
}

impl AttemptList {
    /// Returns the list, after checking that groups exist and no demand stands twice.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let list: Self = toml::from_str(text)?;
        let mut seen = BTreeSet::new();
        for Demand { group, text, .. } in &list.demands {
            if !list.groups.iter().any(|known| known.id == *group) {
                bail!("`{text}` is in the group `{group}`, which is not listed");
            }
            if !seen.insert(text) {
                bail!("`{text}` is listed twice");
            }
        }
        Ok(list)
    }

    /// Returns every attempt with its demand.
    pub(crate) fn attempts(&self) -> impl Iterator<Item = (&Demand, &Attempt)> {
        self.demands.iter().flat_map(|demand| demand.attempts.iter().map(move |attempt| (demand, attempt)))
    }

    /// Returns the demands of a group.
    pub(crate) fn demands_of<'a>(&'a self, group: &'a DemandGroup) -> impl Iterator<Item = &'a Demand> {
        self.demands.iter().filter(|demand| demand.group == group.id)
    }

    /// Returns a sentence for each way in through which a demand can be broken and nobody tries.
    pub(crate) fn untried(&self) -> Vec<String> {
        let mut missing = Vec::new();
        for group in &self.groups {
            for demand in self.demands_of(group) {
                let tried: BTreeSet<Way> = demand.attempts.iter().map(|attempt| attempt.way).collect();
                let ways = demand.ways.as_ref().unwrap_or(&group.ways);
                let untried = ways.iter().filter(|way| !tried.contains(way));
                missing
                    .extend(untried.map(|way| format!("`{}`: nobody tries {}", demand.text, way.as_str())));
            }
        }
        missing
    }

    /// Returns a sentence for each code about meaning in the table of checks that no attempt meets.
    pub(crate) fn codes_without_attempt(&self, checks: &str) -> Vec<String> {
        let met: BTreeSet<&str> = self.attempts().map(|(_, attempt)| attempt.refusal.as_str()).collect();
        let codes = checks.lines().filter_map(|line| line.strip_prefix("| MEANING | `")?.split('`').next());
        codes.filter(|code| !met.contains(code)).map(|code| format!("no attempt meets {code}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"
[[group]]
id = "runs"
title = "Runs"
about = "What tools do."
ways = ["http", "lines"]

[[demand]]
group = "runs"
text = "the input is the one that was approved"
attempts = [["executor", "http", "INPUT_MISMATCH", "server::run::refuses"]]
"#;

    #[test]
    fn way_that_nobody_tries_is_a_problem() {
        let list = AttemptList::parse(LIST).unwrap();
        assert_eq!(list.untried(), ["`the input is the one that was approved`: nobody tries lines"]);
        let own = LIST.replace("attempts =", "ways = [\"http\"]\nattempts =");
        assert_eq!(AttemptList::parse(&own).unwrap().untried(), [""; 0]);
    }

    #[test]
    fn code_that_no_attempt_meets_is_a_problem() {
        let checks =
            "| MEANING | `INPUT_MISMATCH` | x |\n| MEANING | `RETRY_LIMIT` | x |\n| FILE | `A` | x |";
        let list = AttemptList::parse(LIST).unwrap();
        assert_eq!(list.codes_without_attempt(checks), ["no attempt meets RETRY_LIMIT"]);
    }

    #[test]
    fn refuses_what_is_inconsistent() {
        for (from, to, expected) in [
            ("group = \"runs\"", "group = \"plans\"", "which is not listed"),
            ("\"executor\"", "\"poet\"", "unknown variant"),
            ("\"http\", \"INPUT", "\"post\", \"INPUT", "unknown variant"),
        ] {
            let error = AttemptList::parse(&LIST.replace(from, to)).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
