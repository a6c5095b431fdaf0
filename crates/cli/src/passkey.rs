//! `demur passkey`: what passkeys need the terminal of the server for. The rest is done in the browser, where they are.

use std::path::Path;

use demur_api::{
    call::ApiRequest,
    code::Code,
    operation::{
        ListPasskeys, MakeSetupCode, NoArguments, Nothing, OfPasskey, ResetPasskeys, ShowPasskeyToReset,
    },
    passkey::{ListedPasskeys, PasskeyToReset, SetupCode, ShownPasskey, VouchedBy, WaitingPasskey},
    statement::SignedStatement,
};
use demur_core::{key::Fingerprint, visible::visible};
use demur_desk::{keyring, operating_system::OperatingSystem, visible::shell_word};
use demur_ledger::{
    author::{Author, Place},
    content::LabelContent,
    event_type::Content,
    role::Role,
};
use serde::Serialize;

use crate::{
    arguments::{self, PasskeyCommand},
    client::{Client, SocketRequest},
    context::Context,
    failure::Failure,
    keys::clock,
    lookup::SHORTEST_PREFIX,
    output::{Paint, Reply, Table},
};

/// Runs one of the `passkey` commands.
pub(crate) fn run(context: &mut Context<'_>, command: &PasskeyCommand) -> Result<(), Failure> {
    match command {
        PasskeyCommand::Code => {
            let code = setup_code(&Client::open(context)?)?;
            context.output.reply(&ShownCode(code))
        }
        PasskeyCommand::List => {
            let listed = match Client::for_list(context)? {
                Some(client) => list(&client)?,
                None => ListedPasskeys { passkeys: Vec::new(), waiting: Vec::new(), needs_setup_code: true },
            };
            context.output.reply(&Passkeys(listed))
        }
        PasskeyCommand::Reset(arguments) => reset(context, arguments),
    }
}

/// Returns the passkeys of a server.
pub(crate) fn list(client: &Client) -> Result<ListedPasskeys, Failure> {
    client.call(ApiRequest::<ListPasskeys>::get(NoArguments {}, Nothing {}))
}

/// Returns a code for the first passkey.
pub(crate) fn setup_code(client: &Client) -> Result<SetupCode, Failure> {
    client.call(ApiRequest::<MakeSetupCode>::send(NoArguments {}, Nothing {}))
}

/// Signs with the recovery key of the desk that all passkeys end but one. The key is read here, and nothing of it is sent.
fn reset(context: &mut Context<'_>, arguments: &arguments::ResetPasskeys) -> Result<(), Failure> {
    let client = Client::of_store(context)?;
    let key = waiting(&list(&client)?.waiting, &arguments.key)?;
    let path = OfPasskey { key };
    let prepared = client.call(ApiRequest::<ShowPasskeyToReset>::get(path.clone(), Nothing {}))?;
    let statement = signed(&prepared, &arguments.recovery)?;
    let request = ApiRequest::<ResetPasskeys>::send(path, statement);
    context.output.reply(&Reset(client.call_with(&request, SocketRequest::once)?))
}

fn signed(prepared: &PasskeyToReset, recovery: &Path) -> Result<SignedStatement, Failure> {
    let mut system = OperatingSystem::open()?;
    let author = Author::new(keyring::read(recovery)?.secret, prepared.desk, Role::Desk);
    let place = &prepared.registry;
    let place = Place { store: place.store, trace: place.trace, seen: Some(place.head), now: system.now()? };
    let content = Content::PasskeyReset(LabelContent { label: prepared.label.clone() });
    let said = author.say(&place, prepared.facts.clone(), Some(content), &mut system);
    let said = said.map_err(|error| Failure::bug(&error))?;
    said.try_into().map_err(|error: serde_json::Error| Failure::bug(&error))
}

/// Returns the one waiting passkey whose fingerprint begins so.
fn waiting(waiting: &[WaitingPasskey], typed: &str) -> Result<Fingerprint, Failure> {
    let hint = "`demur passkey list` shows them";
    let refused = |message: String| Failure::of(Code::PasskeyUnknown, message).with_hint(hint);
    if typed.len() < SHORTEST_PREFIX {
        let message =
            format!("expected at least {SHORTEST_PREFIX} digits of a fingerprint, found {}", typed.len());
        return Err(refused(message));
    }
    let found: Vec<_> = waiting.iter().filter(|one| one.key.to_string().starts_with(typed)).collect();
    match found.as_slice() {
        [one] => Ok(one.key),
        [] => {
            Err(refused(format!("expected a passkey that waits, found none called \"{}\"", visible(typed))))
        }
        many => Err(refused(format!("expected one passkey that waits, found {} called so", many.len()))),
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct ShownCode(SetupCode);

impl Reply for ShownCode {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let SetupCode { code, seconds, url } = &self.0;
        vec![
            format!("{} {code}", paint.good("Setup code:")),
            format!("  Type it at {url}; it works once, for {} minutes.", seconds / 60),
            "  Not signed in? `demur open` signs a browser in, and shows a new setup code in place of this one.".to_owned(),
        ]
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Passkeys(ListedPasskeys);

impl Reply for Passkeys {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let mut lines = if self.0.passkeys.is_empty() {
            vec!["No passkey yet. `demur passkey code` makes the code for the first one.".to_owned()]
        } else {
            let mut table =
                Table::new(["PASSKEY", "WHO", "NAME", "VOUCHED FOR BY", "PLACE", "SINCE", "STATE"]);
            self.0.passkeys.iter().for_each(|passkey| table.add(row(passkey)));
            let mut lines = table.lines(paint);
            let first = self.0.passkeys.iter().filter(|passkey| {
                passkey.active && matches!(passkey.voucher, VouchedBy::Nobody | VouchedBy::NobodyLate)
            });
            lines.extend(first.map(|passkey| {
                let (key, person) = (passkey.key, shell_word(passkey.person.as_ref()));
                format!("Nobody vouches for the first one: check records with `demur verify FILE --pin {person}={key}`")
            }));
            lines
        };
        for waiting in &self.0.waiting {
            let (key, person) = (waiting.key.short(), visible(&waiting.person));
            let (label, until) = (visible(&waiting.label), clock(waiting.expires));
            let origin = visible(&waiting.origin);
            lines.push(format!(
                "{} {key} of {person} (\"{label}\") for {origin}, until {until}: an earlier passkey has to vouch for it.",
                paint.strong("Waits:")
            ));
        }
        lines
    }
}

fn row(passkey: &ShownPasskey) -> [String; 7] {
    let label = passkey.label.as_deref().unwrap_or("(erased)");
    [
        passkey.key.short(),
        visible(&passkey.person).into_owned(),
        visible(label).into_owned(),
        match passkey.voucher {
            VouchedBy::Nobody => "nobody (first)".to_owned(),
            VouchedBy::NobodyLate => "nobody (late)".to_owned(),
            VouchedBy::Passkey(by) => by.short(),
            VouchedBy::Recovery => "recovery key".to_owned(),
        },
        if passkey.eligible { "can sync" } else { "one device" }.to_owned(),
        passkey.since.map(clock).unwrap_or_default(),
        if passkey.active { "active" } else { "removed" }.to_owned(),
    ]
}

#[derive(Serialize)]
#[serde(transparent)]
struct Reset(ShownPasskey);

impl Reply for Reset {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let (key, person) = (self.0.key.short(), visible(&self.0.person));
        vec![format!(
            "{} {key} of {person} is the only passkey now; all others have ended.",
            paint.good("Reset:")
        )]
    }
}
