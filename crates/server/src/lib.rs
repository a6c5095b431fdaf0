//! The local server: one process that owns a data folder and answers HTTP over a Unix socket and TCP. It decides almost
//! nothing: routes turn requests into calls of `demur-desk`, and what comes back into documents.
//!
//! | part | module |
//! |---|---|
//! | the folder, lent and taken back | [`premises`] |
//! | who waits for what | [`notices`] |
//! | what open pages are told | [`live`] |
//! | deadlines that pass | [`timers`] |
//! | who calls and what they may do | [`caller`], [`tokens`], [`people`], [`gate`] |
//! | how often, and under which address | `limits`, [`public_url`] |
//! | operations, routes and their description | [`api`], [`routes`], [`openapi`] |
//! | what a request carries, what a refusal says | [`read`], [`problem`] |
//! | large answers, part by part | [`outlet`] |
//! | connections, start and end | [`connection`], [`patience`], [`serve`], [`socket`] |
//! | what is counted | [`metrics`] |

pub mod api;
pub mod caller;
pub mod connection;
pub mod gate;
pub(crate) mod limits;
pub mod live;
pub mod metrics;
pub mod notices;
pub mod openapi;
pub mod outlet;
pub mod patience;
pub mod people;
pub mod premises;
pub mod problem;
pub mod public_url;
pub mod read;
pub mod routes;
pub mod serve;
pub mod server_limits;
pub mod service;
pub mod socket;
pub mod timers;
pub mod tokens;
