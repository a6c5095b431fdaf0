//! The list of promises, `conformance/requirements.toml`, and its comparison with a Markdown list.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};
use serde::Deserialize;

/// Every promise, in the order of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequirementList {
    #[serde(rename = "group", default)]
    pub(crate) groups: Vec<Group>,
    #[serde(rename = "requirement", default)]
    pub(crate) requirements: Vec<Requirement>,
}

/// The requirements of one source document.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Group {
    /// What its ids begin with.
    pub(crate) id: String,
    pub(crate) title: String,
}

/// One promise.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Requirement {
    pub(crate) id: String,
    pub(crate) group: String,
    pub(crate) text: String,
    pub(crate) status: Status,
}

/// How far a promise is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    Open,
    Done,
}

impl RequirementList {
    /// Returns the list, after checking that ids are unique and belong to their group.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let list: Self = toml::from_str(text)?;
        let groups: BTreeSet<&str> = list.group_ids().into_iter().collect();
        let mut seen = BTreeSet::new();
        for Requirement { id, group, .. } in &list.requirements {
            if !groups.contains(group.as_str()) {
                bail!("{id} is in the group `{group}`, which is not listed");
            }
            if id.strip_prefix(group.as_str()).and_then(|rest| rest.strip_prefix('-')).is_none() {
                bail!("{id} should begin with its group, `{group}-`");
            }
            if !seen.insert(id) {
                bail!("{id} is listed twice");
            }
        }
        Ok(list)
    }

    /// Returns the ids of the groups, in the order of the file.
    pub(crate) fn group_ids(&self) -> Vec<&str> {
        self.groups.iter().map(|group| group.id.as_str()).collect()
    }

    /// Returns a sentence for each id or text that differs from the rows `| ID | text |` of a Markdown list.
    pub(crate) fn differences_from_markdown(&self, markdown: &str) -> Vec<String> {
        let theirs: BTreeMap<&str, &str> = markdown.lines().filter_map(markdown_row).collect();
        let ours: BTreeMap<&str, &str> = self
            .requirements
            .iter()
            .map(|requirement| (requirement.id.as_str(), requirement.text.as_str()))
            .collect();
        if theirs.is_empty() {
            return vec!["the Markdown list holds no rows of the form `| ID | text |`".to_owned()];
        }
        let missing = theirs.keys().filter(|id| !ours.contains_key(*id));
        let extra = ours.keys().filter(|id| !theirs.contains_key(*id));
        let changed = ours.iter().filter_map(|(id, text)| Some((id, text, theirs.get(id)?)));
        let mut differences: Vec<String> =
            missing.map(|id| format!("{id} is in the Markdown list only")).collect();
        differences.extend(extra.map(|id| format!("{id} is not in the Markdown list")));
        differences.extend(
            changed.filter(|(_, ours, theirs)| ours != theirs).map(|(id, ours, theirs)| {
                format!("{id} reads `{ours}`, but `{theirs}` in the Markdown list")
            }),
        );
        differences
    }
}

/// Returns id and text of a table row whose first cell looks like an id.
fn markdown_row(line: &str) -> Option<(&str, &str)> {
    let (id, text) = line.trim().strip_prefix('|')?.strip_suffix('|')?.split_once('|')?;
    let (group, number) = id.trim().split_once('-')?;
    let looks_like_id = !group.is_empty()
        && group.chars().all(|character| character.is_ascii_uppercase())
        && !number.is_empty()
        && number.chars().all(|character| character.is_ascii_digit());
    looks_like_id.then(|| (id.trim(), text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differences(markdown: &str) -> Vec<String> {
        RequirementList::parse(LIST).unwrap().differences_from_markdown(markdown)
    }

    #[test]
    fn reads_groups_and_requirements() {
        let list = RequirementList::parse(LIST).unwrap();
        assert_eq!(list.group_ids(), ["LED"]);
        assert_eq!(list.requirements[1].status, Status::Done);
    }

    #[test]
    fn refuses_what_is_inconsistent() {
        for (from, to, expected) in [
            ("LED-02", "LED-01", "LED-01 is listed twice"),
            ("id = \"LED-02\"", "id = \"CLR-02\"", "CLR-02 should begin with its group, `LED-`"),
            ("group = \"LED\"\ntext = \"Two\"", "group = \"CLR\"\ntext = \"Two\"", "which is not listed"),
            ("done", "later", "unknown variant"),
            ("text = \"Two\"", "words = \"Two\"", "unknown field"),
        ] {
            let error = RequirementList::parse(&LIST.replace(from, to)).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn equal_lists_do_not_differ() {
        assert_eq!(
            differences("# T\n| id | requirement |\n|---|---|\n| LED-01 | One |\n| LED-02 | Two |\n"),
            [""; 0]
        );
    }

    #[test]
    fn names_every_difference() {
        assert_eq!(
            differences("| LED-02 | Zwei |\n| LED-03 | Three |"),
            [
                "LED-03 is in the Markdown list only",
                "LED-01 is not in the Markdown list",
                "LED-02 reads `Two`, but `Zwei` in the Markdown list",
            ]
        );
    }

    #[test]
    fn empty_markdown_list_is_a_difference() {
        assert_eq!(differences("nothing here").len(), 1);
    }

    const LIST: &str = r#"
[[group]]
id = "LED"
title = "ledger"

[[requirement]]
id = "LED-01"
group = "LED"
text = "One"
status = "open"

[[requirement]]
id = "LED-02"
group = "LED"
text = "Two"
status = "done"
"#;
}
