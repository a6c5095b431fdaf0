//! One list of properties for every store: whatever implements the contract must show all of them.

/// Makes one test of each property for each store. A property is written as a test that takes a fresh store.
macro_rules! behaviour {
    ($($(#[$attribute:meta])* fn $name:ident($store:ident) $body:block)+) => {
        $(fn $name($store: &std::sync::Arc<dyn demur_store::contract::Store>) $body)+

        mod memory {
            $($(#[$attribute])* fn $name() { super::$name(&crate::behaviour::memory().store); })+
        }

        mod sqlite {
            $($(#[$attribute])* fn $name() { super::$name(&crate::behaviour::sqlite().store); })+
        }
    };
}

mod append;
mod confirmation;
mod cursor;
mod erase;
mod lease;
mod operational;
mod question;
mod read;
mod record;
mod stream;

use std::sync::Arc;

use demur_store::{contract::Store, memory::MemoryStore, sqlite::SqliteStore};
use tempfile::TempDir;

pub(crate) use self::append::PROPOSAL;

/// A fresh store, and what must outlive it.
struct Place {
    store: Arc<dyn Store>,
    _folder: Option<TempDir>,
}

fn memory() -> Place {
    Place { store: Arc::new(MemoryStore::new()), _folder: None }
}

fn sqlite() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::create(folder.path().join("store")).unwrap();
    Place { store: Arc::new(store), _folder: Some(folder) }
}
