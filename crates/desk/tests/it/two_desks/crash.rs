//! One of two desks ends in the middle of its work.

use std::{
    mem,
    sync::{Arc, mpsc},
};

use demur_api::operation as op;
use serde_json::json;
use tokio::runtime::Runtime;

use super::answer;
use crate::desk::{House, request};

/// ONE-05
#[tokio::test]
async fn nothing_that_a_desk_acknowledged_is_lost_with_it() {
    let [here, elsewhere] = House::two();
    let doomed = Runtime::new().unwrap();
    let (tell, told) = mpsc::channel();
    for asker in 0..8 {
        let (desk, caller, tell) = (Arc::clone(&here.desk), here.local(), tell.clone());
        doomed.spawn(async move {
            loop {
                let words = json!({"question": format!("Which of {asker}?")});
                let asked =
                    desk.call::<op::Ask>(&caller, request(json!({}), json!({}), words)).await.unwrap();
                tell.send(asked.document.question.id).unwrap();
            }
        });
    }
    let mut acknowledged: Vec<_> = told.iter().take(64).collect();
    // Whatever was under way stays where it is, and the desk closes nothing.
    doomed.shutdown_background();
    mem::forget(here);
    acknowledged.extend(told.try_iter());
    for id in acknowledged {
        let shown = elsewhere.call::<op::ShowQuestion>(json!({"question": id}), json!({})).await.unwrap();
        assert_eq!(shown.state.as_str(), "open");
        answer(&elsewhere, id).await;
    }
}
