//! The local server: one process that owns a data folder and answers HTTP over a Unix socket and TCP. It decides and
//! authorizes nothing: an operation is read, done by `demur-desk`, and written.
//!
//! | part | module |
//! |---|---|
//! | what whoever watches is told, as text | `watching` |
//! | who calls | [`credentials`] |
//! | how often, and under which address | `limits`, [`public_url`] |
//! | operations, routes and their description | [`api`], [`mount`], [`routes`], [`openapi`] |
//! | what a request carries, what a refusal says | [`read`], [`problem`] |
//! | large answers, part by part | [`outlet`] |
//! | connections, start and end | [`connection`], [`patience`], [`serve`], [`socket`] |
//! | what is counted | [`metrics`] |

pub mod api;
pub mod connection;
pub mod credentials;
pub(crate) mod limits;
pub mod metrics;
pub mod mount;
pub mod openapi;
pub mod outlet;
pub mod patience;
pub mod problem;
pub mod public_url;
pub mod read;
pub mod routes;
pub mod serve;
pub mod service;
pub mod socket;
pub(crate) mod watching;
