//! Languages (chapter 11): tags, which of those on offer fits a reader, and in which direction text runs.

use crate::form::formed_text;

formed_text! {
    /// A language by its BCP 47 tag, such as `en`, `yo-NG` or `zh-Hant-TW`.
    LanguageTag, 128, "^[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*$", "a language tag such as en-US", is_tag
}

impl LanguageTag {
    /// Returns the language alone, without script, region and the rest.
    pub fn language(&self) -> &str {
        self.as_str().split('-').next().unwrap_or_default()
    }

    /// Returns the script, where the tag names one.
    pub fn script(&self) -> Option<&str> {
        self.subtags().find(|(_, subtag)| is_script(subtag)).map(|(_, subtag)| subtag)
    }

    /// Returns whether two tags are the same. Their case means nothing.
    pub fn is(&self, other: &Self) -> bool {
        self.as_str().eq_ignore_ascii_case(other.as_str())
    }

    /// Returns in which direction text in this language runs.
    pub fn direction(&self) -> TextDirection {
        let is_one_of =
            |names: &[&str], name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        let is_rtl = match self.script() {
            Some(script) => is_one_of(RTL_SCRIPTS, script),
            None => is_one_of(RTL_LANGUAGES, self.language()),
        };
        if is_rtl { TextDirection::Rtl } else { TextDirection::Ltr }
    }

    /// Returns whether this tag, asked for, is served by an offer, and how.
    fn served_by(&self, offer: &Self) -> Option<LanguageFit> {
        let region = self.subtags().find(|(_, subtag)| is_region(subtag)).map(|(index, _)| index);
        let script = self.subtags().find(|(_, subtag)| is_script(subtag)).map(|(index, _)| index);
        let without = |dropped: &[Option<usize>]| {
            let kept =
                self.as_str().split('-').enumerate().filter(|(index, _)| !dropped.contains(&Some(*index)));
            let kept: Vec<&str> = kept.map(|(_, subtag)| subtag).collect();
            kept.join("-").eq_ignore_ascii_case(offer.as_str())
        };
        if self.is(offer) {
            Some(LanguageFit::Exact)
        } else if region.is_some() && without(&[region]) {
            Some(LanguageFit::WithoutRegion)
        } else if script.is_some() && without(&[region, script]) {
            Some(LanguageFit::WithoutScript)
        } else {
            self.is_beginning_of(offer).then_some(LanguageFit::MoreSpecific)
        }
    }

    fn is_beginning_of(&self, offer: &Self) -> bool {
        let (own, other) = (self.as_str(), offer.as_str());
        let begins = other.get(..own.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(own));
        begins && other.as_bytes().get(own.len()) == Some(&b'-')
    }

    /// Returns the subtags after the language up to the first of one letter, which begins an extension, with their places.
    fn subtags(&self) -> impl Iterator<Item = (usize, &str)> {
        self.as_str().split('-').enumerate().skip(1).take_while(|(_, subtag)| subtag.len() > 1)
    }
}

/// How a language on offer fits one that was asked for, the best first (11.1.2, 11.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LanguageFit {
    /// It is the same.
    Exact,
    /// `en` for a reader of `en-US`.
    WithoutRegion,
    /// `zh` for a reader of `zh-Hant`.
    WithoutScript,
    /// `en-US` for a reader of `en`. Never `en-GB` for a reader of `en-US`.
    MoreSpecific,
    /// None of the reader's languages is there: the first of the event's own fallbacks.
    Fallback,
    /// Nothing fits: the language the event is written in. An event is never dropped for its language.
    Primary,
}

/// Returns which of the languages on offer a reader gets, and how well it fits: the first in the reader's order that fits at all,
/// then the event's fallbacks, then its own language.
pub fn chosen<'a>(
    asked: &[LanguageTag],
    offered: &'a [LanguageTag],
    fallbacks: &[LanguageTag],
    primary: &'a LanguageTag,
) -> (&'a LanguageTag, LanguageFit) {
    let best = |wanted: &LanguageTag| {
        let fits =
            offered.iter().chain([primary]).filter_map(|offer| Some((offer, wanted.served_by(offer)?)));
        fits.min_by_key(|(_, fit)| *fit)
    };
    if let Some(found) = asked.iter().find_map(best) {
        return found;
    }
    let fallback = fallbacks.iter().find_map(best);
    fallback.map_or((primary, LanguageFit::Primary), |(offer, _)| (offer, LanguageFit::Fallback))
}

/// Returns whether one of the languages on offer serves a reader of this one.
pub fn is_served(asked: &LanguageTag, offered: &[LanguageTag]) -> bool {
    offered.iter().any(|offer| asked.served_by(offer).is_some())
}

/// In which direction text runs.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum TextDirection {
    /// From left to right; also where nothing is said.
    Ltr,
    /// From right to left.
    Rtl,
    /// As the characters say (UAX 9).
    Auto,
}

fn is_tag(text: &str) -> bool {
    let mut subtags = text.split('-');
    let is_subtag = |subtag: &str| (1..=8).contains(&subtag.len());
    subtags
        .next()
        .is_some_and(|first| is_subtag(first) && first.bytes().all(|byte| byte.is_ascii_alphabetic()))
        && subtags.all(|subtag| is_subtag(subtag) && subtag.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

fn is_script(subtag: &str) -> bool {
    subtag.len() == 4 && subtag.bytes().all(|byte| byte.is_ascii_alphabetic())
}

fn is_region(subtag: &str) -> bool {
    (subtag.len() == 2 && subtag.bytes().all(|byte| byte.is_ascii_alphabetic()))
        || (subtag.len() == 3 && subtag.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Scripts that run from right to left.
const RTL_SCRIPTS: &[&str] =
    &["Adlm", "Arab", "Aran", "Hebr", "Mand", "Mend", "Nkoo", "Rohg", "Samr", "Syrc", "Thaa", "Yezi"];

/// Languages that are written from right to left unless their tag names another script.
const RTL_LANGUAGES: &[&str] = &[
    "ar", "arc", "arz", "azb", "bal", "bqi", "ckb", "dv", "fa", "glk", "he", "iw", "ji", "khw", "ks", "lrc",
    "mzn", "nqo", "pnb", "prs", "ps", "sd", "skr", "syr", "ug", "ur", "yi",
];
