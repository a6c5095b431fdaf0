//! A passkey comes in. The browser has made it; now it signs: the first one of a store its own statement, a later one that somebody
//! holds it. Then an earlier one vouches for it.

use std::sync::Arc;

use demur_api::{
    code::{Code, RuleCode},
    passkey::{ActResult, ActStatus, BrowserAssertion, FinishedTouch, NewPasskey, PreparedTouch, TouchAct},
    refusal::Refusal,
};
use demur_core::{
    canonical,
    hash::{Digest, Purpose, digest},
    key::PasskeyKey,
    limit::Text,
    quote::quoted,
};
use demur_ledger::{
    content::{LabelContent, NameContent},
    event_type::Content,
    facts::{Enrolment, PasskeyRooted, PersonAdded, PersonRole, WebOrigin},
    name::PersonId,
    passkey::{AuthenticatorFlags, EnrolmentClaim, ExpectedAssertion},
    role::Role,
};
use demur_store::contract::Swap;

use super::{
    Administrator, PasskeySpeaker,
    administer::say,
    assertion, bytes,
    kept::{self, KeptStatement, KeptTouch, TouchPurpose},
    setup_code, text,
    touch::{Signer, request},
    waiting,
};
use crate::{desk::Desk, name, owner::Owner};

impl Desk {
    /// Takes a passkey that a browser has made; returns what it has to sign.
    pub(super) fn enrol(&self, signer: &Signer<'_>, new: &NewPasskey) -> Result<PreparedTouch, Refusal> {
        let (owner, person) = (signer.owner, signer.person);
        put_on_record(signer)?;
        let enrolment = self.enrolment(person, new)?;
        let registry = owner.sequencer().newest_registry()?;
        if registry.passkey(&enrolment.key.fingerprint()).is_some() {
            return Err(Refusal::new(
                Code::PasskeyKnown,
                "expected a new passkey, found one that is on record already",
            ));
        }
        let (leaf, what) = if registry.has_root() {
            let claim = EnrolmentClaim { key: enrolment.key, person, store: registry.store() };
            let leaf = digest(Purpose::Enrolment, &[&canonical::to_vec(&claim)?]);
            let (enrolment, label) = (enrolment.clone(), new.label.clone());
            (leaf, TouchPurpose::Possession { enrolment, label, leaf })
        } else {
            let setup_code = setup_code::check(owner, new.setup_code.as_deref())?;
            let statement = root_statement(signer, &enrolment, &new.label)?;
            let leaf = statement.leaf();
            (leaf, TouchPurpose::Root { enrolment: enrolment.clone(), setup_code, statement })
        };
        let session = signer.token.id.clone();
        let name = kept::keep(owner, &KeptTouch { session, person, what })?;
        let credentials = vec![text(&enrolment.credential)];
        let touch = request(name, &[leaf], credentials, enrolment.rp.to_string());
        Ok(PreparedTouch { acts: Vec::new(), touch: Some(touch) })
    }

    /// Keeps a later passkey that has shown that somebody holds it; where its person has another one, that one is to vouch now.
    pub(super) fn finish_possession(
        &self,
        signer: &Signer<'_>,
        (enrolment, label, leaf): (Enrolment, Text<1, 256>, Digest),
        made: &BrowserAssertion,
    ) -> Result<FinishedTouch, Refusal> {
        let possession = assertion(made, &enrolment, vec![leaf])?;
        let expected = ExpectedAssertion { leaf, is_alone: true, enrolment: &enrolment };
        possession.admit(&expected).map_err(|error| Refusal::new(Code::PasskeyUnfit, error))?;
        let key = waiting::keep(signer.owner, enrolment, possession, label)?;
        let acts = vec![ActResult::of(ActStatus::Done)];
        let registry = signer.owner.sequencer().registry();
        // Nobody can vouch in this browser: the person has no other one, or at another address only.
        if self.passkeys_here(&registry, signer.person).is_err() {
            return Ok(FinishedTouch { acts, next: None });
        }
        let next = self.prepare_touch(signer, vec![TouchAct::AddPasskey { key }])?;
        Ok(FinishedTouch { acts, next: Some(Box::new(next)) })
    }

    /// Returns the passkey as the registry would have it, by what the browser says of it.
    fn enrolment(&self, person: PersonId, new: &NewPasskey) -> Result<Enrolment, Refusal> {
        let unfit = |error: &dyn std::fmt::Display| {
            Refusal::new(Code::PasskeyUnfit, error.to_string())
                .with_cure("use a passkey with ES256 or Ed25519 that asks for a finger, a face or a PIN")
        };
        let key = PasskeyKey::of_browser(new.algorithm, &bytes("public_key", &new.public_key)?);
        let data = bytes("authenticator", &new.authenticator)?;
        let flags = AuthenticatorFlags::of(&data).filter(|_| data.len() >= AAGUID_END);
        let flags =
            flags.ok_or_else(|| unfit(&"expected authenticator data of a new passkey, found less"))?;
        if !flags.is_verified() {
            return Err(unfit(&"expected a passkey that verifies its user (UV), found one that did not"));
        }
        let origin = self.pages().ok_or_else(|| self.no_pages())?;
        let origin = WebOrigin::try_from(origin).map_err(|error| unfit(&error))?;
        Ok(Enrolment {
            aaguid: data[AAGUID_BEGIN..AAGUID_END].to_vec().try_into().map_err(|error| unfit(&error))?,
            credential: bytes("credential", &new.credential)?.try_into().map_err(|error| unfit(&error))?,
            eligible: flags.is_eligible(),
            key: key.map_err(|error| unfit(&error))?,
            rp: origin.host().to_owned().try_into().map_err(|error| unfit(&error))?,
            origin,
            person,
            synced: flags.is_synced(),
        })
    }
}

/// Works out the statement with which the first passkey comes in.
fn root_statement(
    signer: &Signer<'_>,
    enrolment: &Enrolment,
    label: &Text<1, 256>,
) -> Result<KeptStatement, Refusal> {
    let speaker = Arc::new(PasskeySpeaker::preparing(signer.person, signer.name()?));
    let content = Content::PasskeyRooted(LabelContent { label: label.clone() });
    let said = (PasskeyRooted(enrolment.clone()).into(), Some(content));
    let said = say(signer.owner, &speaker, Role::Person, &said, &[]);
    match speaker.into_prepared() {
        Some((prepared, _)) => KeptStatement::of(prepared),
        None => Err(said.err().unwrap_or_else(kept::gone)),
    }
}

/// Records the first passkey, which has signed for itself.
pub(super) fn finish_root(
    owner: &Owner,
    (enrolment, statement): (&Enrolment, KeptStatement),
    made: &BrowserAssertion,
    (taken, setup_code): (Swap, Digest),
) -> Result<FinishedTouch, Refusal> {
    let prepared = statement.prepared();
    let assertion = assertion(made, enrolment, vec![prepared.leaf()])?;
    let spent = setup_code::spending(owner, &setup_code)?;
    owner.sequencer().submit_with(prepared.assert(assertion), None, &[taken, spent])?;
    Ok(FinishedTouch { acts: vec![ActResult::of(ActStatus::Signed)], next: None })
}

/// Sees to it that the registry knows the person of a session. Everybody came in when they were added, but for the user of this machine,
/// who needs no adding to sign in, and is an operator: this one comes in here, or by an operator's passkey where there is one.
fn put_on_record(signer: &Signer<'_>) -> Result<(), Refusal> {
    let (owner, person) = (signer.owner, signer.person);
    let registry = owner.sequencer().newest_registry()?;
    if registry.role_of(person, registry.head().sequence).is_some() {
        return Ok(());
    }
    if !name::is_user(owner, &signer.token.name) {
        let message = "expected somebody who was added and takes part, found somebody who does not";
        return Err(
            Refusal::new(Code::PersonUnknown, message).with_cure("`demur people list` shows who can sign in")
        );
    }
    // Who is an operator, a passkey says from the first one on.
    if registry.has_root() {
        let message = "expected the user of this machine to be on record by an operator's passkey, found nobody signed that";
        let cure = format!(
            "an operator with a passkey adds {} as operator on the page People; then add this passkey again",
            quoted(&signer.token.name)
        );
        return Err(Refusal::new(Code::Rule(RuleCode::PASSKEY_NEEDED), message).with_cure(cure));
    }
    let content = Content::PersonAdded(NameContent { name: signer.name()? });
    let facts = PersonAdded { person, role: PersonRole::Operator };
    Administrator::Desk.state(owner, facts, Some(content), &[]).map(drop)
}

/// Where authenticator data of a new credential name the kind of authenticator.
const AAGUID_BEGIN: usize = 37;
const AAGUID_END: usize = 53;
