//! Names that look like others: refused when they are made, for a reader who knows one of them takes the other for it. What looks
//! alike is what UTS 39 says, by its tables of confusable characters.

use demur_api::{code::Code, refusal::Refusal};
use demur_core::visible::visible;
use serde::Deserialize;
use unicode_security::{RestrictionLevel, RestrictionLevelDetection as _, confusable_detection::skeleton};

use super::{Holder, PREFIX, folded, relayed};
use crate::{owner::Owner, records, token};

/// Checks that a new name looks like no other: not like that of a key, a person, a token, the user of this machine or demur.
pub(super) fn expect_unlike(owner: &Owner, name: &str) -> Result<(), Refusal> {
    let (own, looks) = (folded(name), looks(name));
    let is_alike =
        |known: &str| folded(known) != own && self::looks(known).iter().any(|one| looks.contains(one));
    match known(owner)?.into_iter().find(|known| is_alike(known)) {
        None => Ok(()),
        Some(like) => {
            let message = format!(
                "expected a name that looks like no other, found \"{}\", which looks like \"{}\"",
                visible(name),
                visible(&like)
            );
            Err(Refusal::new(Code::NameConfusable, message)
                .with_cure("take a name that nobody mixes up with that one"))
        }
    }
}

/// Returns whether the letters of a name come from scripts that are not written together: UTS 39 calls the rest moderately
/// restrictive, which is one script, or Latin beside one other that is not Greek or Cyrillic, or beside those of Chinese,
/// Japanese and Korean.
pub(super) fn mixes_scripts(name: &str) -> bool {
    let letters: String = name.chars().filter(|character| character.is_alphanumeric()).collect();
    !letters.as_str().check_restriction_level(RestrictionLevel::ModeratelyRestrictive)
}

/// Returns what a name looks like, as it is written and in small letters: a capital I looks like a small l, and a small i does
/// not.
fn looks(name: &str) -> [String; 2] {
    let small = folded(name);
    [name, &small].map(|name| skeleton(name).collect::<String>().to_lowercase())
}

/// Returns every name that is known.
fn known(owner: &Owner) -> Result<Vec<String>, Refusal> {
    let mut names = vec![OWN_NAME.to_owned()];
    names.extend(owner.user().map(str::to_owned));
    names.extend(owner.key_directory()?.names().values().cloned());
    let store = owner.sequencer().store();
    for kept in records::all(store, PREFIX)? {
        if let Some(Holder::Person(person)) = records::listed(&kept) {
            names.push(person.name.to_string());
        }
    }
    for kept in records::all(store, relayed::PREFIX)? {
        names.extend(
            records::listed(&kept).map(|person: crate::access::RelayedPerson| person.name.to_string()),
        );
    }
    for kept in records::all(store, token::PREFIX)? {
        names.extend(records::listed(&kept).map(|kept: KeptToken| kept.token.name));
    }
    Ok(names)
}

/// As much of a token as says whose it is.
#[derive(Deserialize)]
struct KeptToken {
    token: TokenName,
}

#[derive(Deserialize)]
struct TokenName {
    name: String,
}

/// The name under which this program itself is known.
pub(super) const OWN_NAME: &str = "demur";

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(one: &str, other: &str) -> bool {
        looks(one).iter().any(|look| looks(other).contains(look))
    }

    #[test]
    fn names_that_a_reader_mixes_up_look_alike() {
        for (one, other) in [
            ("ada", "\u{430}d\u{430}"),
            ("paul", "pau1"),
            ("Ida", "lda"),
            ("worker-0", "worker-O"),
            ("deploy", "dep\u{406}oy"),
            ("claude", "\u{ff43}laude"),
            ("modern", "rnodern"),
            ("scope", "\u{455}\u{441}\u{43e}\u{440}\u{435}"),
        ] {
            assert!(alike(one, other), "{one:?} {other:?}");
        }
        for (one, other) in [("ada", "ida"), ("worker-1", "worker-2"), ("zoe", "zoë"), ("王小明", "王小名")]
        {
            assert!(!alike(one, other), "{one:?} {other:?}");
        }
    }

    #[test]
    fn scripts_that_are_not_written_together_are_told() {
        for mixed in ["p\u{430}ul", "\u{3b1}da", "ａｄａ", "ada\u{5d0}\u{434}"] {
            assert!(mixes_scripts(mixed), "{mixed:?}");
        }
        for honest in [
            "ada",
            "Zoë Ångström",
            "Ines (audit)",
            "Ольга",
            "王小明 Wang",
            "ゆき Yuki",
            "می\u{200c}خواهم",
            "אדם Adam",
            "build-2 👩",
        ] {
            assert!(!mixes_scripts(honest), "{honest:?}");
        }
    }
}
