//! Signatures made by a malicious signer: small-order and mixed-order points, encodings that are not
//! canonical, scalars that are not reduced, and plain damage. Each knows whether ZIP 215 accepts it.

use curve25519_dalek::constants::{ED25519_BASEPOINT_POINT, ED25519_BASEPOINT_TABLE, EIGHT_TORSION};
use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};
use curve25519_dalek::scalar::Scalar;
use sha2::{Digest as _, Sha512};

use crate::generator::Generator;

/// A signature with the verdict that its maker intends.
#[derive(Debug, Clone)]
pub(crate) struct Crafted {
    pub(crate) key: [u8; 32],
    pub(crate) message: Vec<u8>,
    pub(crate) signature: [u8; 64],
    pub(crate) good: bool,
}

impl Crafted {
    /// Returns a signature that ZIP 215 accepts, of any of the good kinds.
    pub(crate) fn good(generator: &mut Generator) -> Self {
        let message = message(generator);
        Self::good_over(message, generator)
    }

    /// Returns a signature over this message that ZIP 215 accepts.
    pub(crate) fn good_over(message: Vec<u8>, generator: &mut Generator) -> Self {
        let (secret, nonce) = (scalar(generator), scalar(generator));
        let (key, secret) = match generator.below(6) {
            // The scalar of a small-order key is nothing: whatever it "signs" follows from R alone.
            0 => (small(generator), Scalar::ZERO),
            1 => (NON_CANONICAL_SMALL[generator.below(NON_CANONICAL_SMALL.len())], Scalar::ZERO),
            2 | 3 => (mixed(&secret, generator), secret),
            _ => (plain(&secret), secret),
        };
        let (commitment, nonce) = match generator.below(6) {
            0 => (small(generator), Scalar::ZERO),
            1 => (NON_CANONICAL_SMALL[generator.below(NON_CANONICAL_SMALL.len())], Scalar::ZERO),
            2 | 3 => (mixed(&nonce, generator), nonce),
            _ => (plain(&nonce), nonce),
        };
        let scalar = nonce + challenge(&commitment, &key, &message) * secret;
        Self { key, message, signature: join(&commitment, scalar.as_bytes()), good: true }
    }

    /// Returns a signature that ZIP 215 refuses, of any of the bad kinds.
    pub(crate) fn bad(generator: &mut Generator) -> Self {
        let mut crafted = Self::good(generator);
        crafted.good = false;
        match generator.below(8) {
            // Moving s moves the equation, whatever the points are.
            0 => crafted.move_scalar(Scalar::ONE),
            1 => crafted.move_scalar(scalar(generator)),
            2 => crafted.unreduce_scalar(1 + generator.below(7)),
            3 => crafted.signature[63] |= 0xe0,
            4 => crafted.move_commitment(),
            5 => crafted.signature[..32].copy_from_slice(&NO_POINT),
            6 => crafted.key = NO_POINT,
            _ => crafted = Self::over_another_message(generator),
        }
        crafted
    }

    /// Returns a signature by an honest key over another message.
    fn over_another_message(generator: &mut Generator) -> Self {
        let (secret, nonce) = (scalar(generator), scalar(generator));
        let (key, commitment) = (mixed(&secret, generator), mixed(&nonce, generator));
        let mut message = message(generator);
        let scalar = nonce + challenge(&commitment, &key, &message) * secret;
        message.push(b'!');
        Self { key, message, signature: join(&commitment, scalar.as_bytes()), good: false }
    }

    fn move_scalar(&mut self, change: Scalar) {
        let scalar: [u8; 32] = self.signature[32..].try_into().expect("half of a signature");
        let scalar = Scalar::from_bytes_mod_order(scalar) + change;
        self.signature[32..].copy_from_slice(scalar.as_bytes());
    }

    /// Adds the order of the base point to s: the same scalar, spelled otherwise.
    fn unreduce_scalar(&mut self, times: usize) {
        for _ in 0..times {
            let mut carry = 0;
            for (byte, order) in self.signature[32..].iter_mut().zip(ORDER) {
                let sum = u16::from(*byte) + u16::from(order) + carry;
                [*byte, _] = sum.to_le_bytes();
                carry = sum >> 8;
            }
        }
    }

    /// Replaces R by R + B, so that neither the equation nor the challenge fits.
    fn move_commitment(&mut self) {
        let encoding: [u8; 32] = self.signature[..32].try_into().expect("half of a signature");
        let point = CompressedEdwardsY(encoding).decompress().expect("R was made from a point");
        let moved = point + ED25519_BASEPOINT_POINT;
        self.signature[..32].copy_from_slice(moved.compress().as_bytes());
    }
}

fn join(commitment: &[u8; 32], scalar: &[u8; 32]) -> [u8; 64] {
    let mut signature = [0; 64];
    signature[..32].copy_from_slice(commitment);
    signature[32..].copy_from_slice(scalar);
    signature
}

fn challenge(commitment: &[u8; 32], key: &[u8; 32], message: &[u8]) -> Scalar {
    let hash = Sha512::new().chain_update(commitment).chain_update(key).chain_update(message).finalize();
    Scalar::from_bytes_mod_order_wide(&hash.into())
}

fn message(generator: &mut Generator) -> Vec<u8> {
    let mut message = generator.bytes::<40>().to_vec();
    message.truncate(generator.below(40));
    message
}

fn scalar(generator: &mut Generator) -> Scalar {
    Scalar::from_bytes_mod_order_wide(&generator.bytes())
}

fn point(scalar: &Scalar) -> EdwardsPoint {
    ED25519_BASEPOINT_TABLE * scalar
}

fn plain(scalar: &Scalar) -> [u8; 32] {
    point(scalar).compress().to_bytes()
}

fn mixed(scalar: &Scalar, generator: &mut Generator) -> [u8; 32] {
    (point(scalar) + EIGHT_TORSION[generator.below(8)]).compress().to_bytes()
}

fn small(generator: &mut Generator) -> [u8; 32] {
    EIGHT_TORSION[generator.below(8)].compress().to_bytes()
}

/// Returns an encoding with this first byte, `middle` in between, and this last byte.
const fn encoding(first: u8, middle: u8, last: u8) -> [u8; 32] {
    let mut bytes = [middle; 32];
    bytes[0] = first;
    bytes[31] = last;
    bytes
}

/// Small-order points that are not encoded canonically: y = 1 and y = -1 with the sign of a zero x, and
/// y = 0 and y = 1 written with p added.
pub(crate) const NON_CANONICAL_SMALL: [[u8; 32]; 6] = [
    encoding(0x01, 0x00, 0x80),
    encoding(0xec, 0xff, 0xff),
    encoding(0xed, 0xff, 0x7f),
    encoding(0xed, 0xff, 0xff),
    encoding(0xee, 0xff, 0x7f),
    encoding(0xee, 0xff, 0xff),
];

/// More of them: points of other orders with p added to y.
pub(crate) const NON_CANONICAL: [[u8; 32]; 10] = [
    NON_CANONICAL_SMALL[0],
    NON_CANONICAL_SMALL[1],
    NON_CANONICAL_SMALL[2],
    NON_CANONICAL_SMALL[3],
    NON_CANONICAL_SMALL[4],
    NON_CANONICAL_SMALL[5],
    encoding(0xf0, 0xff, 0x7f),
    encoding(0xf0, 0xff, 0xff),
    encoding(0xf1, 0xff, 0x7f),
    encoding(0xf3, 0xff, 0xff),
];

/// y = 2 is on no point of the curve.
const NO_POINT: [u8; 32] = encoding(0x02, 0x00, 0x00);

/// The order of the base point, least byte first.
const ORDER: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];
