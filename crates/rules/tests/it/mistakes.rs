//! Packs with mistakes: each is refused with its file, its line and what to do.

use demur_rules::{Pack, PackError, Rules};

const HEAD: &str = "[pack]\nname = \"mine\"\nversion = \"1\"\n";

/// Returns the error of a pack with this table file (after three lines of head) and this condition file.
fn error(table: &str, conditions: &str) -> PackError {
    let files = [("mine/pack.toml", format!("{HEAD}{table}")), ("mine/a.cedar", conditions.to_owned())];
    let error = Pack::read(files).and_then(|pack| Rules::layer(&[pack])).err();
    error.unwrap_or_else(|| panic!("taken: {table}{conditions}"))
}

#[track_caller]
fn assert_table(table: &str, line: u32, words: &str) {
    let error = error(table, "");
    assert_eq!((error.file.as_str(), error.line), ("mine/pack.toml", Some(line)), "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

#[track_caller]
fn assert_condition(conditions: &str, line: u32, words: &str) {
    let error = error("", conditions);
    assert_eq!((error.file.as_str(), error.line), ("mine/a.cedar", Some(line)), "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

const STANDARD: &str = "[settings]\nstandards = [\"s\"]\n[[standard]]\nid = \"a\"\nname = \"A\"\n";

/// CLR-16
#[test]
fn a_mistake_in_the_tables_is_named_with_its_line() {
    assert_table("[[standard]\n", 4, "TOML");
    assert_table("\n[[standart]]\nid = \"a\"\n", 5, "[[standard]]");
    assert_table("[[standard]]\nid = \"a\"\n", 4, "name");
    assert_table("[[standard]]\nid = \"a\"\nname = \"A\"\nnmae = \"A\"\n", 7, "nmae");
    assert_table("[[standard]]\nid = \"A 1\"\nname = \"A\"\n", 5, "lower-case");
    assert_table("[[standard]]\nid = \"a\"\nname = \"\"\n", 6, "1 to 100");
    assert_table(&format!("{STANDARD}[[standard]]\nid = \"a\"\nname = \"B\"\n"), 9, "twice");
    assert_table(
        &format!("{STANDARD}[[bundle]]\nid = \"b\"\nname = \"B\"\nstandards = [\"c\"]\n"),
        9,
        "\"c\"",
    );
    assert_table(
        &format!("{STANDARD}[[bundle]]\nid = \"a\"\nname = \"B\"\nstandards = [\"a\"]\n"),
        9,
        "rename",
    );
    assert_table("[[standard]]\nid = \"a\"\nname = \"A\"\n", 4, "`standards` in [settings]");
    assert_table(
        &format!(
            "{STANDARD}[[standard]]\nid = \"b-1\"\nname = \"B\"\n[[standard]]\nid = \"b_1\"\nname = \"B\"\n"
        ),
        12,
        "any spelling",
    );
    assert_table("[standard]\nid = \"a\"\n", 4, "[[standard]]");
    assert_table("[settings]\nblocks = [\"a b\"]\n", 5, "letters");
    assert_table("[settings]\nunknown_standard = \"ERROR\"\n", 5, "BLOCK");
    assert_table("[wording]\nundecided = \"{fild}\"\n", 5, "{field}");
    assert_table("[wording]\nundecidet = \"\"\n", 5, "undecided");
    assert_table("[[language]]\nid = \"english\"\nname = \"E\"\n", 5, "language tag");
    assert_table("[[standard]]\nid = \"zz\"\nremove = true\n", 4, "in a pack below");
    assert_table("[[standard]]\nid = \"zz\"\nremove = false\n", 6, "leave remove out");
    let place = |id: &str, within: &str| {
        format!("[[jurisdiction]]\nid = \"{id}\"\nname = \"N\"\nwithin = [\"{within}\"]\n")
    };
    assert_table(&place("a", "b"), 4, "\"b\"");
    assert_table(&place("a", "a"), 4, "circle");
    assert_table(&format!("{}{}", place("a", "b"), place("b", "a")), 4, "circle");
    assert_table("[unread]\nexcept = [\"a..b\"]\n", 5, "dotted path");
    assert_table("[unread]\nonly = []\n", 5, "except");
    assert_table("[settings]\njurisdiction = \"derived.x\"\n", 5, "derived");
    assert_table("[[policy]]\nid = \"p\"\nquestion = \"?\"\n", 4, ".cedar");
}

/// CLR-16
#[test]
fn a_mistake_in_a_row_is_named_with_the_line_of_its_column() {
    let required = |rest: &str| format!("[[required]]\nid = \"r\"\nfield = \"f\"\n{rest}");
    assert_table(&required("question = \"{fied}?\"\n"), 7, "{field}");
    assert_table(&required("question = \"{field?\"\n"), 7, "brace");
    assert_table(&required("question = \"?\"\nkinds = [\"date\"]\n"), 8, "yes_no");
    assert_table(&required("question = \"?\"\nkinds = [\"choice\"]\n"), 8, "choices");
    assert_table(&required("question = \"?\"\nchoices = [\"a\", \"a\"]\n"), 8, "twice");
    assert_table(&required("question = \"?\"\nseverity = \"WARN\"\nblocks = [\"build\"]\n"), 9, "WARN");
    assert_table(&required("question = \"?\"\nassurance = \"sure\"\n"), 8, "signed-in");
    assert_table("[[required]]\nid = \"r\"\nfield = \"a b\"\nquestion = \"?\"\n", 6, "dotted path");
    assert_table("[[required]]\nid = \"r\"\nfield = \"derived.x\"\nquestion = \"?\"\n", 6, "derived");
    let ambiguous = "[[ambiguous]]\nid = \"r\"\nquestion = \"?\"\nphrases = [\"x\"]\nfields = [\"a..b\"]\n";
    assert_table(ambiguous, 8, "dotted path");
    let long = format!("[[required]]\nid = \"r\"\nfield = \"f\"\nquestion = \"{}\"\n", "x".repeat(1001));
    assert_table(&long, 7, "1000");
}

/// CLR-16: a question has 2 to 32 choices of at most 256 characters, no two of them equal; no pack promises another.
#[test]
fn a_closed_choice_that_cannot_be_asked_is_refused() {
    let choices = |choices: &str| {
        format!("[[required]]\nid = \"r\"\nfield = \"f\"\nquestion = \"?\"\nchoices = {choices}\n")
    };
    let many: Vec<String> = (0..33).map(|number| format!("c{number}")).collect();
    assert_table(&choices("[\"a\"]"), 8, "2 to 32");
    assert_table(&choices(&format!("{many:?}")), 8, "32");
    assert_table(&choices("[\"a\", \"b\", \"a\"]"), 8, "twice");
    assert_table(&choices("[\"a\", \"b \"]"), 8, "without spaces");
    assert_table(&choices(&format!("[\"a\", \"{}\"]", "x".repeat(257))), 8, "100");

    let annotated = |choices: &str| format!("{GOOD}@choices(\"{choices}\")\n{SCOPE}when {{ true }};");
    assert_condition(&annotated("a"), 4, "2 to 32");
    assert_condition(&annotated(&many.join("|")), 4, "32");
    assert_condition(&annotated("a|b|a"), 4, "twice");
    assert_condition(&annotated(&format!("a|{}", "x".repeat(257))), 4, "100");

    let layout = |values: &str| format!("[settings]\ndirection = \"d\"\nright_to_left = {values}\n");
    assert_table(&layout("[\"rtl\"]"), 6, "2 to 32");
    assert_table(&layout("[\"rtl\", \"rtl\"]"), 6, "twice");
    assert_table(&layout(&format!("{many:?}")), 6, "32");
}

/// CLR-16: the same for resolutions, between every standard and target of the row.
#[test]
fn resolutions_that_cannot_be_asked_are_refused() {
    let conflict = |standards: &str, targets: &str, resolutions: &str| {
        format!(
            "[[conflict]]\nid = \"c\"\nstandards = {standards}\ntargets = {targets}\nfield = \"f\"\nquestion = \"?\"\n\
             resolutions = {resolutions}\n"
        )
    };
    let short = |resolutions: &str| conflict("[\"a\"]", "[\"b\"]", resolutions);
    assert_table(&short("[\"only\"]"), 10, "2 to 32");
    assert_table(&short("[\"x\", \"x\"]"), 10, "twice");
    assert_table(&short("[\"{standard_id}\", \"a\"]"), 10, "\"a\" twice between a and b");
    assert_table(&short("[\"{standard_id}\", \" {target_id}\"]"), 10, "without spaces");
    let equal = conflict("[\"a\", \"b\"]", "[\"c\", \"b\"]", "[\"{standard_id}\", \"{target_id}\"]");
    assert_table(&equal, 10, "\"b\" twice between b and b");
    let long = conflict(
        &format!("[\"a\", \"{}\"]", "s".repeat(64)),
        "[\"b\"]",
        &format!("[\"x\", \"{}\"]", "{standard_id}".repeat(5)),
    );
    assert_table(&long, 10, "at most 256 characters");
    let ids: Vec<String> = (0..64).map(|number| format!("s{number}")).collect();
    assert_table(&conflict(&format!("{ids:?}"), &format!("{ids:?}"), "[\"x\", \"y\"]"), 10, "split the row");
}

#[test]
fn words_around_a_phrase_are_single_words() {
    let ambiguous = |words: &str| {
        format!("[[ambiguous]]\nid = \"r\"\nquestion = \"?\"\nphrases = [\"x\"]\nfields = [\"a\"]\n{words}\n")
    };
    assert_table(&ambiguous("trailing = [\"please\", \"thank you\"]"), 9, "single words");
    assert_table(&ambiguous("leading = [\"go with\"]"), 9, "single words");
    assert_table(&ambiguous("trailing = [\"?\"]"), 9, "single words");
}

const GOOD: &str = "@id(\"p\")\n@field(\"f\")\n@question(\"?\")\n";
const SCOPE: &str = "forbid (principal, action, resource)\n";

/// CLR-16
#[test]
fn a_mistake_in_a_condition_is_named_with_its_line_and_column() {
    assert_condition(&format!("{GOOD}{SCOPE}when {{ context.a = 1 }};"), 5, "word of a policy");
    assert_condition(&format!("{GOOD}{SCOPE}when {{ context.a == }};"), 5, "a value");
    assert_condition(&format!("{GOOD}{SCOPE}when {{ context.a }}"), 5, "`;`");
    assert_condition(&format!("{GOOD}{SCOPE};"), 5, "`when`");
    assert_condition(&format!("{GOOD}permit (principal, action, resource)\nwhen {{ true }};"), 4, "forbid");
    assert_condition(
        &format!("{GOOD}forbid (principal == User::\"a\", action, resource)\nwhen {{ true }};"),
        4,
        "after `when`",
    );
    assert_condition(&format!("{GOOD}{SCOPE}when {{ resource.a }};"), 5, "context.field");
    assert_condition(&format!("{GOOD}{SCOPE}when {{ context.a in [1] }};"), 5, "contains");
    assert_condition(&format!("{GOOD}{SCOPE}when {{ context.a.size() }};"), 5, "containsAll");
    assert_condition(&format!("{GOOD}{SCOPE}when {{ context == 1 }};"), 5, "context.field");
    assert_condition(&format!("{GOOD}{SCOPE}when {{ context.a == \"x }};"), 5, "closing quote");
    assert_condition(&format!("{GOOD}{SCOPE}when {{ context.a == 99999999999999999999 }};"), 5, "2^53");
    assert_condition(&format!("{GOOD}{SCOPE}when {{ context[\"a b\"] == 1 }};"), 5, "letters");
    assert_condition(&format!("{GOOD}{SCOPE}when {{ context.derived.nothing == 1 }};"), 1, "partly_covered");
    assert_condition(&format!("@field(\"f\")\n@question(\"?\")\n{SCOPE}when {{ true }};"), 1, "@id");
    assert_condition(&format!("@id(\"p\")\n@question(\"?\")\n{SCOPE}when {{ true }};"), 1, "@field");
    assert_condition(&format!("{GOOD}@severty(\"WARN\")\n{SCOPE}when {{ true }};"), 4, "@severity");
    assert_condition(&format!("{GOOD}@severity(\"warn\")\n{SCOPE}when {{ true }};"), 4, "WARN");
    assert_condition(&format!("{GOOD}@assurance(\"high\")\n{SCOPE}when {{ true }};"), 4, "signed-in");
    assert_condition(&format!("{GOOD}@id(\"q\")\n{SCOPE}when {{ true }};"), 4, "twice");
    assert_condition(
        "@id(\"p\")\n@field(\"f\")\n@question(\"{context.b}?\")\nforbid (principal, action, resource) when { context.a };",
        3,
        "{context.a}",
    );
    let twice = format!("{GOOD}{SCOPE}when {{ true }};\n");
    assert_condition(&format!("{twice}{twice}"), 6, "twice");
    let deep = format!("{GOOD}{SCOPE}when {{ {}true{} }};", "(".repeat(40), ")".repeat(40));
    assert_condition(&deep, 5, "brackets");
}

#[test]
fn an_error_says_what_was_expected_and_found_and_the_cure() {
    let error = error("", &format!("{GOOD}{SCOPE}when {{ context.a in [1] }};"));
    assert_eq!(
        error.to_string(),
        "mine/a.cedar:5:18: expected another operator, found `in`; write `[\"a\", \"b\"].contains(context.field)`"
    );
}

#[test]
fn files_that_are_no_pack_are_refused() {
    let none: [(&str, &str); 0] = [];
    assert_eq!(Pack::read(none).unwrap_err().file, "pack.toml");
    assert!(Pack::read([("a.cedar", "")]).unwrap_err().to_string().contains("pack.toml"));
    let bytes = Pack::read([("pack.toml", &b"[pack]\n\xff"[..])]).unwrap_err();
    assert_eq!((bytes.line, bytes.expected.as_str()), (Some(2), "UTF-8"));
    let long = Pack::read([("pack.toml", "#".repeat(300_000))]).unwrap_err();
    assert!(long.to_string().contains("at most 262144 bytes"), "{long}");
    let rows = repeated(2049, |id| format!("[[standard]]\nid=\"s{id}\"\nname=\"S\"\n"));
    assert!(error(&rows, "").to_string().contains("at most 2048 rows"));
    let policies = repeated(257, |id| {
        format!("@id(\"p{id}\") @field(\"f\") @question(\"?\") {SCOPE} when {{ true }};\n")
    });
    assert!(error("", &policies).to_string().contains("at most 256 policies"));
    let files: Vec<_> = (0..70).map(|index| (format!("{index}.cedar"), "")).collect();
    assert!(Pack::read(files).unwrap_err().to_string().contains("at most 64 files"));
}

#[test]
fn nesting_beyond_any_stack_is_refused() {
    for open in ["[", "{ a = ", "{ \"a\".b = "] {
        let table = format!("[settings]\nblocks = {}", open.repeat(250_000 / open.len()));
        assert!(Pack::read([("pack.toml", format!("{HEAD}{table}"))]).is_err());
    }
    let names = format!("[{}]\n", vec!["a"; 100_000].join("."));
    assert!(Pack::read([("pack.toml", format!("{HEAD}{names}"))]).is_err());
    for open in ["(", "!", "-", "[", "if ", "context.a.contains("] {
        let text = format!("{GOOD}{SCOPE}when {{ {}", open.repeat(250_000 / open.len()));
        assert!(Pack::read([("pack.toml", HEAD), ("a.cedar", &text)]).is_err(), "{open}");
    }
}

fn repeated(count: usize, row: impl Fn(usize) -> String) -> String {
    (0..count).map(row).collect::<Vec<_>>().concat()
}
