//! Passkeys: the page on which one looks after them, and how something can be sent, with a passkey or without.

use askama::Template;
use demur_api::{
    passkey::{ListedPasskeys, ShownPasskey, VouchedBy, WaitingPasskey},
    person::PersonRole,
};
use demur_core::{key::Fingerprint, visible::visible};
use demur_ledger::facts::Assurance;

use crate::{
    frame::{Frame, Here, Visitor},
    when::clock,
    words::ENGLISH,
};

/// How something can be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// Without a passkey; there is none, or nothing to sign.
    Plain,
    /// With a passkey or without.
    Either,
    /// With a passkey only.
    Signed,
    /// With a passkey only, and there is none.
    Missing,
}

impl Sending {
    /// Returns how somebody can send what needs to be this sure.
    pub fn of(visitor: &Visitor, least: Assurance) -> Self {
        match (least > visitor.assurance, visitor.has_passkey()) {
            (false, false) => Self::Plain,
            (false, true) => Self::Either,
            (true, true) => Self::Signed,
            (true, false) => Self::Missing,
        }
    }

    /// Returns whether it can be sent without a passkey.
    pub fn plain(&self) -> bool {
        matches!(self, Self::Plain | Self::Either)
    }

    /// Returns whether it can be sent with one.
    pub fn signed(&self) -> bool {
        matches!(self, Self::Either | Self::Signed)
    }

    /// Returns whether it can be sent with one only.
    pub fn only_signed(&self) -> bool {
        *self == Self::Signed
    }

    /// Returns whether it cannot be sent.
    pub fn is_missing(&self) -> bool {
        *self == Self::Missing
    }
}

/// The page on which one looks after passkeys.
#[derive(Template)]
#[template(path = "passkeys.html")]
pub struct PasskeysPage<'a> {
    frame: &'a Frame,
    visitor: &'a Visitor,
    /// The name of the person for authenticators, which nobody reads.
    person: &'a str,
    /// The credentials of the visitor that are there already, with spaces between them.
    credentials: String,
    passkeys: Vec<Row>,
    waiting: Vec<WaitingRow>,
    needs_setup_code: bool,
    /// Whether this one can add operators, and change and remove them.
    signs_for_people: bool,
    notice: Option<&'static str>,
}

/// A passkey of the store, ready to be shown.
struct Row {
    key: Fingerprint,
    label: String,
    person: String,
    own: bool,
    active: bool,
    voucher: &'static str,
    vouched_by: Option<String>,
    kept: &'static str,
    origin: String,
    since: Option<String>,
    removable: bool,
}

/// A passkey that waits, ready to be shown.
struct WaitingRow {
    key: Fingerprint,
    label: String,
    person: String,
    origin: String,
    expires: String,
    vouches: bool,
}

impl<'a> PasskeysPage<'a> {
    /// Returns the page for somebody, who came from doing this.
    pub fn new(
        frame: &'a Frame,
        visitor: &'a Visitor,
        person: &'a str,
        listed: ListedPasskeys,
        done: &str,
    ) -> Self {
        let operates = visitor.role == PersonRole::Operator.as_str();
        let row = |shown| Row::new(shown, visitor.has_passkey(), operates);
        Self {
            frame,
            visitor,
            person,
            credentials: visitor.credentials.join(" "),
            passkeys: listed.passkeys.into_iter().map(row).collect(),
            waiting: listed.waiting.into_iter().map(WaitingRow::new).collect(),
            needs_setup_code: listed.needs_setup_code,
            signs_for_people: operates && visitor.has_passkey(),
            notice: match done {
                "added" => Some(ENGLISH.passkey_added),
                "waits" => Some(ENGLISH.passkey_waits),
                "vouched" => Some(ENGLISH.passkey_vouched),
                "removed" => Some(ENGLISH.passkey_removed),
                _ => None,
            },
        }
    }
}

impl Row {
    fn new(shown: ShownPasskey, signs: bool, operates: bool) -> Self {
        let (voucher, vouched_by) = match shown.voucher {
            VouchedBy::Nobody => (ENGLISH.voucher_nobody, None),
            VouchedBy::NobodyLate => (ENGLISH.voucher_late, None),
            VouchedBy::Passkey(by) => (ENGLISH.voucher_passkey, Some(by.short())),
            VouchedBy::Recovery => (ENGLISH.voucher_recovery, None),
        };
        Self {
            key: shown.key,
            label: name(shown.label.as_deref().unwrap_or(ENGLISH.passkey_erased)),
            person: name(&shown.person),
            own: shown.own,
            active: shown.active,
            voucher,
            vouched_by,
            kept: if shown.eligible { ENGLISH.passkey_synced } else { ENGLISH.passkey_bound },
            origin: shown.origin,
            since: shown.since.map(clock),
            removable: shown.active && signs && (shown.own || operates),
        }
    }
}

impl WaitingRow {
    fn new(waiting: WaitingPasskey) -> Self {
        let WaitingPasskey { key, person, label, origin, expires, vouches } = waiting;
        Self { key, label: name(&label), person: name(&person), origin, expires: clock(expires), vouches }
    }
}

/// Returns a text that somebody typed, with what would hide by its name.
fn name(typed: &str) -> String {
    visible(typed).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Level;

    fn visitor(assurance: Assurance, passkey: bool) -> Visitor {
        Visitor {
            name: "ada".to_owned(),
            role: "operator",
            may_answer: true,
            form_key: String::new(),
            bound: None,
            administers: false,
            level: Level::Normal,
            keys: false,
            assurance,
            credentials: if passkey { vec!["AAAA".to_owned()] } else { Vec::new() },
        }
    }

    /// ONE-10
    #[test]
    fn what_needs_a_passkey_is_sent_with_one_or_not_at_all() {
        for (assurance, passkey, least, expected) in [
            (Assurance::Terminal, false, Assurance::Terminal, Sending::Plain),
            (Assurance::Terminal, true, Assurance::Terminal, Sending::Either),
            (Assurance::SignedIn, false, Assurance::SignedIn, Sending::Plain),
            (Assurance::Terminal, true, Assurance::SignedIn, Sending::Signed),
            (Assurance::SignedIn, true, Assurance::Passkey, Sending::Signed),
            (Assurance::SignedIn, false, Assurance::Passkey, Sending::Missing),
        ] {
            assert_eq!(Sending::of(&visitor(assurance, passkey), least), expected);
        }
    }

    #[test]
    fn a_page_says_who_vouches_and_what_to_pin() {
        let key: Fingerprint = "ab".repeat(32).parse().unwrap();
        let shown = |voucher, eligible, active| ShownPasskey {
            key,
            person: "ada".to_owned(),
            label: None,
            origin: "http://demur.localhost:7373".to_owned(),
            eligible,
            voucher,
            since: None,
            active,
            own: false,
        };
        for (voucher, words) in [
            (VouchedBy::Nobody, ENGLISH.voucher_nobody),
            (VouchedBy::NobodyLate, ENGLISH.voucher_late),
            (VouchedBy::Passkey(key), "the passkey <code>abababababababab</code>"),
            (VouchedBy::Recovery, ENGLISH.voucher_recovery),
        ] {
            let visitor = visitor(Assurance::Terminal, true);
            let frame = Frame::new(Here::Settings, Some(visitor.clone()));
            let passkeys = vec![shown(voucher, true, true), shown(voucher, false, false)];
            let listed = ListedPasskeys { passkeys, waiting: Vec::new(), needs_setup_code: false };
            let page = PasskeysPage::new(&frame, &visitor, "01ARZ3NDEKTSV4RRFFQ69G5FAV", listed, "");
            let page = page.render().unwrap().replace("&#39;", "'");
            assert!(page.contains(words), "{words}: {page}");
            assert!(page.contains(ENGLISH.passkey_synced) && page.contains(ENGLISH.passkey_bound));
            assert_eq!(
                page.matches("value=\"remove-passkey\"").count(),
                1,
                "one that ended is not removed again"
            );
            assert!(page.contains(&"ab".repeat(32)), "what is pinned stands there whole");
        }
    }
}
