//! The functions of a source file, with what stands above them, and the regions that only tests compile.

use std::ops::Range;

use super::Line;

/// What a source file holds, by line.
#[derive(Debug)]
pub(crate) struct SourceMap {
    pub(crate) lines: Vec<Line>,
    pub(crate) functions: Vec<Function>,
    /// Items below `#[cfg(test)]`, as ranges of line indices.
    test_regions: Vec<Range<usize>>,
}

/// One function that has a name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// Indices of its lines, from the one with `fn` to the one with the closing brace.
    pub(crate) lines: Range<usize>,
    /// The doc comment, line by line, with the index of each line.
    pub(crate) documentation: Vec<(usize, String)>,
    /// Attributes without spaces, such as `#[test]`.
    attributes: Vec<String>,
}

impl Function {
    /// Returns whether the test harness runs it: it has an attribute named `test` and is not ignored.
    pub(crate) fn is_test(&self) -> bool {
        self.attributes.iter().any(|attribute| attribute_name(attribute) == "test")
            && !self.attributes.iter().any(|attribute| attribute_name(attribute) == "ignore")
    }
}

impl SourceMap {
    /// Returns the map of a source text.
    pub(crate) fn new(text: &str) -> Self {
        let lines = Line::split(text);
        let mut reader = Reader { lines: &lines, ..Reader::default() };
        (0..lines.len()).for_each(|index| reader.read(index));
        let Reader { functions, test_regions, .. } = reader;
        Self { lines, functions, test_regions }
    }

    /// Returns whether only tests compile this line.
    pub(crate) fn is_test_line(&self, index: usize) -> bool {
        self.test_regions.iter().any(|region| region.contains(&index))
            || self.functions.iter().any(|function| function.is_test() && function.lines.contains(&index))
    }
}

/// Walks down the lines and keeps what stands above the next item.
#[derive(Default)]
struct Reader<'a> {
    lines: &'a [Line],
    documentation: Vec<(usize, String)>,
    attributes: Vec<String>,
    /// An attribute that goes on in the next line.
    open_attribute: String,
    functions: Vec<Function>,
    test_regions: Vec<Range<usize>>,
}

impl Reader<'_> {
    fn read(&mut self, index: usize) {
        let line = &self.lines[index];
        let code = self.without_attributes(line.code.trim());
        if code.is_empty() {
            if let Some(text) = line.comment.strip_prefix("///") {
                self.documentation.push((index, text.to_owned()));
            }
            return;
        }
        let attributes = std::mem::take(&mut self.attributes);
        let documentation = std::mem::take(&mut self.documentation);
        if attributes.iter().any(|attribute| is_test_condition(attribute)) {
            self.test_regions.push(index..self.end_of_item(index));
        }
        if let Some(name) = function_name(&code) {
            let lines = index..self.end_of_item(index);
            self.functions.push(Function { name: name.to_owned(), lines, documentation, attributes });
        }
    }

    /// Returns the code after its leading attributes, which are kept.
    fn without_attributes(&mut self, code: &str) -> String {
        let mut code = format!("{}{code}", std::mem::take(&mut self.open_attribute));
        while code.starts_with("#[") {
            let Some(end) = end_of_brackets(&code) else {
                self.open_attribute = code;
                return String::new();
            };
            let rest = code.split_off(end);
            self.attributes.push(code.split_whitespace().collect());
            code = String::from(rest.trim_start());
        }
        code
    }

    /// Returns the index after the last line of the item that starts in this line: the matching brace of its
    /// body, or the semicolon of an item without one.
    fn end_of_item(&self, start: usize) -> usize {
        let mut braces = 0_usize;
        let mut brackets = 0_usize;
        for (index, line) in self.lines.iter().enumerate().skip(start) {
            for character in line.code.chars() {
                match character {
                    '(' | '[' => brackets += 1,
                    ')' | ']' => brackets = brackets.saturating_sub(1),
                    '{' => braces += 1,
                    '}' if braces <= 1 => return index + 1,
                    '}' => braces -= 1,
                    // `[u8; 32]` in a signature ends nothing.
                    ';' if braces == 0 && brackets == 0 => return index + 1,
                    _ => {}
                }
            }
        }
        self.lines.len()
    }
}

/// Returns the index after the bracket that closes the first one.
fn end_of_brackets(code: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, character) in code.char_indices() {
        match character {
            '[' => depth += 1,
            ']' if depth <= 1 => return Some(index + 1),
            ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns the last segment of an attribute's path: `test` for `#[tokio::test(start_paused=true)]`.
fn attribute_name(attribute: &str) -> &str {
    let path = attribute.trim_start_matches("#[").split(['(', ']', '=']).next().unwrap_or_default();
    path.rsplit("::").next().unwrap_or_default()
}

fn is_test_condition(attribute: &str) -> bool {
    let Some(condition) = attribute.strip_prefix("#[cfg(") else { return false };
    !condition.contains("not(test")
        && condition.split(|c: char| !c.is_alphanumeric()).any(|word| word == "test")
}

/// Returns the name when the code starts a function, whatever stands before `fn`.
fn function_name(code: &str) -> Option<&str> {
    let (before, after) =
        code.split_once("fn ").filter(|(before, _)| before.is_empty() || before.ends_with(' '))?;
    let qualifiers = ["pub", "const", "async", "unsafe", "extern", "default", "\"\""];
    let is_qualifier =
        |word: &str| qualifiers.contains(&word) || word.starts_with("pub(") || word.ends_with(')');
    if !before.split_whitespace().all(is_qualifier) {
        return None;
    }
    let name = after.trim_start().split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        SourceMap::new(text).functions.into_iter().map(|function| function.name).collect()
    }

    #[test]
    fn finds_functions_whatever_stands_before_fn() {
        let text = "fn a() {}\n    pub(crate) async fn b() {}\npub(in crate::x) const fn c() {}\nextern \"C\" fn d() {}";
        assert_eq!(names(text), ["a", "b", "c", "d"]);
    }

    #[test]
    fn takes_no_other_fn_for_a_function() {
        assert!(names("let f: fn (u8) = g;\nlet s = \"fn a() {}\";\n// fn b() {}\nfn $name() {}").is_empty());
    }

    #[test]
    fn measures_functions_to_the_matching_brace() {
        let text = "fn a(\n    x: [u8; 2],\n) -> u8 {\n    if x { '}' }\n    1\n}\nfn b() {}\ntrait T {\n    fn c();\n}";
        let lengths: Vec<_> =
            SourceMap::new(text).functions.iter().map(|function| function.lines.len()).collect();
        assert_eq!(lengths, [6, 1, 1]);
    }

    #[test]
    fn finds_functions_inside_functions_and_macros() {
        assert_eq!(
            names("proptest! {\n    #[test]\n    fn a(x in 0..2) {\n        fn b() {}\n    }\n}"),
            ["a", "b"]
        );
    }

    #[test]
    fn keeps_documentation_and_attributes_in_any_order() {
        let text = "#[cfg(\n    unix\n)]\n/// first\n#[test]\n// why\n/// second\nfn a() {}\n/// lost\nstruct B;\nfn c() {}";
        let functions = SourceMap::new(text).functions;
        assert_eq!(functions[0].documentation, [(3, " first".to_owned()), (6, " second".to_owned())]);
        assert!(functions[0].is_test());
        assert!(functions[1].documentation.is_empty());
        assert!(!functions[1].is_test());
    }

    #[test]
    fn knows_test_attributes() {
        let is_test = |text: &str| SourceMap::new(text).functions[0].is_test();
        assert!(is_test("#[test] fn a() {}"));
        assert!(is_test("#[tokio::test(start_paused = true)]\nasync fn a() {}"));
        assert!(!is_test("#[test]\n#[ignore = \"slow\"]\nfn a() {}"));
        assert!(!is_test("#[cfg(test)]\nfn a() {}"));
        assert!(!is_test("// #[test]\nfn a() {}"));
    }

    #[test]
    fn knows_regions_of_tests() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n#[cfg(not(test))]\nfn c() {}\n#[test]\nfn d() {}";
        let map = SourceMap::new(text);
        let test_lines: Vec<_> = (0..map.lines.len()).filter(|index| map.is_test_line(*index)).collect();
        assert_eq!(test_lines, [2, 3, 4, 8]);
    }
}
