//! The MCP server that the conformance suite prescribes: fixture tools, prompts and resources, so that the suite has
//! something to call. Tests only.
//!
//! It writes its address to stdout and ends when its stdin does.
#![expect(clippy::print_stdout, reason = "the test that starts this server reads the address")]

mod catalog;
mod handler;
mod live;
mod rounds;

use std::{io::Read as _, sync::Arc};

use anyhow::{Context as _, Result};
use axum::Router;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use tokio::{net::TcpListener, sync::oneshot};

use crate::handler::Fixture;

fn main() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(serve())
}

async fn serve() -> Result<()> {
    let fixture = Fixture::load()?;
    let service = StreamableHttpService::new(
        move || Ok(fixture.clone()),
        Arc::new(LocalSessionManager::default()),
        // As `demur serve` has it; there, the gate looks at the names of the server.
        StreamableHttpServerConfig::default().with_json_response(true),
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.context("cannot listen")?;
    println!("http://{}/mcp", listener.local_addr()?);
    let router = Router::new().route_service("/mcp", service);
    tokio::select! {
        served = async { axum::serve(listener, router).await } => served.context("cannot serve"),
        _ = end_of_input() => Ok(()),
    }
}

/// Ends when whoever started this server has gone.
fn end_of_input() -> oneshot::Receiver<()> {
    let (ended, receiver) = oneshot::channel();
    std::thread::spawn(move || {
        let mut nothing = Vec::new();
        drop(std::io::stdin().read_to_end(&mut nothing));
        drop(ended);
    });
    receiver
}
