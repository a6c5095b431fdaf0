//! The server as its callers meet it: a real one in this process, over TCP and over its socket.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod access;
mod api_document;
mod body;
mod browser;
mod client;
mod connection;
mod credential_end;
mod deadline;
mod feed;
mod folder;
mod fuzz;
mod gate;
mod identity;
mod key;
mod matrix;
mod mcp;
mod pages_live;
mod pages_questions;
mod pages_questions_list;
mod pages_questions_plan;
mod pages_traces;
mod people;
mod plan;
mod question;
mod race;
mod recorded;
mod run;
mod run_clients;
mod run_meaning;
mod run_refusals;
mod secret;
mod server;
mod sign_in;
mod token;
mod trace;
