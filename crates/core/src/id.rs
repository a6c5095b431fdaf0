//! Identifiers that carry their time: ULIDs for what we name (section "Statement" of the format) and UUIDs of
//! version 7 (RFC 9562) for protocols that ask for one. Both have one spelling each.

mod ulid;
mod uuid7;

use crate::random::Random;
use crate::time::Timestamp;

pub use ulid::Ulid;
pub use uuid7::Uuid7;

/// Makes a newtype over [`Ulid`], so that the ids of two kinds of things cannot be mixed up.
///
/// ```
/// demur_core::ulid_id! {
///     /// Names one trace.
///     pub struct TraceId;
/// }
///
/// let id: TraceId = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse()?;
/// assert_eq!(id.to_string(), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
/// # Ok::<(), demur_core::form::FormError>(())
/// ```
#[macro_export]
macro_rules! ulid_id {
    ($(#[$attribute:meta])* $visibility:vis struct $name:ident;) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility struct $name($crate::id::Ulid);

        impl $name {
            /// Returns a new id for this time.
            $visibility fn new(
                now: $crate::time::Timestamp,
                random: &mut dyn $crate::random::Random,
            ) -> Self {
                Self($crate::id::Ulid::new(now, random))
            }

            /// Returns the id without its kind.
            $visibility const fn as_ulid(&self) -> $crate::id::Ulid {
                self.0
            }
        }

        impl ::std::convert::From<$crate::id::Ulid> for $name {
            fn from(ulid: $crate::id::Ulid) -> Self {
                Self(ulid)
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::write!(formatter, "{}({})", ::std::stringify!($name), self.0)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&self.0, formatter)
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::form::FormError;

            fn from_str(text: &str) -> ::std::result::Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }

        impl $crate::macro_support::serde::Serialize for $name {
            fn serialize<S: $crate::macro_support::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                $crate::macro_support::serde::Serialize::serialize(&self.0, serializer)
            }
        }

        impl<'de> $crate::macro_support::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::macro_support::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<Self, D::Error> {
                $crate::macro_support::serde::Deserialize::deserialize(deserializer).map(Self)
            }
        }

        impl $crate::macro_support::schemars::JsonSchema for $name {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                ::std::stringify!($name).into()
            }

            fn schema_id() -> ::std::borrow::Cow<'static, str> {
                ::std::concat!(::std::module_path!(), "::", ::std::stringify!($name)).into()
            }

            fn json_schema(
                generator: &mut $crate::macro_support::schemars::SchemaGenerator,
            ) -> $crate::macro_support::schemars::Schema {
                <$crate::id::Ulid as $crate::macro_support::schemars::JsonSchema>::json_schema(generator)
            }
        }
    };
}

/// Returns 16 bytes as a number: 48 bits of time, 80 random bits. Both kinds of id begin so.
fn time_and_random(now: Timestamp, random: &mut dyn Random) -> u128 {
    let mut bytes = [0; 16];
    random.fill(&mut bytes[6..]);
    u128::from_be_bytes(bytes) | u128::from(now.as_millis()) << 80
}

/// Returns the time of an id. An id of another maker may lie after the year 9999; it then reads as the last
/// time there is.
fn timestamp(id: u128) -> Timestamp {
    Timestamp::MIN.plus_millis(u64::try_from(id >> 80).expect("48 bits fit"))
}
