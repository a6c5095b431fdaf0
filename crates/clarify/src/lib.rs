//! The clarification protocol of seed 000 (Agent Clarification Protocol 1.0.0): an agent that lacks something
//! says which field, asks, is answered, and can prove later that it did not guess.
//!
//! Pure: no files, no clock, no randomness; times, ids and keys are parameters. `docs/clarify.md` describes every
//! document and what its signature covers, for readers who do not use this crate.
//!
//! | seed 000 | module |
//! |---|---|
//! | 3, 4 gaps | [`gap`] |
//! | 4 the document that asks | [`document`] |
//! | 5 ask and answer of one gap | [`ask`], [`answer`] |
//! | 6 where a session stands | [`status`] |
//! | 7 rounds, their order, the audit record | [`round`], [`chain`], [`audit`] |
//! | 2 full audit: what is signed once and kept | [`paper`] |
//! | 9 attestation protocol | [`attestation`] |
//! | 9 handoff protocol | [`handoff`] |
//! | 9 identity protocol | [`identity`], [`keys`] |
//!
//! Not here: which plan has which gaps (rules), who may answer (the engine), the tools of section 6 (the MCP
//! door), the response to a handoff. Errata: the seed names signatures and not what they cover; the public
//! examples disagree about it. `docs/design/005-clarification.md` lists what was decided.
//!
//! The smallest round:
//! ```
//! use demur_clarify::{chain::Chain, gap::{Gap, Severity}, keys::KeyHistory, seal::Signer};
//! use demur_core::key::SecretKey;
//!
//! let agent = Signer::new("scaffold".parse()?, SecretKey::from_seed(&[1; 32]));
//! let mut chain = Chain::new("0196bb7c-0000-7000-8000-000000000001".parse()?);
//! let gap = Gap::new("gap-001".parse()?, "output.path".parse()?, Severity::Block, "Where to?".parse()?)?;
//! let ask = chain.ask(gap, "2026-05-10T15:00:00Z".parse()?, &agent)?;
//! chain.record(&ask, "dist".parse()?, "2026-05-10T15:01:23Z".parse()?, true, &agent)?;
//! let record = chain.seal(false, &agent)?;
//! let verified = record.verify(&KeyHistory::single(&agent), &[])?;
//! assert_eq!(verified.rounds(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod answer;
pub mod ask;
pub mod attestation;
pub mod audit;
pub mod chain;
pub mod document;
pub mod error;
pub mod gap;
pub mod handoff;
pub mod identity;
pub mod keys;
pub mod name;
pub mod paper;
pub mod read;
pub mod round;
pub mod schema;
pub mod seal;
pub mod status;
pub mod time;
pub mod uuid;

pub use error::Error;
