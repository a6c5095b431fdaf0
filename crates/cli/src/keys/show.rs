//! `demur keys show`: everything public about one key. Reads only.

use demur_core::visible::visible;
use demur_desk::{keyring::FolderKeyring, visible::visible_path};
use serde::Serialize;

use super::{KeyEntry, Moment, clock, listed, reason_word, select::select};
use crate::{
    arguments::ShowKey,
    context::Context,
    failure::Failure,
    output::{Paint, Reply},
};

/// Shows a key.
pub(super) fn run(context: &mut Context<'_>, arguments: &ShowKey) -> Result<(), Failure> {
    let data = context.data()?;
    let entries = listed(&data)?.map_or_else(Vec::new, |listed| listed.keys);
    let key = select(&entries, &arguments.key)?.clone();
    let file = FolderKeyring::of(&data).path(&key.fingerprint);
    let key_file = key.has_secret().then(|| file.to_string_lossy().into_owned());
    context.output.reply(&ShowReply { key, key_file })
}

#[derive(Serialize)]
struct ShowReply {
    key: KeyEntry,
    key_file: Option<String>,
}

impl Reply for ShowReply {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let key = &self.key;
        let mut lines = vec![paint.strong(&visible(&key.name))];
        let mut row = |label: &str, value: &str| lines.push(format!("  {label:<13}{value}"));
        row("role", &key.roles());
        row("status", &key.status());
        row("fingerprint", &key.fingerprint.to_string());
        row("public key", &key.public_key.to_string());
        row("principal", &key.principal.to_string());
        row("origin", key.origin.words());
        row("since", &when(key.since));
        if let Some(rotated) = key.rotated {
            row("rotated", &when(rotated));
        }
        if let Some(retired) = key.retired {
            row("retired", &when(retired));
        }
        if let Some(revoked) = &key.revoked {
            let moment = Moment { event: revoked.event, time: revoked.time };
            row("revoked", &format!("{}, {}", when(moment), reason_word(revoked.reason)));
            if let Some(note) = &revoked.note {
                row("note", &visible(note));
            }
        }
        let recovery = key.recovery.map(|recovery| format!("key {recovery}"));
        row("recovery", recovery.as_deref().unwrap_or("none"));
        let file = self.key_file.as_ref().map(|file| visible_path(file.as_ref()));
        row("secret", file.as_deref().unwrap_or("not in this data folder"));
        lines
    }
}

fn when(moment: Moment) -> String {
    format!("{} (registry event {})", clock(moment.time), moment.event)
}
