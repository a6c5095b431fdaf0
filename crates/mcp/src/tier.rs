//! Which tier a client is served in: decided for each request from what the client declared, never from its name.

use rmcp::{
    RoleServer,
    model::{ClientCapabilities, ElicitationCapability, ProtocolVersion},
    service::RequestContext,
};

use crate::door_settings::Forms;

/// How a client can be asked for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// It takes the call as a task and looks again by itself; with a form in the task where that is wanted.
    Task(Option<Modes>),
    /// Its request ends with what is missing, and comes again with the answers (2026-07-28).
    Rounds(Modes),
    /// It is asked while its request waits (2025-11-25 and before).
    Elicits(Modes),
    /// Not at all: people answer elsewhere while its request waits.
    Told,
}

/// In which ways a client shows a question to its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modes {
    /// As a form.
    pub form: bool,
    /// As an address that the user opens.
    pub url: bool,
    /// Whether choices in forms have titles of their own (2025-11-25 and later).
    pub titles: bool,
}

impl Tier {
    /// Returns the tier of a request. Where what users say may not be passed on, nothing is asked through the client.
    pub fn of(context: &RequestContext<RoleServer>, relays: bool, forms: Forms) -> Self {
        let capabilities = context.client_capabilities();
        let version = context.protocol_version().unwrap_or(ProtocolVersion::V_2025_06_18);
        let is_modern = version >= ProtocolVersion::V_2026_07_28;
        let takes_tasks = is_modern && capabilities.as_ref().is_some_and(ClientCapabilities::supports_tasks);
        let declared = capabilities.and_then(|found| found.elicitation).filter(|_| relays);
        let modes = declared.map(|declared| Modes::of(&declared, &version));
        match modes {
            modes if takes_tasks => Self::Task(modes.filter(|_| forms == Forms::Task)),
            Some(modes) if is_modern => Self::Rounds(modes),
            Some(modes) => Self::Elicits(modes),
            None => Self::Told,
        }
    }
}

impl Modes {
    /// Returns what a client declared: nothing in particular means forms.
    fn of(declared: &ElicitationCapability, version: &ProtocolVersion) -> Self {
        let url = declared.url.is_some();
        Self {
            form: declared.form.is_some() || !url,
            url: url && *version >= ProtocolVersion::V_2025_11_25,
            titles: *version >= ProtocolVersion::V_2025_11_25,
        }
    }
}
