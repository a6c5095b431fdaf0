//! The direction in which a language is written, from Unicode CLDR 49: scripts (script metadata) and the likely
//! script of each language (likely subtags). CLR-14.
//!
//! The tables were made by asking `icu_locale` 2.4.0 (`LocaleDirectionality::new_extended`) about every two- and
//! three-letter language, every pair of language and region, and every script. They are here because they are short and
//! a plan's outcome must not change with a dependency; the crate would bring 23 packages for one question.

/// The version of CLDR that the tables come from. It stands in the document of the rules.
pub(crate) const CLDR: &str = "49";

/// How lines run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// As in English.
    LeftToRight,
    /// As in Arabic.
    RightToLeft,
}

/// Returns the direction of a language tag such as `ar-sa`, `az-Arab` or `uz-AF`.
///
/// A script in the tag wins, then language and region together, then the language. What CLDR does not know is written
/// from left to right.
pub fn direction(tag: &str) -> Direction {
    let tag = canonical(tag);
    let mut parts = tag.split('-');
    let language = parts.next().unwrap_or_default();
    let mut script = None;
    let mut region = None;
    for part in parts.take_while(|part| part.len() > 1) {
        match part.len() {
            4 if script.is_none()
                && region.is_none()
                && part.bytes().all(|byte| byte.is_ascii_alphabetic()) =>
            {
                script = Some(part);
            }
            2 if region.is_none() => region = Some(part),
            _ => {}
        }
    }
    if let Some(script) = script {
        // Aran is Arabic in another style (ISO 15924), which CLDR does not list.
        return rtl(script == "aran" || SCRIPTS.binary_search(&script).is_ok());
    }
    let by_region = region.and_then(|region| {
        REGIONS
            .iter()
            .find(|(other, place, _)| *other == language && *place == region)
            .map(|(.., direction)| *direction)
    });
    by_region.unwrap_or_else(|| rtl(LANGUAGES.binary_search(&language).is_ok()))
}

/// Returns the one spelling of a tag: lower case with hyphens.
pub(crate) fn canonical(tag: &str) -> String {
    tag.trim().replace('_', "-").to_ascii_lowercase()
}

/// Returns whether a text has the form of a language tag.
pub(crate) fn is_tag(tag: &str) -> bool {
    let mut parts = tag.split('-');
    let is_language =
        |part: &str| (2..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_subtag =
        |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    tag.len() <= 35 && parts.next().is_some_and(is_language) && parts.all(is_subtag)
}

const fn rtl(is: bool) -> Direction {
    if is { Direction::RightToLeft } else { Direction::LeftToRight }
}

/// Scripts that are written from right to left, sorted.
#[rustfmt::skip]
const SCRIPTS: &[&str] = &[
    "adlm", "arab", "armi", "avst", "chrs", "cprt", "elym", "gara", "hatr", "hebr", "hung", "khar", "lydi",
    "mand", "mani", "mend", "merc", "mero", "narb", "nbat", "nkoo", "orkh", "ougr", "palm", "phli", "phlp",
    "phnx", "prti", "rohg", "samr", "sarb", "sidt", "sogd", "sogo", "syrc", "thaa", "yezi",
];

/// Languages whose likely script is one of those, sorted.
#[rustfmt::skip]
const LANGUAGES: &[&str] = &[
    "aao", "abh", "abv", "acm", "acq", "acw", "acx", "adf", "ae", "aeb", "aec", "aee", "aeq", "afb", "aib",
    "aii", "aij", "aiq", "amw", "apc", "apd", "ar", "arc", "arq", "ars", "ary", "arz", "ask", "atn", "auj",
    "auz", "avd", "avl", "ayh", "ayl", "ayn", "ayp", "azb", "bal", "bdz", "bej", "bft", "bgn", "bgp", "bhe",
    "bhm", "bhn", "bjf", "bjm", "bqi", "brh", "brk", "bsh", "bsk", "chg", "cja", "ckb", "clh", "czk", "dcc",
    "def", "deh", "dgl", "dmk", "dml", "dv", "ecy", "esh", "fa", "fay", "faz", "fia", "fub", "gbz", "ggg",
    "gha", "ghr", "gig", "gjk", "gju", "glh", "glk", "grr", "gwc", "gwf", "gwt", "gzi", "hac", "haz", "hbo",
    "he", "hkh", "hnd", "hno", "hoh", "hrt", "hrz", "hss", "huy", "isk", "itk", "iw", "jad", "jat", "jbe",
    "jbn", "jdg", "ji", "jnd", "jog", "jpa", "jpr", "jrb", "jye", "kbu", "kby", "kcy", "kfm", "khw", "klj",
    "kmz", "kqd", "ks", "ktl", "kvx", "kxp", "lad", "lah", "lhs", "lki", "lrc", "lrk", "lrl", "lsa", "lsd",
    "lss", "luv", "luz", "mby", "mde", "mey", "mfa", "mfi", "mhj", "mid", "mki", "mnj", "mve", "mvy", "myz",
    "mzb", "mzn", "nli", "nlm", "nqo", "ntz", "nyq", "oar", "obm", "odk", "omy", "oru", "ota", "otk", "oui",
    "pal", "pbt", "pgd", "phl", "phn", "phr", "phv", "plk", "prc", "prd", "prx", "ps", "psh", "psi", "pst",
    "qxq", "rdb", "rhg", "rmt", "sam", "sbn", "scl", "sd", "sdb", "sdf", "sdg", "sdh", "sds", "sgr", "sgy",
    "shd", "shm", "shu", "shv", "siy", "siz", "skr", "smp", "smy", "sog", "sqo", "sqt", "srh", "srz", "ssh",
    "sts", "swb", "syc", "syn", "syr", "tjo", "tks", "tmr", "tov", "tra", "trg", "trm", "trw", "ug", "ur",
    "ush", "uzs", "vaf", "vgr", "vmh", "wbk", "wne", "wni", "wsv", "xco", "xhe", "xka", "xkc", "xkj", "xkp",
    "xld", "xly", "xmn", "xmr", "xna", "xpr", "xsa", "xsd", "xvi", "ydg", "yhd", "yi", "yih", "yud", "zba",
    "zdj", "zrp", "zum",
];

/// Where a region has another direction than the language alone.
#[rustfmt::skip]
const REGIONS: &[(&str, &str, Direction)] = &[
    ("az", "iq", Direction::RightToLeft), ("az", "ir", Direction::RightToLeft),
    ("ha", "cm", Direction::RightToLeft), ("ha", "sd", Direction::RightToLeft),
    ("kk", "af", Direction::RightToLeft), ("kk", "cn", Direction::RightToLeft),
    ("kk", "ir", Direction::RightToLeft), ("kk", "mn", Direction::RightToLeft),
    ("ku", "iq", Direction::RightToLeft), ("ku", "ir", Direction::RightToLeft),
    ("ku", "lb", Direction::RightToLeft), ("ky", "cn", Direction::RightToLeft),
    ("mey", "sn", Direction::LeftToRight), ("ms", "cc", Direction::RightToLeft),
    ("pa", "pk", Direction::RightToLeft), ("sd", "in", Direction::LeftToRight),
    ("tg", "pk", Direction::RightToLeft), ("ug", "kz", Direction::LeftToRight),
    ("ug", "mn", Direction::LeftToRight), ("uz", "af", Direction::RightToLeft),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(SCRIPTS.is_sorted() && LANGUAGES.is_sorted());
    }

    /// CLR-14
    #[test]
    fn a_script_wins_over_the_language() {
        for tag in [
            "ar-sa",
            "ar",
            "he",
            "fa-IR",
            "ur",
            "az-Arab",
            "uz_AF",
            "pa-PK",
            "ku-Arab-TR",
            "yi",
            "dv",
            "ur-Aran",
        ] {
            assert_eq!(direction(tag), Direction::RightToLeft, "{tag}");
        }
        for tag in
            ["en", "en-us", "ks-Deva", "az", "ar-Latn", "ja", "uz", "pa", "sd-IN", "xx", "", "en-a-arab"]
        {
            assert_eq!(direction(tag), Direction::LeftToRight, "{tag}");
        }
    }
}
