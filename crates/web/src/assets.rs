//! The stylesheet, the scripts and the sign of the inbox, in the binary: a page asks no other host for anything.

use demur_core::hash::sha256;

/// A file that pages refer to.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    /// Its name below `/assets/`.
    pub name: &'static str,
    /// Its media type.
    pub media: &'static str,
    /// The file.
    pub text: &'static str,
}

/// Every file.
pub const ALL: [Asset; 4] = [
    Asset {
        name: "demur.css",
        media: "text/css; charset=utf-8",
        text: include_str!("../../../web/demur.css"),
    },
    Asset {
        name: "demur.js",
        media: "text/javascript; charset=utf-8",
        text: include_str!("../../../web/demur.js"),
    },
    Asset { name: "passkey.js", media: "text/javascript; charset=utf-8", text: PASSKEY_SCRIPT },
    Asset { name: "demur.svg", media: "image/svg+xml", text: include_str!("../../../web/demur.svg") },
];

/// The script that signs with a passkey; the page that signs somebody in has it inside.
pub(crate) const PASSKEY_SCRIPT: &str = include_str!("../../../web/passkey.js");

impl Asset {
    /// Returns what changes when the file does, for caches.
    pub fn tag(&self) -> String {
        format!("\"{}\"", &sha256(self.text.as_bytes()).to_string()[..16])
    }
}

/// Returns the file of this name.
pub fn find(name: &str) -> Option<Asset> {
    ALL.into_iter().find(|asset| asset.name == name)
}
