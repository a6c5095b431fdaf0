//! A desk whose threads all wait for something, such as a disk that does not answer.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use demur_api::operation as op;
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::desk::House;

#[tokio::test]
async fn desk_whose_threads_all_wait_is_well_and_can_be_told_to_end() {
    let house = House::open();
    let (disk, waiting) = (Arc::new(Mutex::new(())), Arc::new(AtomicUsize::new(0)));
    let hangs = disk.lock().unwrap();
    for _ in 0..WORKERS {
        let (desk, disk, waiting) = (Arc::clone(&house.desk), Arc::clone(&disk), Arc::clone(&waiting));
        tokio::spawn(async move {
            let work = move |_: &_| {
                waiting.fetch_add(1, Ordering::SeqCst);
                drop(disk.lock());
                Ok(())
            };
            desk.on_worker(work).await
        });
    }
    while waiting.load(Ordering::SeqCst) < WORKERS {
        sleep(Duration::from_millis(5)).await;
    }
    let patience = Duration::from_secs(30);
    let health = timeout(patience, house.call::<op::CheckHealth>(json!({}), json!({}))).await;
    assert_eq!(health.unwrap().unwrap().status, "ok");
    timeout(patience, house.call::<op::StopServer>(json!({}), json!({}))).await.unwrap().unwrap();
    assert!(*house.desk.ending().borrow());
    drop(hangs);
}

/// As many requests work in the folder at once.
const WORKERS: usize = 128;
