//! The local server: one process that owns a data folder and answers HTTP over a Unix socket and TCP. It decides and
//! authorizes nothing: an operation is read, done by `demur-desk`, and written.
//!
//! | part | module |
//! |---|---|
//! | start, end, and what all routes share | [`serve`], [`service`] |
//! | the port at every address of this machine | [`loopback`] |
//! | connections and their number, the socket, time limits of the other side | [`connection`], `places`, [`socket`], [`peer_timeouts`] |
//! | credentials of a caller; whether a tool calls | [`credentials`], [`descent`] |
//! | how often somebody may try; room for what is being sent; the public address; trusted proxies | `limits`, `body_room`, [`public_url`], [`network`] |
//! | operations as routes, other routes, their description | [`api`], [`mount`], [`routes`], [`openapi`] |
//! | a request read, a refusal written | [`read`], [`problem`] |
//! | large answers, part by part | [`parts`] |
//! | a watch as the body of a response | `watching` |
//! | figures | [`metrics`] |

pub mod api;
pub(crate) mod body_room;
pub mod connection;
pub mod credentials;
pub mod descent;
pub(crate) mod limits;
pub mod loopback;
pub mod metrics;
pub mod mount;
pub mod network;
pub mod openapi;
pub mod parts;
pub mod peer_timeouts;
pub(crate) mod places;
pub mod problem;
pub mod public_url;
pub mod read;
pub mod routes;
pub mod serve;
pub mod service;
pub mod socket;
pub(crate) mod watching;
