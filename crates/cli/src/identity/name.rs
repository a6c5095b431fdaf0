//! `demur identity name`: under which name demur signs the documents of plans, as the data folder keeps it.

use demur_desk::{keyring::AGENT_ID, settings::FolderSettings, visible::visible_path};
use serde::Serialize;

use crate::{
    arguments::NameIdentity,
    context::Context,
    failure::Failure,
    output::{Paint, Reply},
};

/// Says the name, or keeps another.
pub(super) fn run(context: &mut Context<'_>, arguments: &NameIdentity) -> Result<(), Failure> {
    let changes = arguments.agent_id.is_some() || arguments.built_in;
    let data = if changes { context.data_made()? } else { context.data()? };
    let mut settings = data.settings()?;
    if changes {
        settings = FolderSettings { agent_id: arguments.agent_id.clone(), ..settings };
        data.keep_settings(&settings)?;
    }
    let chosen = settings.agent_id.as_ref().map(ToString::to_string);
    let reply = NameReply {
        agent_id: chosen.unwrap_or_else(|| AGENT_ID.to_owned()),
        kept: changes,
        file: visible_path(&data.settings_file()),
    };
    context.output.reply(&reply)
}

#[derive(Serialize)]
struct NameReply {
    agent_id: String,
    /// Whether it was chosen now.
    #[serde(skip)]
    kept: bool,
    /// Where it is kept.
    file: String,
}

impl Reply for NameReply {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let Self { agent_id, kept, file } = self;
        if !kept {
            return vec![agent_id.clone()];
        }
        vec![
            format!("{} plans that are submitted from now on are signed as {agent_id}.", paint.good("Kept:")),
            format!("  in    {file}"),
        ]
    }
}
