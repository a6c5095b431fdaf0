//! `demur keys list`: every key, oldest first. Reads only.

use demur_api::{
    call::ApiRequest,
    key::ListedKeys,
    operation::{ListKeys, NoArguments, Nothing},
};
use demur_core::visible::visible;
use demur_desk::data::DataFolder;
use demur_ledger::name::StoreId;
use serde::Serialize;

use super::{KeyEntry, clock};
use crate::{
    context::Context,
    failure::Failure,
    output::{Paint, Reply, Table},
    reader::Reader,
};

/// Lists the keys.
pub(super) fn run(context: &mut Context<'_>) -> Result<(), Failure> {
    let data = context.data()?;
    let listed = listed(&data)?;
    let store = listed.as_ref().map(|listed| listed.registry.store);
    let keys = listed.map_or_else(Vec::new, |listed| listed.keys);
    let nowhere = Context::nowhere(&data, "keys");
    let data = data.path().to_string_lossy().into_owned();
    context.output.reply(&ListReply { data, keys, nowhere, store })
}

/// Returns every key of a data folder; none where nobody has made one yet.
pub(crate) fn listed(data: &DataFolder) -> Result<Option<ListedKeys>, Failure> {
    if !data.has_store()? {
        return Ok(None);
    }
    Reader::open(data.clone())?.call(ApiRequest::<ListKeys>::get(NoArguments {}, Nothing {})).map(Some)
}

#[derive(Serialize)]
struct ListReply {
    data: String,
    keys: Vec<KeyEntry>,
    /// What to say where there is no data folder.
    #[serde(skip)]
    nowhere: Option<String>,
    store: Option<StoreId>,
}

impl Reply for ListReply {
    fn lines(&self, paint: Paint) -> Vec<String> {
        if self.keys.is_empty() {
            return vec![
                self.nowhere.clone().unwrap_or_else(|| format!("No keys yet in {}.", visible(&self.data))),
                "Make the first one: demur keys new NAME --role planner".to_owned(),
            ];
        }
        let mut table = Table::new(["NAME", "ROLE", "KEY", "STATUS", "SINCE"]);
        for key in &self.keys {
            table.add([
                visible(&key.name).into_owned(),
                key.roles(),
                key.fingerprint.short(),
                key.status(),
                clock(key.since.time),
            ]);
        }
        table.lines(paint)
    }
}
