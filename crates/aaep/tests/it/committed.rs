//! Committed files that are made from the code. Run the tests with `DEMUR_BLESS=1` to write them anew, and read the
//! difference before committing it.
#![expect(clippy::disallowed_methods, reason = "tests read and write the committed files")]

use std::{fs, path::PathBuf};

use demur_aaep::schema;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/aaep").join(name)
}

/// Returns the text of a committed file.
pub(crate) fn conformance(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap()
}

/// Compares a committed file with what the code makes, or writes it.
#[track_caller]
fn committed(name: &str, made: &str) {
    let file = path(name);
    if std::env::var_os("DEMUR_BLESS").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, made).unwrap();
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert!(found == made, "{name} is not what the code makes: run the tests with DEMUR_BLESS=1 and look");
}

/// AEP-19
#[test]
fn schemas_are_committed() {
    let mut names: Vec<String> = Vec::new();
    for (name, schema) in schema::all() {
        committed(
            &format!("schemas/{name}.schema.json"),
            &(serde_json::to_string_pretty(&schema).unwrap() + "\n"),
        );
        names.push(format!("{name}.schema.json"));
    }
    let files =
        fs::read_dir(path("schemas")).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<String> = files.collect();
    names.sort();
    files.sort();
    assert_eq!(names, files, "a schema that no type makes");
}
