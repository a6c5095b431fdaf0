//! Which promises have tests, as a table for people and as problems for the gate.

use std::collections::BTreeSet;
use std::fmt;

use super::list::{Group, Requirement, RequirementList, Status};
use super::scan::NamedId;

/// The list of promises beside the ids that tests name.
#[derive(Debug)]
pub(crate) struct Coverage<'a> {
    list: &'a RequirementList,
    named: &'a [NamedId],
    covered: BTreeSet<&'a str>,
}

impl<'a> Coverage<'a> {
    /// Returns the coverage of a list by tests.
    pub(crate) fn new(list: &'a RequirementList, named: &'a [NamedId]) -> Self {
        Self { list, named, covered: named.iter().map(|named| named.id.as_str()).collect() }
    }

    /// Returns a sentence for each `done` requirement without a test and each id that does not exist.
    pub(crate) fn problems(&self) -> Vec<String> {
        let known: BTreeSet<&str> =
            self.list.requirements.iter().map(|requirement| requirement.id.as_str()).collect();
        let unknown = self.named.iter().filter(|named| !known.contains(named.id.as_str()));
        let unkept = self.list.requirements.iter().filter(|requirement| {
            requirement.status == Status::Done && !self.covered.contains(requirement.id.as_str())
        });
        let mut problems: Vec<String> = unknown
            .map(|NamedId { id, path, line }| format!("{}:{line}: {id} is not a requirement", path.display()))
            .collect();
        problems
            .extend(unkept.map(|requirement| format!("{} is done, but no test names it", requirement.id)));
        problems
    }

    fn requirements_of(&self, group: &Group) -> Vec<&'a Requirement> {
        self.list.requirements.iter().filter(|requirement| requirement.group == group.id).collect()
    }

    /// Returns the ids of a group that no test names, neighbours in the list joined to ranges.
    fn uncovered_ranges(&self, group: &Group) -> String {
        let requirements = self.requirements_of(group);
        let runs = requirements
            .chunk_by(|left, right| self.is_covered(left) == self.is_covered(right) && follow(left, right));
        let uncovered = runs.filter(|run| !self.is_covered(run[0]));
        uncovered.map(range).collect::<Vec<_>>().join(" ")
    }

    fn is_covered(&self, requirement: &Requirement) -> bool {
        self.covered.contains(requirement.id.as_str())
    }
}

impl fmt::Display for Coverage<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "group  covered  uncovered  done  of")?;
        for group in &self.list.groups {
            write_row(formatter, &group.id, &self.requirements_of(group), &self.covered, &group.title)?;
        }
        write_row(formatter, "all", &self.list.requirements.iter().collect::<Vec<_>>(), &self.covered, "")?;
        writeln!(formatter, "\nuncovered:")?;
        for group in &self.list.groups {
            let ranges = self.uncovered_ranges(group);
            if !ranges.is_empty() {
                writeln!(formatter, "  {ranges}")?;
            }
        }
        Ok(())
    }
}

fn write_row(
    formatter: &mut fmt::Formatter<'_>,
    name: &str,
    requirements: &[&Requirement],
    covered: &BTreeSet<&str>,
    title: &str,
) -> fmt::Result {
    let all = requirements.len();
    let covered = requirements.iter().filter(|requirement| covered.contains(requirement.id.as_str())).count();
    let done = requirements.iter().filter(|requirement| requirement.status == Status::Done).count();
    let row = format!("{name:5}  {covered:7}  {:9}  {done:4}  {all:3}  {title}", all - covered);
    writeln!(formatter, "{}", row.trim_end())
}

/// Returns whether one id is the number after the other, so that a range may span both.
fn follow(left: &Requirement, right: &Requirement) -> bool {
    let number = |requirement: &Requirement| {
        requirement.id.rsplit('-').next().and_then(|digits| digits.parse::<u32>().ok())
    };
    number(left).zip(number(right)).is_some_and(|(left, right)| left + 1 == right)
}

fn range(run: &[&Requirement]) -> String {
    match run {
        [] => String::new(),
        [only] => only.id.clone(),
        [first, .., last] => format!("{}..{}", first.id, last.id.rsplit('-').next().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(entries: &[(&str, &str)]) -> RequirementList {
        let requirement = |(id, status): &(&str, &str)| {
            format!("[[requirement]]\nid = \"{id}\"\ngroup = \"LED\"\ntext = \"T\"\nstatus = \"{status}\"\n")
        };
        let requirements: Vec<String> = entries.iter().map(requirement).collect();
        let text = format!("[[group]]\nid = \"LED\"\ntitle = \"ledger\"\n{}", requirements.concat());
        RequirementList::parse(&text).unwrap()
    }

    fn named(id: &str) -> NamedId {
        NamedId { id: id.to_owned(), path: "a.rs".into(), line: 7 }
    }

    #[test]
    fn open_requirement_without_test_is_no_problem() {
        assert_eq!(Coverage::new(&list(&[("LED-01", "open")]), &[]).problems(), [""; 0]);
    }

    #[test]
    fn done_requirement_without_test_is_a_problem() {
        let list = list(&[("LED-01", "done")]);
        assert_eq!(Coverage::new(&list, &[]).problems(), ["LED-01 is done, but no test names it"]);
        assert_eq!(Coverage::new(&list, &[named("LED-01")]).problems(), [""; 0]);
    }

    #[test]
    fn unknown_id_is_a_problem_with_its_place() {
        let list = list(&[("LED-01", "open")]);
        assert_eq!(
            Coverage::new(&list, &[named("LED-99")]).problems(),
            ["a.rs:7: LED-99 is not a requirement"]
        );
    }

    #[test]
    fn prints_counts_and_uncovered_ranges() {
        let list = list(&[
            ("LED-01", "open"),
            ("LED-02", "open"),
            ("LED-03", "done"),
            ("LED-04", "open"),
            ("LED-05", "open"),
            ("LED-10", "open"),
        ]);
        let named = [named("LED-03")];
        let printed = Coverage::new(&list, &named).to_string();
        assert!(printed.contains("LED          1          5     1    6  ledger\n"), "{printed}");
        assert!(printed.ends_with("uncovered:\n  LED-01..02 LED-04..05 LED-10\n"), "{printed}");
    }
}
