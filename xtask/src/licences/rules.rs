//! The rules for dependencies. Each returns a sentence per breach that names the cure.

use std::collections::{BTreeMap, BTreeSet};

use super::expression::Expression;
use super::graph::{Graph, Package};
use super::settings::{Scope, Settings};

/// Returns every breach of a rule.
pub(crate) fn problems(graph: &Graph, settings: &Settings) -> Vec<String> {
    let mut problems = licences(graph, settings);
    problems.extend(banned_crates(graph, settings));
    problems.extend(banned_features(graph, settings));
    problems.extend(duplicates(graph, settings));
    problems.extend(package_count(graph, settings));
    problems
}

fn licences(graph: &Graph, settings: &Settings) -> Vec<String> {
    let allowed: BTreeSet<&str> = settings.licences.iter().map(|licence| licence.id.as_str()).collect();
    graph.packages.iter().filter_map(|package| licence_problem(package, &allowed)).collect()
}

fn licence_problem(package: &Package, allowed: &BTreeSet<&str>) -> Option<String> {
    let Package { name, version, license, .. } = package;
    let Some(license) = license else {
        return Some(format!("{name} {version} declares no licence expression"));
    };
    match Expression::parse(license) {
        Ok(expression) if expression.is_satisfied_by(&|licence| allowed.contains(licence)) => None,
        Ok(_) => Some(format!("{name} {version} has the licence `{license}`, which is not allowed")),
        Err(error) => {
            Some(format!("{name} {version} has the licence `{license}`, which cannot be read: {error}"))
        }
    }
}

fn banned_crates(graph: &Graph, settings: &Settings) -> Vec<String> {
    let mut problems = Vec::new();
    for banned in &settings.banned_crates {
        let (name, reason) = (&banned.name, &banned.reason);
        match banned.scope {
            Scope::Direct => {
                let dependents = graph.direct_dependents(name);
                problems.extend(
                    dependents.iter().map(|dependent| format!("{dependent} depends on {name}: {reason}")),
                );
            }
            Scope::Anywhere if graph.packages_named(name).next().is_some() => {
                problems.push(format!("{name} is in the tree (`cargo tree -i {name}` shows why): {reason}"));
            }
            Scope::Anywhere => {}
        }
    }
    problems
}

fn banned_features(graph: &Graph, settings: &Settings) -> Vec<String> {
    let enabled =
        settings.banned_features.iter().filter(|banned| graph.enables(&banned.name, &banned.feature));
    enabled
        .map(|banned| format!("the feature {}/{} is enabled: {}", banned.name, banned.feature, banned.reason))
        .collect()
}

/// Returns crates in the tree twice that are not listed, and listed ones that no longer are or have changed.
fn duplicates(graph: &Graph, settings: &Settings) -> Vec<String> {
    let mut found: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for package in &graph.packages {
        found.entry(&package.name).or_default().insert(package.compatible_version().to_owned());
    }
    found.retain(|_, versions| versions.len() > 1);

    let mut problems = Vec::new();
    for listed in &settings.duplicates {
        let name = listed.name.as_str();
        match found.remove(name) {
            None => problems.push(format!(
                "the allowed duplicate {name} is stale: it is in the tree once at most; remove it"
            )),
            Some(versions) if versions != listed.versions => problems.push(format!(
                "the allowed duplicate {name} is stale: {} are listed, {} are in the tree",
                join(&listed.versions),
                join(&versions)
            )),
            Some(_) => {}
        }
    }
    let unlisted = found.iter().map(|(name, versions)| {
        format!(
            "{name} is in the tree in versions {}; bring them together or list it with a reason",
            join(versions)
        )
    });
    problems.extend(unlisted);
    problems
}

fn package_count(graph: &Graph, settings: &Settings) -> Option<String> {
    let (count, limit) = (graph.packages.len(), settings.packages.limit);
    (count > limit).then(|| {
        format!("{count} packages are in the tree, at most {limit} are allowed; drop one or raise the limit with a reason")
    })
}

fn join(versions: &BTreeSet<String>) -> String {
    versions.iter().map(String::as_str).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns a graph of our own crate `app`, which depends on the first package, and the packages.
    fn graph(packages: &[(&str, &str, &str)], features: &[&str]) -> Graph {
        let mut all = vec![json!({
            "id": "app", "name": "app", "version": "0.1.0", "license": "MIT",
            "dependencies": packages.iter().take(1).map(|(name, ..)| json!({ "name": name })).collect::<Vec<_>>(),
        })];
        let mut nodes = vec![json!({ "id": "app", "features": [] })];
        for (name, version, license) in packages {
            let id = format!("{name}@{version}");
            all.push(
                json!({ "id": id, "name": name, "version": version, "license": license, "dependencies": [] }),
            );
            nodes.push(json!({ "id": id, "features": features }));
        }
        let graph = json!({ "packages": all, "workspace_members": ["app"], "resolve": { "nodes": nodes } });
        serde_json::from_value(graph).unwrap()
    }

    fn settings(more: &str) -> Settings {
        let text = format!(
            "[packages]\nlimit = 4\nreason = \"r\"\n[[licence]]\nid = \"MIT\"\nreason = \"r\"\n{more}"
        );
        Settings::parse(&text).unwrap()
    }

    fn found(packages: &[(&str, &str, &str)], more: &str) -> Vec<String> {
        problems(&graph(packages, &["std", "preserve_order"]), &settings(more))
    }

    #[test]
    fn allowed_tree_has_no_problems() {
        assert_eq!(found(&[("a", "1.0.0", "MIT OR GPL-3.0")], ""), [""; 0]);
    }

    #[test]
    fn refuses_licences_that_are_not_listed() {
        let problems = found(&[("a", "1.0.0", "GPL-3.0"), ("b", "2.0.0", "MIT AND")], "");
        assert_eq!(problems[0], "a 1.0.0 has the licence `GPL-3.0`, which is not allowed");
        assert!(
            problems[1].starts_with("b 2.0.0 has the licence `MIT AND`, which cannot be read"),
            "{problems:?}"
        );
    }

    #[test]
    fn refuses_a_package_without_licence() {
        let mut graph = graph(&[("a", "1.0.0", "MIT")], &[]);
        graph.packages[1].license = None;
        assert_eq!(problems(&graph, &settings("")), ["a 1.0.0 declares no licence expression"]);
    }

    #[test]
    fn direct_ban_leaves_others_alone() {
        let ban = "[[banned-crate]]\ncrate = \"time\"\nscope = \"direct\"\nreason = \"use jiff\"\n";
        assert_eq!(found(&[("time", "1.0.0", "MIT")], ban), ["app depends on time: use jiff"]);
        assert_eq!(found(&[("a", "1.0.0", "MIT"), ("time", "1.0.0", "MIT")], ban), [""; 0]);
    }

    #[test]
    fn ban_anywhere_reaches_the_whole_tree() {
        let ban = "[[banned-crate]]\ncrate = \"b\"\nscope = \"anywhere\"\nreason = \"r\"\n";
        assert_eq!(found(&[("a", "1.0.0", "MIT"), ("b", "1.0.0", "MIT")], ban).len(), 1);
        assert_eq!(found(&[("a", "1.0.0", "MIT")], ban), [""; 0]);
    }

    #[test]
    fn refuses_banned_features() {
        let ban = |feature: &str| {
            format!("[[banned-feature]]\ncrate = \"serde_json\"\nfeature = \"{feature}\"\nreason = \"r\"\n")
        };
        let packages = [("serde_json", "1.0.0", "MIT")];
        assert_eq!(
            found(&packages, &ban("preserve_order")),
            ["the feature serde_json/preserve_order is enabled: r"]
        );
        assert_eq!(found(&packages, &ban("arbitrary_precision")), [""; 0]);
        assert_eq!(found(&[("a", "1.0.0", "MIT")], &ban("preserve_order")), [""; 0]);
    }

    #[test]
    fn refuses_duplicates_that_are_not_listed() {
        let packages = [("a", "1.0.0", "MIT"), ("a", "2.1.0", "MIT")];
        assert_eq!(found(&packages, "").len(), 1);
        assert_eq!(found(&packages, &listed(&["1", "2"])), [""; 0]);
    }

    #[test]
    fn refuses_stale_entries() {
        let stale = found(&[("a", "1.0.0", "MIT")], &listed(&["1", "2"]));
        assert_eq!(stale, ["the allowed duplicate a is stale: it is in the tree once at most; remove it"]);
        let changed = found(&[("a", "1.0.0", "MIT"), ("a", "3.0.0", "MIT")], &listed(&["1", "2"]));
        assert_eq!(
            changed,
            ["the allowed duplicate a is stale: 1 and 2 are listed, 1 and 3 are in the tree"]
        );
    }

    #[test]
    fn refuses_more_packages_than_the_limit() {
        let packages =
            |count: usize| ["a", "b", "c", "d"].map(|name| (name, "1.0.0", "MIT"))[..count].to_vec();
        assert_eq!(found(&packages(3), ""), [""; 0]);
        assert_eq!(found(&packages(4), "").len(), 1);
    }

    fn listed(versions: &[&str]) -> String {
        format!("[[duplicate]]\ncrate = \"a\"\nversions = {versions:?}\nreason = \"r\"\n")
    }
}
