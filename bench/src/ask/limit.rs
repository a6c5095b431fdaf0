//! The limits: empty round trips of the same HTTP library, and raw durable appends of the same events.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Instant,
};

use anyhow::{Context as _, Result};
use axum::{
    Json, Router,
    extract::{Path, State},
    routing::post,
};
use demur_core::{key::SecretKey, random::Seeded};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{
    CALLERS,
    load::{self, Connection, LENGTH},
};
use crate::append::raw::{self, Row};

type Waiting = Arc<Mutex<HashMap<String, oneshot::Sender<Value>>>>;

/// Returns how many empty round trips there are in a second: one request waits until the other has brought something.
pub(super) fn round_trips() -> Result<f64> {
    let server = load::runtime()?;
    let address: SocketAddr = server.block_on(async {
        let router = Router::new()
            .route("/ask/{id}", post(ask))
            .route("/answer/{id}", post(answer))
            .with_state(Waiting::default());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok::<_, anyhow::Error>(address)
    })?;
    let clients = load::runtime()?;
    let (load, _) = load::drive(&clients, CALLERS, |number| pair(address, number))?;
    Ok(load.rate)
}

async fn pair(address: SocketAddr, number: usize) -> Result<Vec<std::time::Duration>> {
    let mut left = Connection::open(address, None).await?;
    let mut right = Connection::open(address, None).await?;
    let (begin, mut delays) = (Instant::now(), Vec::new());
    while begin.elapsed() < LENGTH {
        let sent = Instant::now();
        let (ask, answer) = (format!("/ask/{number}"), format!("/answer/{number}"));
        let waiting = left.call("POST", &ask, BODY);
        let bringing = async {
            // The question may not be there yet: then the answer is sent again.
            while right.call("POST", &answer, BODY).await? != json!(true) {}
            Ok::<_, anyhow::Error>(())
        };
        let (waited, brought) = tokio::join!(waiting, bringing);
        waited?;
        brought?;
        delays.push(sent.elapsed());
    }
    Ok(delays)
}

async fn ask(State(waiting): State<Waiting>, Path(id): Path<String>, Json(_): Json<Value>) -> Json<Value> {
    let (give, take) = oneshot::channel();
    if let Ok(mut waiting) = waiting.lock() {
        waiting.insert(id, give);
    }
    Json(take.await.unwrap_or_default())
}

async fn answer(
    State(waiting): State<Waiting>,
    Path(id): Path<String>,
    Json(value): Json<Value>,
) -> Json<bool> {
    let found = waiting.lock().ok().and_then(|mut waiting| waiting.remove(&id));
    Json(found.is_some_and(|give| give.send(value).is_ok()))
}

/// Returns how many raw durable appends there are in a second: the same events, signed anew, in grouped commits.
pub(super) fn appends(rows: &[Row]) -> Result<f64> {
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let key = |number| SecretKey::generate(&mut Seeded::from_number(number));
    let wall = raw::grouped(folder.path(), rows, &(key(1), key(2)), CALLERS)?;
    Ok(f64::from(u32::try_from(rows.len())?) / wall.as_secs_f64())
}

const BODY: &str = r#"{"question":"Where shall the build go?"}"#;
