//! One owner at a time, across processes.

use std::{path::Path, sync::Arc};

use demur_store::sqlite::SqliteStore;
use demur_testing::office::Office;

use super::{
    child::{self, Child},
    in_memory,
    work::{self, Ready},
};

#[test]
fn a_second_process_is_refused_politely_and_gets_its_turn_later() {
    if let Some(folder) = child::folder() {
        return child::say(match SqliteStore::open(&folder) {
            Ok(store) => match Office::at(Arc::new(store)) {
                Ok(desk) => format!("went on with {}", work::go_on(&desk, 10, &|_, _| ()).unwrap().len()),
                Err(error) => error.to_string(),
            },
            Err(error) => error.to_string(),
        });
    }
    let place = in_memory();
    let path = place.path().join("store");
    let desk = work::create(&path, 2, &|_, _| ());
    let said = ask(&path);
    let lock = path.join("lock");
    let polite = format!(
        "another demur owns this folder: it holds {}; nothing was changed, ask it or stop it",
        lock.display()
    );
    assert_eq!(said, polite);
    // The owner did not notice.
    let mut run = Ready::open(&desk, &|_, _| ()).unwrap();
    run.call(&desk, &|_, _| ()).unwrap();
    work::expect_whole(&desk, run.run.trace);
    drop(desk);
    assert_eq!(ask(&path), "went on with 3");
}

/// Returns what a second process says about a folder.
fn ask(path: &Path) -> String {
    Child::start(child::command(NAME, path)).finish().pop().unwrap()
}

const NAME: &str = concat!(module_path!(), "::a_second_process_is_refused_politely_and_gets_its_turn_later");
