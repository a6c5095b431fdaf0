//! Subscriptions under fake time: opened, renegotiated, closed, lost.

use demur_aaep::{
    handshake::{ProducerMessage, SubscriptionClose, SubscriptionRenegotiate},
    subscription::{Subscription, SubscriptionEndCause, SubscriptionInput, SubscriptionStep},
};
use serde_json::{Value, json};

use crate::{
    negotiation::{capabilities, offer, request},
    world::{after, of},
};

fn open(asked: Value) -> Subscription {
    let (subscription, accepted) =
        Subscription::open(&request("1.0.0", asked), &offer(), of("sub_1"), after(0)).unwrap();
    assert_eq!(
        (&accepted.subscription_id, &accepted.honored_capabilities),
        (subscription.id(), subscription.terms())
    );
    subscription
}

fn renegotiate(asked: Value) -> SubscriptionRenegotiate {
    SubscriptionRenegotiate { subscription_id: of("sub_1"), capabilities: capabilities(asked) }
}

fn close() -> SubscriptionClose {
    SubscriptionClose { subscription_id: of("sub_1"), reason_code: None, reason_message: None }
}

/// AEP-19
#[test]
fn a_subscription_keeps_what_was_granted_and_survives_being_stored() {
    let subscription = open(json!({"max_events_per_second": 50, "languages": ["de"]}));
    assert_eq!(
        subscription.terms(),
        &capabilities(json!({"max_events_per_second": 20, "languages": ["de"]}))
    );
    assert_eq!(subscription.subscriber(), "reader");
    let stored = serde_json::to_string(&subscription).unwrap();
    assert_eq!(serde_json::from_str::<Subscription>(&stored).unwrap(), subscription);
    assert!(Subscription::open(&request("9.0.0", json!({})), &offer(), of("sub_1"), after(0)).is_err());
}

/// AEP-19 AEP-21
#[test]
fn new_terms_replace_what_they_name_and_leave_the_rest() {
    let mut subscription = open(json!({"max_events_per_second": 5, "languages": ["en"]}));
    let asked =
        renegotiate(json!({"max_events_per_second": 1, "languages": ["de"], "cognitive_load": "low"}));
    let step = subscription.handle(SubscriptionInput::Renegotiate(&asked), &offer(), after(10));
    assert!(step.is_changed && step.has_new_terms && !step.has_ended);
    let expected =
        capabilities(json!({"max_events_per_second": 1, "languages": ["de"], "cognitive_load": "low"}));
    assert_eq!(subscription.terms(), &expected);
    let Some(ProducerMessage::Accepted(accepted)) = step.reply else { panic!("{step:?}") };
    assert_eq!(accepted.honored_capabilities, expected);
    let step =
        subscription.handle(SubscriptionInput::Renegotiate(&renegotiate(json!({}))), &offer(), after(11));
    assert!(!step.has_new_terms);
    assert_eq!(subscription.terms(), &expected);
}

/// AEP-19
#[test]
fn new_terms_that_are_refused_end_the_subscription() {
    let mut subscription = open(json!({}));
    let asked = renegotiate(json!({"accept_signed_manifests_only": true}));
    let step = subscription.handle(SubscriptionInput::Renegotiate(&asked), &offer(), after(10));
    assert!(matches!(step.reply, Some(ProducerMessage::Rejected(_))) && step.has_ended);
    assert_eq!(subscription.end().unwrap().cause, SubscriptionEndCause::Rejected);
    // Every request is answered, also now.
    let step =
        subscription.handle(SubscriptionInput::Renegotiate(&renegotiate(json!({}))), &offer(), after(11));
    assert!(matches!(step.reply, Some(ProducerMessage::Rejected(_))) && !step.is_changed && !step.has_ended);
}

/// AEP-19
#[test]
fn either_side_ends_it_once() {
    let other = SubscriptionClose { subscription_id: of("sub_2"), ..close() };
    let mut subscription = open(json!({}));
    assert_eq!(
        subscription.handle(SubscriptionInput::Close(&other), &offer(), after(1)),
        SubscriptionStep::default()
    );
    let step = subscription.handle(SubscriptionInput::Close(&close()), &offer(), after(2));
    assert!(step.has_ended && step.is_changed);
    assert_eq!(subscription.end().unwrap().at, after(2));
    for input in [
        SubscriptionInput::Close(&close()),
        SubscriptionInput::Terminate,
        SubscriptionInput::Seen,
        SubscriptionInput::Tick,
    ] {
        assert_eq!(subscription.handle(input, &offer(), after(90_000)), SubscriptionStep::default());
    }
    let mut subscription = open(json!({}));
    assert!(subscription.handle(SubscriptionInput::Terminate, &offer(), after(2)).has_ended);
    assert_eq!(subscription.end().unwrap().cause, SubscriptionEndCause::ClosedByProducer);
}

/// AEP-19
#[test]
fn a_subscriber_that_comes_back_in_time_goes_on_and_another_is_lost() {
    let mut subscription = open(json!({}));
    assert!(subscription.handle(SubscriptionInput::Seen, &offer(), after(59_999)).is_changed);
    assert_eq!(subscription.next_timeout(), Some(after(119_999)));
    assert_eq!(
        subscription.handle(SubscriptionInput::Tick, &offer(), after(119_998)),
        SubscriptionStep::default()
    );
    let step = subscription.handle(SubscriptionInput::Tick, &offer(), after(119_999));
    assert!(step.has_ended);
    assert_eq!(subscription.end().unwrap().cause, SubscriptionEndCause::Lost);
    assert_eq!(subscription.next_timeout(), None);
    // Nothing revives it: its prompts may be resolved by now.
    assert!(!subscription.handle(SubscriptionInput::Seen, &offer(), after(120_000)).is_changed);
}

#[test]
fn a_clock_that_goes_back_loses_nothing() {
    let mut subscription = open(json!({}));
    subscription.handle(SubscriptionInput::Seen, &offer(), after(50_000));
    subscription.handle(SubscriptionInput::Seen, &offer(), after(10));
    assert_eq!(subscription.next_timeout(), Some(after(110_000)));
}
