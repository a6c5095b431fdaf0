//! Finding the ids that genuine tests name. An id in any other place counts for nothing.

use std::path::{Path, PathBuf};

use super::mention::{ids_in_comment, ids_in_name};
use crate::source::{Function, SourceMap};

/// An id that a test names, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedId {
    pub(crate) id: String,
    pub(crate) path: PathBuf,
    /// Counted from one, as editors do.
    pub(crate) line: usize,
}

/// How a file writes its tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TestLanguage {
    Rust,
    Python,
    JavaScript,
}

impl TestLanguage {
    /// The endings of all files that may hold tests.
    pub(crate) const EXTENSIONS: [&str; 5] = ["rs", "py", "js", "mjs", "ts"];

    /// Returns the language of a file that may hold tests. Rust has tests in any file, the others by name only.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let (stem, extension) = name.rsplit_once('.')?;
        match extension {
            "rs" => Some(Self::Rust),
            "py" if stem.starts_with("test_") || stem.ends_with("_test") => Some(Self::Python),
            "js" | "mjs" | "ts" if matches!(stem.rsplit_once('.'), Some((_, "test" | "spec"))) => {
                Some(Self::JavaScript)
            }
            _ => None,
        }
    }

    fn comment_mark(self) -> &'static str {
        match self {
            Self::Python => "#",
            Self::Rust | Self::JavaScript => "//",
        }
    }

    /// Returns the name of the test that a line of a script begins, empty where tests have titles instead.
    fn test_name(self, line: &str) -> Option<&str> {
        match self {
            Self::Python => {
                let definition = line.strip_prefix("async ").unwrap_or(line).strip_prefix("def ")?;
                definition.split('(').next().filter(|name| name.starts_with("test"))
            }
            Self::JavaScript => {
                ["test(", "it(", "Deno.test("].iter().any(|call| line.starts_with(call)).then_some("")
            }
            Self::Rust => None,
        }
    }
}

/// Returns the ids named by the tests in a file.
pub(crate) fn ids_in_tests(language: TestLanguage, path: &Path, text: &str, groups: &[&str]) -> Vec<NamedId> {
    let found = match language {
        TestLanguage::Rust => ids_in_rust(text, groups),
        TestLanguage::Python | TestLanguage::JavaScript => ids_in_script(language, text, groups),
    };
    found.into_iter().map(|(index, id)| NamedId { id, path: path.to_owned(), line: index + 1 }).collect()
}

fn ids_in_rust(text: &str, groups: &[&str]) -> Vec<(usize, String)> {
    let functions = SourceMap::new(text).functions;
    functions
        .iter()
        .filter(|function| function.is_test())
        .flat_map(|test| ids_of_test(test, groups))
        .collect()
}

fn ids_of_test(test: &Function, groups: &[&str]) -> Vec<(usize, String)> {
    let in_name = ids_in_name(&test.name, groups).into_iter().map(|id| (test.lines.start, id));
    let in_documentation = test
        .documentation
        .iter()
        .flat_map(|(index, text)| ids_in_comment(text, groups).into_iter().map(move |id| (*index, id)));
    in_documentation.chain(in_name).collect()
}

/// Returns ids from the comment lines directly above each test; decorators may stand between.
fn ids_in_script(language: TestLanguage, text: &str, groups: &[&str]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut above = Vec::new();
    for (index, line) in text.lines().map(str::trim).enumerate() {
        if let Some(comment) = line.strip_prefix(language.comment_mark()) {
            above.extend(ids_in_comment(comment, groups).into_iter().map(|id| (index, id)));
        } else if let Some(name) = language.test_name(line) {
            found.append(&mut above);
            found.extend(ids_in_name(name, groups).into_iter().map(|id| (index, id)));
        } else if !line.starts_with('@') {
            above.clear();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUPS: [&str; 2] = ["LED", "CLR"];

    fn ids(language: TestLanguage, text: &str) -> Vec<String> {
        ids_in_tests(language, Path::new("a"), text, &GROUPS).into_iter().map(|named| named.id).collect()
    }

    #[test]
    fn rust_tests_name_ids_in_documentation_and_name() {
        let text = "/// LED-01..02\n#[test]\nfn clr_04_holds() {}";
        assert_eq!(ids(TestLanguage::Rust, text), ["LED-01", "LED-02", "CLR-04"]);
    }

    #[test]
    fn rust_tests_inside_proptest_count() {
        let text = "proptest! {\n    /// LED-05\n    #[test]\n    fn holds(x in 0..9) {}\n}";
        assert_eq!(ids(TestLanguage::Rust, text), ["LED-05"]);
    }

    #[test]
    fn other_mentions_in_rust_do_not_count() {
        for text in [
            "//! LED-05\nfn a() {}",
            "/// LED-05\npub fn a() {}",
            "// LED-05\n#[test]\nfn a() {}",
            "/// LED-05\nstruct A;\n#[test]\nfn a() {}",
            "#[test]\nfn a() {\n    // LED-05\n}",
            "fn led_05_helper() {}",
            "/// LED-05\n#[test]\n#[ignore]\nfn a() {}",
            "const A: &str = r#\"\n/// LED-05\n#[test]\nfn a() {}\n\"#;",
            "/* /// LED-05\n#[test]\nfn a() {} */",
        ] {
            assert!(ids(TestLanguage::Rust, text).is_empty(), "{text}");
        }
    }

    #[test]
    fn python_tests_name_ids_above_and_in_name() {
        let text = "# LED-05\n@slow\ndef test_clr_04():\n    pass\n# LED-06\nx = 1\ndef test_b():\n    # LED-07\n    pass\n";
        assert_eq!(ids(TestLanguage::Python, text), ["LED-05", "CLR-04"]);
        assert!(ids(TestLanguage::Python, "# LED-05\ndef helper():\n    pass\n").is_empty());
    }

    #[test]
    fn javascript_tests_name_ids_above() {
        let text = "// LED-05\ntest('a', () => {});\n// LED-06\nconst a = 1;\n// LED-07\ntest.skip('b', () => {});\n";
        assert_eq!(ids(TestLanguage::JavaScript, text), ["LED-05"]);
    }

    #[test]
    fn only_test_files_of_scripts_count() {
        assert_eq!(TestLanguage::of(Path::new("a/test_verify.py")), Some(TestLanguage::Python));
        assert_eq!(TestLanguage::of(Path::new("a/verify.py")), None);
        assert_eq!(TestLanguage::of(Path::new("web/inbox.test.mjs")), Some(TestLanguage::JavaScript));
        assert_eq!(TestLanguage::of(Path::new("web/inbox.js")), None);
    }

    #[test]
    fn says_where_an_id_is_named() {
        let named = ids_in_tests(
            TestLanguage::Rust,
            Path::new("a.rs"),
            "//! A.\n/// LED-05\n#[test]\nfn a() {}",
            &GROUPS,
        );
        assert_eq!(named, [NamedId { id: "LED-05".into(), path: "a.rs".into(), line: 2 }]);
    }
}
