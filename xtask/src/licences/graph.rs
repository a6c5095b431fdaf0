//! The part of `cargo metadata` that the rules read.

use std::collections::BTreeSet;

use serde::Deserialize;

/// Every package of the workspace and what it depends on.
#[derive(Debug, Deserialize)]
pub(crate) struct Graph {
    pub(crate) packages: Vec<Package>,
    workspace_members: BTreeSet<String>,
    resolve: Resolve,
}

/// One version of one crate.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    features: Vec<String>,
}

impl Graph {
    /// Returns the members of the workspace that name this crate as a dependency, of whatever kind.
    pub(crate) fn direct_dependents(&self, name: &str) -> Vec<&str> {
        let members = self.packages.iter().filter(|package| self.workspace_members.contains(&package.id));
        members
            .filter(|member| member.dependencies.iter().any(|dependency| dependency.name == name))
            .map(|member| member.name.as_str())
            .collect()
    }

    /// Returns whether any version of this crate is built with this feature.
    pub(crate) fn enables(&self, name: &str, feature: &str) -> bool {
        let ids: BTreeSet<&str> = self.packages_named(name).map(|package| package.id.as_str()).collect();
        let mut nodes = self.resolve.nodes.iter().filter(|node| ids.contains(node.id.as_str()));
        nodes.any(|node| node.features.iter().any(|enabled| enabled == feature))
    }

    /// Returns every version of this crate.
    pub(crate) fn packages_named(&self, name: &str) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(move |package| package.name == name)
    }
}

impl Package {
    /// Returns the part of the version that decides compatibility: `2` of 2.13.2, `0.16` of 0.16.1.
    pub(crate) fn compatible_version(&self) -> &str {
        let numbers = self.version.split(['+', '-']).next().unwrap_or_default();
        let mut end = 0;
        for number in numbers.split('.') {
            end += number.len();
            if number != "0" {
                break;
            }
            end += 1;
        }
        numbers.get(..end).unwrap_or(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compatible_version_ends_with_the_first_number_that_counts() {
        for (version, expected) in [
            ("2.13.2", "2"),
            ("0.16.1", "0.16"),
            ("0.0.3", "0.0.3"),
            ("1.1.8+spec-1.1.0", "1"),
            ("0.0.0", "0.0.0"),
        ] {
            let package = Package {
                id: String::new(),
                name: String::new(),
                version: version.to_owned(),
                license: None,
                dependencies: Vec::new(),
            };
            assert_eq!(package.compatible_version(), expected);
        }
    }
}
