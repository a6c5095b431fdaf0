//! Keys of maps: text, and what serde_json writes as text too (whole numbers, booleans, characters, variants
//! without content).

use serde::ser::{Impossible, Serialize, Serializer};

use super::error::WriteError;
use super::{number, text};

/// Writes one key with its quotes; yields whether it needed an escape.
pub(super) struct KeyWriter<'a> {
    pub(super) out: &'a mut Vec<u8>,
}

impl KeyWriter<'_> {
    fn integer(self, negative: bool, magnitude: u64) -> bool {
        self.out.extend_from_slice(if negative { b"\"-" } else { b"\"" });
        number::write_integer(magnitude, self.out);
        self.out.push(b'"');
        false
    }
}

/// The methods that only widen a number, and those that refuse.
macro_rules! methods {
    (widen $($method:ident($type:ty) => $target:ident;)*) => {
        $(fn $method(self, value: $type) -> Result<bool, WriteError> {
            self.$target(value.into())
        })*
    };
    (refuse $($method:ident($($argument:ty),*) -> $result:ty, $found:literal;)*) => {
        $(fn $method(self, $(_: $argument),*) -> Result<$result, WriteError> {
            Err(WriteError::Key { found: $found })
        })*
    };
}

type Never = Impossible<bool, WriteError>;

impl Serializer for KeyWriter<'_> {
    type Ok = bool;
    type Error = WriteError;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Never;
    type SerializeStructVariant = Never;

    methods! { widen
        serialize_i8(i8) => serialize_i64;
        serialize_i16(i16) => serialize_i64;
        serialize_i32(i32) => serialize_i64;
        serialize_u8(u8) => serialize_u64;
        serialize_u16(u16) => serialize_u64;
        serialize_u32(u32) => serialize_u64;
    }

    methods! { refuse
        serialize_f32(f32) -> bool, "a floating-point number";
        serialize_f64(f64) -> bool, "a floating-point number";
        serialize_bytes(&[u8]) -> bool, "bytes";
        serialize_none() -> bool, "nothing";
        serialize_unit() -> bool, "nothing";
        serialize_unit_struct(&'static str) -> bool, "nothing";
        serialize_seq(Option<usize>) -> Never, "an array";
        serialize_tuple(usize) -> Never, "an array";
        serialize_tuple_struct(&'static str, usize) -> Never, "an array";
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Never, "a variant with content";
        serialize_map(Option<usize>) -> Never, "an object";
        serialize_struct(&'static str, usize) -> Never, "an object";
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Never, "a variant with content";
    }

    fn serialize_bool(self, value: bool) -> Result<bool, WriteError> {
        self.serialize_str(if value { "true" } else { "false" })
    }

    fn serialize_i64(self, value: i64) -> Result<bool, WriteError> {
        Ok(self.integer(value < 0, value.unsigned_abs()))
    }

    fn serialize_u64(self, value: u64) -> Result<bool, WriteError> {
        Ok(self.integer(false, value))
    }

    fn serialize_char(self, value: char) -> Result<bool, WriteError> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<bool, WriteError> {
        Ok(text::write(value, self.out))
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<bool, WriteError> {
        value.serialize(self)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<bool, WriteError> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<bool, WriteError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<bool, WriteError> {
        Err(WriteError::Key { found: "a variant with content" })
    }
}
