//! `demur mcp`: a thin bridge between an MCP client on standard input and output and the server of the data folder. It
//! holds nothing but a connection: a server that is killed is replaced, and whoever waits goes on waiting.

mod connection;
mod parent;

use std::{env, os::unix::ffi::OsStringExt as _, sync::Arc};

use demur_api::{
    call::{ApiRequest, Call as _},
    operation::{NoArguments, Nothing, ShowRequestStateKey},
    refusal::Refusal,
};
use demur_core::hash::sha256;
use demur_ledger::name::ClientId;
use demur_mcp::{
    door_settings::{self, DoorSettings},
    host::{Extensions, Host, Visitor},
    state::States,
    stdio,
    tools::Sets,
};

use self::connection::BridgeConnection;
use crate::{
    arguments::{Era, Forms, Mcp, ToolSet},
    client::SocketApi,
    context::Context,
    failure::Failure,
    hook::session::{self, Session},
};

/// Serves a client until it hangs up.
pub(crate) fn run(context: &Context<'_>, arguments: &Mcp) -> Result<(), Failure> {
    let api = SocketApi::new(context.data()?, true);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| trouble(&error))?;
    runtime.block_on(async {
        let states = states(&api).await?;
        let session = Session::begin(api.folder()).map(Arc::new);
        let host = Arc::new(Bridge { api, session, conversation: conversation(), id: parent::client() });
        stdio::serve(host, Arc::new(states), settings(arguments)).await.map_err(|error| trouble(&error))
    })
}

fn settings(arguments: &Mcp) -> DoorSettings {
    DoorSettings {
        sets: sets(&arguments.tools),
        wait: arguments.wait.unwrap_or(door_settings::CALL_WAIT),
        era: match arguments.era {
            Some(Era::Of2025) => door_settings::Era::Of2025,
            None => door_settings::Era::Every,
        },
        forms: match arguments.forms {
            Forms::Call => door_settings::Forms::Call,
            Forms::Task => door_settings::Forms::Task,
        },
        ..DoorSettings::default()
    }
}

fn sets(words: &[ToolSet]) -> Sets {
    let has = |set| words.contains(&set) || words.contains(&ToolSet::All);
    Sets { wwa: has(ToolSet::Wwa), session: has(ToolSet::Session), confirm: has(ToolSet::Confirm) }
}

/// Returns what seals the states of the client. The secret is the server's to give, so that another bridge opens them, too.
async fn states(api: &SocketApi) -> Result<States, Failure> {
    let asked = ApiRequest::<ShowRequestStateKey>::get(NoArguments {}, Nothing {});
    let given = api.call(asked).await?.document;
    States::with_key(given.key.as_bytes()).map_err(|error| trouble(&error))
}

/// The bridge: whoever started it is who asks.
struct Bridge {
    api: SocketApi,
    /// The session of the client, where it says which it is.
    session: Option<Arc<Session>>,
    /// What a question that is asked again has to come from.
    conversation: String,
    /// Which program started the bridge, where that can be told.
    id: Option<ClientId>,
}

/// Returns the conversation that the bridge serves: Claude Code's own name for it, otherwise the folder it was started in.
/// Both outlive the bridge, so that a client whose bridge is started again finds what it asked before.
fn conversation() -> String {
    let conversation = match session::given_name() {
        Some(id) => format!("claude-code\0{id}").into_bytes(),
        None => env::current_dir().map(|folder| folder.into_os_string().into_vec()).unwrap_or_default(),
    };
    // As a name that can stand in an address.
    sha256(&conversation).to_string()
}

impl Host for Bridge {
    type Connection = BridgeConnection;

    fn visitor(&self, _: &Extensions, client: &str) -> Result<Visitor<BridgeConnection>, Refusal> {
        let connection =
            BridgeConnection::new(self.api.clone(), self.session.clone(), client.to_owned(), self.id);
        let (identity, conversation) = (format!("client:{client}"), self.conversation.clone());
        Ok(Visitor { identity, name: client.to_owned(), conversation, relays: true, sets: None, connection })
    }
}

fn trouble(error: &dyn std::fmt::Display) -> Failure {
    Failure::internal("MCP_TROUBLE", format!("the MCP client cannot be served: {error}"))
}
