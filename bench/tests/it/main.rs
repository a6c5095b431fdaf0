//! Fixtures as others use them: through the library, against the verifier.
#![expect(clippy::unwrap_used, reason = "clippy does not see that the functions beside the tests are theirs")]

mod fixture;
