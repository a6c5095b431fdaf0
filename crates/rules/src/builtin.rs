//! The pack that comes with the program: the conditions of seed 000 over the public knowledge in
//! `conformance/clarify/gap_kb.json`, reviewed. It is data like any other pack.

use crate::{Pack, PackError};

/// Returns the built-in pack.
pub fn pack() -> Result<Pack, PackError> {
    Pack::read(FILES)
}

/// Its files, for `demur rules` to show.
pub const FILES: [(&str, &str); 2] = [
    ("default/pack.toml", include_str!("../packs/default/pack.toml")),
    ("default/plan.cedar", include_str!("../packs/default/plan.cedar")),
];
