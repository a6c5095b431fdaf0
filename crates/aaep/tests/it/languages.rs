//! Which language a reader gets: the order of the rules, and that they run in one direction.

use demur_aaep::{
    envelope::LocalizationHints,
    language::{
        self,
        LanguageFit::{self, *},
        LanguageTag, TextDirection,
    },
};

use crate::world::{complete, event, of};

fn tags(texts: &[&str]) -> Vec<LanguageTag> {
    texts.iter().map(|text| of(text)).collect()
}

#[track_caller]
fn gets(asked: &[&str], offered: &[&str], fallbacks: &[&str], expected: (&str, LanguageFit)) {
    let (primary, offered) = (of("en-US"), tags(offered));
    let (found, fit) = language::chosen(&tags(asked), &offered, &tags(fallbacks), &primary);
    assert_eq!((found.as_str(), fit), expected, "{asked:?} of {offered:?}");
}

/// AEP-21
#[test]
fn rules_are_tried_in_their_order() {
    gets(&["fr-CA"], &["fr", "fr-CA"], &[], ("fr-CA", Exact));
    gets(&["FR-ca"], &["fr-CA"], &[], ("fr-CA", Exact));
    gets(&["fr-CA"], &["fr", "de"], &[], ("fr", WithoutRegion));
    gets(&["zh-Hant-TW"], &["zh", "zh-Hant"], &[], ("zh-Hant", WithoutRegion));
    gets(&["zh-Hant"], &["zh"], &[], ("zh", WithoutScript));
    gets(&["zh-Hant-TW"], &["zh"], &[], ("zh", WithoutScript));
    gets(&["es-419"], &["es"], &[], ("es", WithoutRegion));
    gets(&["fr"], &["fr-CA"], &[], ("fr-CA", MoreSpecific));
    gets(&["fr"], &["fr-CA", "fr"], &[], ("fr", Exact));
}

/// AEP-21
#[test]
fn the_readers_order_comes_before_how_well_something_fits() {
    gets(&["yo-NG", "en-NG", "en"], &["ha-NG", "en-NG"], &[], ("en-NG", Exact));
    gets(&["fr-CA", "de"], &["de", "fr"], &[], ("fr", WithoutRegion));
    gets(&["xx", "en"], &[], &[], ("en-US", MoreSpecific));
}

/// AEP-21
#[test]
fn a_language_serves_who_asks_for_less_and_not_who_asks_for_another_region() {
    gets(&["fr-CA"], &["fr-FR"], &[], ("en-US", Primary));
    gets(&["zh-Hant"], &["zh-Hans"], &[], ("en-US", Primary));
    gets(&["e"], &["en"], &[], ("en-US", Primary));
    gets(&["en-GB"], &[], &[], ("en-US", Primary));
}

/// AEP-21
#[test]
fn where_nothing_fits_the_fallbacks_are_tried_and_then_the_event_keeps_its_language() {
    gets(&["xx"], &["de", "fr-FR"], &["fr", "de"], ("fr-FR", Fallback));
    gets(&["xx"], &["de"], &["fr"], ("en-US", Primary));
    gets(&[], &["de"], &["de"], ("de", Fallback));
}

/// AEP-21
#[test]
fn an_event_is_given_in_the_best_of_its_languages_and_with_the_direction_that_it_says() {
    let hints = event(&complete("session.started")).envelope.localization_hints.unwrap();
    let found = |asked: &[&str]| hints.language_for(&tags(asked)).map(|(tag, fit)| (tag.to_string(), fit));
    assert_eq!(found(&["en"]), Some(("en-US".to_owned(), MoreSpecific)));
    assert_eq!(found(&["ar-SA"]), Some(("ar-SA".to_owned(), Exact)));
    assert_eq!(found(&["fr"]), Some(("en-US".to_owned(), Fallback)));
    assert_eq!(LocalizationHints::default().language_for(&tags(&["en"])), None);
    assert_eq!(hints.direction(), TextDirection::Rtl);
    let unsaid = LocalizationHints { text_direction: None, ..hints };
    assert_eq!(unsaid.direction(), TextDirection::Rtl);
    assert_eq!(LocalizationHints::default().direction(), TextDirection::Ltr);
}

/// AEP-21
#[test]
fn direction_follows_from_the_script_and_else_from_the_language() {
    for (tag, expected) in [
        ("ar", TextDirection::Rtl),
        ("he-IL", TextDirection::Rtl),
        ("FA", TextDirection::Rtl),
        ("ur-PK", TextDirection::Rtl),
        ("yi", TextDirection::Rtl),
        ("en", TextDirection::Ltr),
        ("ar-Latn", TextDirection::Ltr),
        ("az-Arab", TextDirection::Rtl),
        ("ha-arab-NG", TextDirection::Rtl),
        ("yo-NG", TextDirection::Ltr),
        ("uz-x-arab", TextDirection::Ltr),
    ] {
        assert_eq!(of::<LanguageTag>(tag).direction(), expected, "{tag}");
    }
}

#[test]
fn tags_are_words_of_letters_and_digits() {
    for tag in ["en", "es-419", "zh-Hant-TW", "sl-rozaj-biske-1994", "x-whatever"] {
        assert_eq!(of::<LanguageTag>(tag).to_string(), tag);
    }
    for wrong in ["", "-", "en-", "-en", "419", "en_US", "toolonglanguage", "en-toolongsubtag", "é", "en US"]
    {
        assert!(wrong.parse::<LanguageTag>().is_err(), "{wrong}");
    }
}
