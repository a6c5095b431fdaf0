//! An authenticator in software, with the browser around it: makes the assertions that a passkey makes, and wrong ones where a
//! test asks for them. Both algorithms, kept in one place or synced, with a verified user or without.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use demur_core::{
    canonical,
    hash::{Digest, Purpose, digest, sha256},
    key::{Fingerprint, PasskeyKey, SecretKey, Signature},
    random::{Random as _, Seeded},
};
use demur_ledger::{
    author::Prepared,
    facts::{Enrolment, PasskeyAdded},
    name::{PersonId, StoreId},
    passkey::{Assertion, EnrolmentClaim},
    statement::Submission,
};
use p256::ecdsa::{Signature as Es256Signature, SigningKey, signature::Signer as _};

use crate::sample::{list, text};

/// A passkey and where it lives.
#[derive(Clone)]
pub struct Authenticator {
    key: PasskeySecret,
    credential: Vec<u8>,
    /// The page that it is used on.
    pub origin: String,
    /// BE: it may be kept in several places.
    pub eligible: bool,
    /// BS: it is.
    pub synced: bool,
    /// UV: it asks for a finger or a number before it signs.
    pub verifies: bool,
}

#[derive(Clone)]
enum PasskeySecret {
    Es256(Box<SigningKey>),
    Ed25519(Box<SecretKey>),
}

/// One touch, before it is signed: what authenticator and browser put together.
#[derive(Clone)]
pub struct Touch {
    pub authenticator: Vec<u8>,
    pub client: String,
    pub leaves: Vec<Digest>,
}

impl Authenticator {
    /// Returns an ES256 passkey that is kept in one place.
    pub fn es256(seed: u64) -> Self {
        let mut random = Seeded::from_number(seed);
        let mut bytes = [0; 32];
        random.fill(&mut bytes);
        let key = PasskeySecret::Es256(Box::new(SigningKey::from_slice(&bytes).unwrap()));
        Self::of(key, &mut random)
    }

    /// Returns an Ed25519 passkey that is kept in one place.
    pub fn ed25519(seed: u64) -> Self {
        let mut random = Seeded::from_number(seed);
        let key = PasskeySecret::Ed25519(Box::new(SecretKey::generate(&mut random)));
        Self::of(key, &mut random)
    }

    /// Returns the passkey that has the key of an author.
    pub fn of_key(key: &SecretKey) -> Self {
        Self::of(PasskeySecret::Ed25519(Box::new(key.clone())), &mut Seeded::from_number(1))
    }

    fn of(key: PasskeySecret, random: &mut Seeded) -> Self {
        let mut credential = vec![0; 32];
        random.fill(&mut credential);
        let (eligible, synced, verifies) = (false, false, true);
        Self { key, credential, origin: "http://localhost:40181".to_owned(), eligible, synced, verifies }
    }

    /// Returns the same passkey, synced between the devices of its person.
    #[must_use]
    pub fn synced(self) -> Self {
        Self { eligible: true, synced: true, ..self }
    }

    /// Returns the same passkey on an authenticator that asks for nothing before it signs.
    #[must_use]
    pub fn unverified(self) -> Self {
        Self { verifies: false, ..self }
    }

    /// Returns the same passkey on another page.
    #[must_use]
    pub fn at(self, origin: &str) -> Self {
        Self { origin: origin.to_owned(), ..self }
    }

    pub fn key(&self) -> PasskeyKey {
        match &self.key {
            PasskeySecret::Es256(key) => {
                let point = key.verifying_key().to_sec1_point(false);
                PasskeyKey::of_browser(-7, point.as_bytes()).unwrap()
            }
            PasskeySecret::Ed25519(key) => PasskeyKey::of_browser(-8, key.public().as_bytes()).unwrap(),
        }
    }

    pub fn fingerprint(&self) -> Fingerprint {
        self.key().fingerprint()
    }

    fn rp(&self) -> String {
        let host = self.origin.split_once("://").unwrap().1;
        host.split_once(':').map_or(host, |(host, _)| host).to_owned()
    }

    /// Returns what the registry keeps of it.
    pub fn enrolment(&self, person: PersonId) -> Enrolment {
        Enrolment {
            aaguid: vec![0; 16].try_into().unwrap(),
            credential: self.credential.clone().try_into().unwrap(),
            eligible: self.eligible,
            key: self.key(),
            origin: self.origin.clone().try_into().unwrap(),
            person,
            rp: self.rp().try_into().unwrap(),
            synced: self.synced,
        }
    }

    /// Returns the facts that bring it in: with its own assertion.
    pub fn added(&self, person: PersonId, store: StoreId) -> PasskeyAdded {
        PasskeyAdded::new(self.enrolment(person), self.assert(&[self.claim(person, store)]))
    }

    /// Returns the leaf that it signs to show that somebody holds it.
    pub fn claim(&self, person: PersonId, store: StoreId) -> Digest {
        let claim = EnrolmentClaim { key: self.key(), person, store };
        digest(Purpose::Enrolment, &[&canonical::to_vec(&claim).unwrap()])
    }

    /// Returns one touch for these leaves.
    pub fn touch(&self, leaves: &[Digest]) -> Touch {
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let flags = 0x01 | flag(self.verifies, 0x04) | flag(self.eligible, 0x08) | flag(self.synced, 0x10);
        let authenticator = [&sha256(self.rp().as_bytes()).as_bytes()[..], &[flags], &[0, 0, 0, 1]].concat();
        let challenge = URL_SAFE_NO_PAD.encode(Assertion::challenge(leaves).as_bytes());
        let origin = &self.origin;
        let client = format!(
            r#"{{"type":"webauthn.get","challenge":"{challenge}","origin":"{origin}","crossOrigin":false}}"#
        );
        Touch { authenticator, client, leaves: leaves.to_vec() }
    }

    /// Returns what the passkey makes of a touch for these leaves.
    pub fn assert(&self, leaves: &[Digest]) -> Assertion {
        self.sign(self.touch(leaves))
    }

    /// Returns what the passkey makes of a touch, whatever that says.
    pub fn sign(&self, touch: Touch) -> Assertion {
        let Touch { authenticator, client, leaves } = touch;
        let message = [&authenticator[..], sha256(client.as_bytes()).as_bytes()].concat();
        let signature = match &self.key {
            PasskeySecret::Es256(key) => {
                let signature: Es256Signature = key.sign(&message);
                Signature::from_bytes(signature.to_bytes().into())
            }
            PasskeySecret::Ed25519(key) => key.sign_foreign(&message).unwrap(),
        };
        Assertion {
            authenticator: authenticator.try_into().unwrap(),
            client: text(&client),
            key: self.fingerprint(),
            leaves: list(leaves),
            signature,
        }
    }

    /// Returns what a browser hands out when it makes this passkey, in unpadded base64url: authenticator data, credential, public key;
    /// and the number of the algorithm.
    pub fn creation(&self) -> (i64, [String; 3]) {
        let (algorithm, public_key) = match &self.key {
            PasskeySecret::Es256(key) => (-7, key.verifying_key().to_sec1_point(false).as_bytes().to_vec()),
            PasskeySecret::Ed25519(key) => (-8, key.public().as_bytes().to_vec()),
        };
        let mut data = self.touch(&[digest(Purpose::Passkey, &[b"creation"])]).authenticator;
        data[32] |= 0x40;
        data.extend_from_slice(&[0; 16]);
        let length = u16::try_from(self.credential.len()).unwrap();
        data.extend_from_slice(&length.to_be_bytes());
        data.extend_from_slice(&self.credential);
        (algorithm, [data, self.credential.clone(), public_key].map(|bytes| URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// Returns what a browser hands out for a touch with this challenge: authenticator data, client data, credential, signature.
    pub fn answer(&self, challenge: &str) -> [String; 4] {
        self.answer_bent(challenge, |_| {})
    }

    /// Returns the same where something else was touched than what was asked for: it is signed as it stands then.
    pub fn answer_bent(&self, challenge: &str, bend: impl FnOnce(&mut Touch)) -> [String; 4] {
        let leaf = digest(Purpose::Passkey, &[b"any"]);
        let mut touch = self.touch(&[leaf]);
        let own = URL_SAFE_NO_PAD.encode(Assertion::challenge(&[leaf]).as_bytes());
        touch.client = touch.client.replace(&own, challenge);
        bend(&mut touch);
        let made = self.sign(touch);
        let signature = match &self.key {
            PasskeySecret::Es256(_) => {
                let fixed = Es256Signature::from_slice(made.signature.as_bytes()).unwrap();
                fixed.to_der().as_bytes().to_vec()
            }
            PasskeySecret::Ed25519(_) => made.signature.as_bytes().to_vec(),
        };
        let client = made.client.as_bytes().to_vec();
        [made.authenticator.to_vec(), client, self.credential.clone(), signature]
            .map(|bytes| URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Returns statements that were signed with one touch.
    pub fn approve(&self, prepared: Vec<Prepared>) -> Vec<Submission> {
        let leaves: Vec<_> = prepared.iter().map(Prepared::leaf).collect();
        let assertion = self.assert(&leaves);
        prepared.into_iter().map(|prepared| prepared.assert(assertion.clone())).collect()
    }

    /// Returns a statement that was signed with a touch of its own.
    pub fn approve_one(&self, prepared: Prepared) -> Submission {
        let assertion = self.assert(&[prepared.leaf()]);
        prepared.assert(assertion)
    }
}
