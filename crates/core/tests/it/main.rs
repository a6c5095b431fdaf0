//! The tests of demur-core that need nothing but its interface.

mod canonical_agreement;
mod canonical_members;
mod canonical_read;
mod canonical_shape;
mod canonical_write;
mod crafted;
mod generator;
mod hashes;
mod identifiers;
mod jws;
mod keys;
mod limits;
mod proof;
mod readers;
mod schemas;
mod signatures_agreement;
mod text_parsers;
mod times;
mod trees;
mod vectors_ed25519;
mod vectors_passkey;
mod vectors_rfc8785;
