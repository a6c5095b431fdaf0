//! What a client carries from one round of a request to the next: sealed by one process, opened by another.

use demur_api::operation as op;
use demur_core::limit::Text;
use demur_desk::access::Caller;
use demur_mcp::state::{Bound, RoundState, States};
use serde_json::json;

use crate::desk::{House, request};

/// Returns what the desk itself seals with.
fn of_desk(house: &House) -> States {
    States::with_key(&house.desk.request_state_key().unwrap()).unwrap()
}

/// Returns what a program seals with that asks this desk for its secret.
async fn of_client(house: &House, user: &str, client: Option<&str>) -> States {
    let client = client.map(|name| Text::try_from(name).unwrap());
    let caller = Caller::Local { name: user.try_into().unwrap(), client, id: None };
    let asked = request::<op::ShowRequestStateKey>(json!({}), json!({}), json!({}));
    let given = house.desk.call(&caller, asked).await.unwrap().document;
    States::with_key(given.key.as_bytes()).unwrap()
}

#[tokio::test]
async fn state_sealed_here_opens_there() {
    let [here, elsewhere] = House::two();
    let other = House::open();
    let round = RoundState::Question(here.ask("Which?").await);
    let bound = Bound::new("client:a", "ask_human", json!({}).as_object().unwrap()).unwrap();
    let opens =
        |sealed: &str, states: &States| states.unseal(sealed, &bound).is_ok_and(|found| found == round);

    let sealed = of_desk(&here).seal(&round, &bound).unwrap();
    assert!(opens(&sealed, &of_desk(&elsewhere)), "another process with the same keyring");
    assert!(!opens(&sealed, &of_desk(&other)), "another keyring");
    assert!(!opens(&sealed, &of_client(&here, "kim", None).await), "a client has not the secret of the desk");

    let sealed = of_client(&here, "kim", Some("a")).await.seal(&round, &bound).unwrap();
    assert!(opens(&sealed, &of_client(&elsewhere, "kim", Some("a")).await), "the same client elsewhere");
    let others = [("kim", Some("b")), ("kim", None), ("max", Some("a"))];
    for (user, client) in others {
        assert!(!opens(&sealed, &of_client(&here, user, client).await), "{user} with {client:?}");
    }
    assert!(!opens(&sealed, &of_client(&other, "kim", Some("a")).await), "another keyring");
    assert!(!opens(&sealed, &of_desk(&here)), "the desk has not the secret of a client");
}
