//! What the reader holds besides the file: receipts, pinned keys, known events.

use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
};

use demur_core::{limit::Limits, visible::deceives};
use demur_desk::visible::visible_path;
use demur_ledger::{
    name::Sequence,
    signed::{Receipt, Signed},
    verify::{KnownHead, Pin},
};

use crate::failure::Failure;

/// Returns whether the file at this path begins like a receipt. Pipes are left alone: they are read only once.
pub(super) fn is_receipt(path: &Path) -> bool {
    let mut begin = [0; BEGIN.len()];
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    is_file && File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok() && begin == *BEGIN
}

/// Reads a receipt.
pub(super) fn receipt(path: &Path) -> Result<Signed<Receipt>, Failure> {
    let unreadable = |error: io::Error| Failure::unreadable(path, &error);
    let mut bytes = Vec::new();
    let limit = Limits::EVENT.bytes as u64;
    File::open(path).and_then(|file| file.take(limit + 2).read_to_end(&mut bytes)).map_err(unreadable)?;
    Signed::parse(bytes.strip_suffix(b"\n").unwrap_or(&bytes)).map_err(|error| {
        let message = format!("{}: expected a receipt: {error}", visible_path(path));
        Failure::input("RECEIPT_MALFORMED", message).with_hint("give the receipt as the desk gave it")
    })
}

/// Reads `NAME=FINGERPRINT`.
pub(crate) fn parse_pin(text: &str) -> Result<Pin, String> {
    let (name, fingerprint) = text.rsplit_once('=').ok_or("expected NAME=FINGERPRINT, found no =")?;
    if name.is_empty() {
        return Err("expected a name before the =, found none".to_owned());
    }
    if name.contains(deceives) {
        return Err("expected a name of visible characters".to_owned());
    }
    let fingerprint = fingerprint
        .parse()
        .map_err(|error| format!("fingerprint: {error}; `demur keys show {name}` shows the whole of it"))?;
    Ok(Pin { name: name.to_owned(), fingerprint })
}

/// Reads `HASH` or `SEQUENCE:HASH`.
pub(crate) fn parse_head(text: &str) -> Result<KnownHead, String> {
    let (sequence, hash) = match text.split_once(':') {
        Some((sequence, hash)) => (Some(parse_sequence(sequence)?), hash),
        None => (None, text),
    };
    let hash = hash.parse().map_err(|error| format!("hash: {error}"))?;
    Ok(KnownHead { sequence, hash })
}

fn parse_sequence(text: &str) -> Result<Sequence, String> {
    let number: u64 = text.parse().map_err(|_| "expected a whole number before the colon")?;
    Sequence::try_from(number).map_err(|error| error.to_string())
}

/// How a receipt begins; no export does.
const BEGIN: &[u8; 12] = br#"{"document":"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_a_name_and_a_fingerprint() {
        let fingerprint = "0123456789abcdef".repeat(4);
        let pin = parse_pin(&format!("a=b={fingerprint}")).unwrap();
        assert_eq!((pin.name.as_str(), pin.fingerprint.to_string()), ("a=b", fingerprint.clone()));
        for text in [
            "",
            "alice",
            "alice=",
            "alice=0123",
            &format!("={fingerprint}"),
            &format!("a\u{202e}={fingerprint}"),
        ] {
            parse_pin(text).unwrap_err();
        }
    }

    #[test]
    fn known_events_are_a_hash_with_or_without_a_place() {
        let hash = "0123456789abcdef".repeat(4);
        assert_eq!(parse_head(&hash).unwrap().sequence, None);
        let head = parse_head(&format!("41:{hash}")).unwrap();
        assert_eq!((head.sequence.map(Sequence::number), head.hash.to_string()), (Some(41), hash.clone()));
        for text in [
            "",
            ":",
            "41:",
            "41:0123",
            &format!(":{hash}"),
            &format!("-1:{hash}"),
            &format!("9007199254740992:{hash}"),
        ] {
            parse_head(text).unwrap_err();
        }
    }
}
