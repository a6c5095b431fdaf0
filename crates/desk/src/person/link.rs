//! Codes that sign a browser in, once. Each is the name of a record: whoever takes it away is the only one, at whatever process.

use std::{path::PathBuf, time::Duration};

use demur_api::refusal::Refusal;
use demur_core::{hash::sha256, limit::Text, random::Random as _};
use demur_store::contract::{KeptRecord, RecordKey, Store, Swap, Version};
use serde::{Deserialize, Serialize};

use crate::{access::LinkOrigin, name, owner::Owner, records};

/// A link that waits.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Link {
    /// Who signs in with it; otherwise the user of this machine.
    pub(super) person: Option<Text<1, 64>>,
    /// What the session is worth that it opens.
    pub(super) origin: LinkOrigin,
    /// The file that carries its code to a browser here, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<PathBuf>,
}

/// Keeps a link under a code that nobody has.
pub(super) fn keep(owner: &Owner, code: &str, link: &Link) -> Result<(), Refusal> {
    let now = owner.system().now()?;
    records::make_room(owner, PREFIX, MAX_LINKS, now)?;
    let expires = now.plus_millis(LINK_TIMEOUT.as_secs() * 1000);
    let next = records::value(link, Some(expires))?;
    records::swap(owner, vec![records::creation(key(code)?, next)]).map(drop)
}

/// Draws a code: 125 random bits, in five groups that somebody can type. Nobody guesses one in five minutes, however fast.
pub(super) fn draw(owner: &Owner) -> String {
    let mut bytes = [0; CODE_LETTERS];
    owner.system().fill(&mut bytes);
    grouped(&letters(&bytes))
}

/// Returns a letter for each of these bytes: five random bits, all equally often.
pub(crate) fn letters(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()])).collect()
}

fn grouped(letters: &str) -> String {
    letters.as_bytes().chunks(CODE_GROUP).map(String::from_utf8_lossy).collect::<Vec<_>>().join("-")
}

/// Returns a code as it was made, however it was typed.
pub(super) fn typed(text: &str) -> Option<String> {
    typed_letters(text, CODE_LETTERS).map(|letters| grouped(&letters))
}

/// Returns so many letters of a code, however they were typed: letters that look like figures are those.
pub(crate) fn typed_letters(text: &str, count: usize) -> Option<String> {
    let letter = |letter: char| match letter.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        other => other,
    };
    let letters: String =
        text.chars().filter(|letter| !matches!(letter, '-' | ' ')).map(letter).take(count + 1).collect();
    let known = letters.len() == count && letters.bytes().all(|byte| LETTERS.contains(&byte));
    known.then_some(letters)
}

/// Returns the link of a code that is still good.
pub(super) fn find(owner: &Owner, code: &str) -> Result<Option<(Version, Link)>, Refusal> {
    let now = owner.system().now()?;
    let kept = owner.sequencer().store().record(&key(code)?)?;
    let good = kept.filter(|kept| kept.value.expires.is_some_and(|expires| now < expires));
    good.map(|kept| Ok((kept.version, records::read(&kept)?))).transpose()
}

/// Returns the swap that spends a link.
pub(super) fn spending(code: &str, was: Version) -> Result<Swap, Refusal> {
    Ok(records::removal(key(code)?, was))
}

/// Returns the swaps that take away the links of somebody.
pub(super) fn forgetting(store: &dyn Store, name: &str) -> Result<Vec<Swap>, Refusal> {
    // One that cannot be read may be theirs. A link is soon made again.
    let theirs = |kept: &KeptRecord| {
        records::listed(kept)
            .is_none_or(|link: Link| link.person.is_some_and(|person| name::same(&person, name)))
    };
    let found = records::all(store, PREFIX)?.into_iter().filter(theirs);
    Ok(found.map(|kept| records::removal(kept.key, kept.version)).collect())
}

/// Only the digest of a code is kept.
fn key(code: &str) -> Result<RecordKey, Refusal> {
    Ok(RecordKey::new(format!("{PREFIX}{}", sha256(code.as_bytes())))?)
}

/// What the keys of their records begin with.
pub(crate) const PREFIX: &str = "link/";
/// How long a link is good.
pub const LINK_TIMEOUT: Duration = Duration::from_mins(5);
/// How many links wait at once.
const MAX_LINKS: usize = 16;
/// Crockford's letters: none looks like another.
const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const CODE_LETTERS: usize = 25;
const CODE_GROUP: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_as_people_type_them() {
        let code = "01AB2-CDEFG-HJKMN-PQRST-VWXYZ";
        for text in [
            code,
            "01ab2cdefghjkmnpqrstvwxyz",
            " O1ab2-cdefg hjkmn-pqrst-vwxyz ",
            "oIAB2-CDEFG-HJKMN-PQRST-VWXYZ",
        ] {
            assert_eq!(typed(text).as_deref(), Some(code), "{text}");
        }
        for text in [
            "",
            "01AB2",
            "01AB2-CDEFG-HJKMN-PQRST-VWXYZ0",
            "U1AB2-CDEFG-HJKMN-PQRST-VWXYZ",
            "é1AB2-CDEFG-HJKMN-PQRST-VWXYZ",
        ] {
            assert_eq!(typed(text), None, "{text}");
        }
    }
}
