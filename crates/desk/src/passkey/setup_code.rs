//! The code for the first passkey of a store. Nobody vouches for that one, so whoever brings it in shows at least that they have
//! the terminal of this server. It is good for ten minutes, once; five misses end it.

use demur_api::{code::Code, refusal::Refusal};
use demur_core::{
    hash::{Digest, sha256},
    random::Random as _,
    time::Timestamp,
};
use demur_store::contract::{RecordKey, Swap, Version};
use serde::{Deserialize, Serialize};

use crate::{owner::Owner, person::typed_letters, records};

/// What is kept of the code.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptCode {
    digest: Digest,
    misses: u32,
    expires: Timestamp,
}

/// Makes a code; one that was made before is worth nothing any more.
pub(super) fn make(owner: &Owner) -> Result<String, Refusal> {
    let mut system = owner.system();
    let mut bytes = [0; CODE_LETTERS];
    system.fill(&mut bytes);
    let code = crate::person::letters(&bytes);
    let expires = system.now()?.plus_millis(CODE_LIFETIME_MILLIS);
    let kept = KeptCode { digest: sha256(code.as_bytes()), misses: 0, expires };
    for _ in 0..records::ATTEMPTS {
        let was = found(owner)?.map_or(Version::ABSENT, |(version, _)| version);
        let next = Some(records::value(&kept, Some(expires))?);
        if records::swap(owner, vec![Swap { key: key()?, was, next }])? {
            let (left, right) = code.split_at(CODE_LETTERS / 2);
            return Ok(format!("{left}-{right}"));
        }
    }
    Err(records::contended())
}

/// Checks a code that was typed, and counts a miss; returns which one it is.
pub(super) fn check(owner: &Owner, typed: Option<&str>) -> Result<Digest, Refusal> {
    let typed = typed.and_then(|typed| typed_letters(typed, CODE_LETTERS));
    for _ in 0..records::ATTEMPTS {
        let now = owner.system().now()?;
        let good = found(owner)?.filter(|(_, kept)| now < kept.expires);
        let Some((version, kept)) = good else { return Err(wrong()) };
        if typed.as_ref().is_some_and(|typed| sha256(typed.as_bytes()) == kept.digest) {
            return Ok(kept.digest);
        }
        let misses = kept.misses + 1;
        let expires = kept.expires;
        let next = (misses < MAX_MISSES).then_some(KeptCode { misses, ..kept });
        let next = next.map(|next| records::value(&next, Some(expires))).transpose()?;
        if records::swap(owner, vec![Swap { key: key()?, was: version, next }])? {
            return Err(wrong());
        }
    }
    Err(records::contended())
}

/// Returns the swap that spends this code, if it is still the one that is good.
pub(super) fn spending(owner: &Owner, code: &Digest) -> Result<Swap, Refusal> {
    let now = owner.system().now()?;
    let good = found(owner)?.filter(|(_, kept)| kept.digest == *code && now < kept.expires);
    let (version, _) = good.ok_or_else(wrong)?;
    Ok(records::removal(key()?, version))
}

fn found(owner: &Owner) -> Result<Option<(Version, KeptCode)>, Refusal> {
    records::find(owner.sequencer().store(), &key()?)
}

fn wrong() -> Refusal {
    let message =
        "expected the setup code of this server, found another, or one that is older than ten minutes";
    Refusal::new(Code::SetupCodeWrong, message)
        .about("setup_code")
        .with_cure("`demur passkey code` makes a new one at the terminal of the server; five misses end it")
}

fn key() -> Result<RecordKey, Refusal> {
    Ok(RecordKey::new("setup-code")?)
}

/// How long a code is good, in seconds.
pub(super) const CODE_SECONDS: u64 = 600;
const CODE_LIFETIME_MILLIS: u64 = CODE_SECONDS * 1000;
const CODE_LETTERS: usize = 8;
const MAX_MISSES: u32 = 5;
