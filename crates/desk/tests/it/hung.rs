//! A desk whose threads all wait for something, such as a disk that does not answer.

use std::{
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use demur_api::operation as op;
use serde_json::json;
use tokio::{sync::Semaphore, time::timeout};

use crate::desk::House;

#[tokio::test]
async fn desk_whose_threads_all_wait_is_well_and_can_be_told_to_end() {
    let house = House::open();
    let (answers, never) = mpsc::channel::<()>();
    let (hung, begun) = (Arc::new(Mutex::new(never)), Arc::new(Semaphore::new(0)));
    for _ in 0..WORKERS {
        let (desk, hung, begun) = (Arc::clone(&house.desk), Arc::clone(&hung), Arc::clone(&begun));
        tokio::spawn(async move {
            let work = move |_: &_| {
                begun.add_permits(1);
                // Until the other end is gone.
                let _ = hung.lock().map(|never| never.recv());
                Ok(())
            };
            desk.on_worker(work).await
        });
    }
    let all = begun.acquire_many(WORKERS).await.unwrap();
    let patience = Duration::from_secs(30);
    let health = timeout(patience, house.call::<op::CheckHealth>(json!({}), json!({}))).await;
    assert_eq!(health.unwrap().unwrap().status, "ok");
    timeout(patience, house.call::<op::StopServer>(json!({}), json!({}))).await.unwrap().unwrap();
    assert!(*house.desk.ending().borrow());
    drop((all, answers));
}

/// As many requests work in the folder at once.
const WORKERS: u32 = 128;
