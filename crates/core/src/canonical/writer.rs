//! The writer: a serde serializer that appends canonical JSON. It shapes values as serde_json does.

use serde::ser::{self, Serialize, Serializer};

use super::error::WriteError;
use super::key::KeyWriter;
use super::number::{self, Decimal, GREATEST_INTEGER};
use super::object::Members;
use super::order::Key;
use super::text;
use crate::limit::Limits;

/// Appends values to `out`.
pub(super) struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// The keys of all objects that are open, outermost first.
    keys: Vec<Key>,
    /// The next string is JSON already and is taken over as it is.
    raw: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, keys: Vec::with_capacity(USUAL_MEMBERS), raw: false }
    }

    fn integer(&mut self, negative: bool, magnitude: u64) -> Result<(), WriteError> {
        if magnitude > GREATEST_INTEGER {
            let sign = if negative { "-" } else { "" };
            return Err(WriteError::Range { found: format!("{sign}{magnitude}") });
        }
        if negative {
            self.out.push(b'-');
        }
        number::write_integer(magnitude, self.out);
        Ok(())
    }

    fn raw_text(&mut self, json: &str) -> Result<(), WriteError> {
        super::check(json.as_bytes(), &Limits::LINE).map_err(WriteError::Raw)?;
        self.out.extend_from_slice(json.as_bytes());
        Ok(())
    }

    fn array(&mut self, closing: &'static [u8]) -> Array<'_, 'a> {
        self.out.push(b'[');
        Array { writer: self, first: true, closing }
    }

    fn object(&mut self, closing: &'static [u8]) -> Object<'_, 'a> {
        self.out.push(b'{');
        let members = Members::new(&self.keys);
        Object { writer: self, members, closing }
    }

    /// Opens the object around a variant with content.
    fn variant(&mut self, variant: &'static str) {
        self.out.push(b'{');
        text::write(variant, self.out);
        self.out.push(b':');
    }
}

/// The methods that only widen a number.
macro_rules! widen {
    ($($method:ident($type:ty) => $target:ident;)*) => {
        $(fn $method(self, value: $type) -> Result<(), WriteError> {
            self.$target(value.into())
        })*
    };
}

impl<'w, 'a> Serializer for &'w mut Writer<'a> {
    type Ok = ();
    type Error = WriteError;
    type SerializeSeq = Array<'w, 'a>;
    type SerializeTuple = Array<'w, 'a>;
    type SerializeTupleStruct = Array<'w, 'a>;
    type SerializeTupleVariant = Array<'w, 'a>;
    type SerializeMap = Object<'w, 'a>;
    type SerializeStruct = Object<'w, 'a>;
    type SerializeStructVariant = Object<'w, 'a>;

    widen! {
        serialize_i8(i8) => serialize_i64;
        serialize_i16(i16) => serialize_i64;
        serialize_i32(i32) => serialize_i64;
        serialize_u8(u8) => serialize_u64;
        serialize_u16(u16) => serialize_u64;
        serialize_u32(u32) => serialize_u64;
    }

    fn serialize_bool(self, value: bool) -> Result<(), WriteError> {
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn serialize_i64(self, value: i64) -> Result<(), WriteError> {
        self.integer(value < 0, value.unsigned_abs())
    }

    fn serialize_u64(self, value: u64) -> Result<(), WriteError> {
        self.integer(false, value)
    }

    fn serialize_i128(self, value: i128) -> Result<(), WriteError> {
        let value = i64::try_from(value).map_err(|_| WriteError::Range { found: value.to_string() })?;
        self.serialize_i64(value)
    }

    fn serialize_u128(self, value: u128) -> Result<(), WriteError> {
        let value = u64::try_from(value).map_err(|_| WriteError::Range { found: value.to_string() })?;
        self.serialize_u64(value)
    }

    fn serialize_f32(self, value: f32) -> Result<(), WriteError> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), WriteError> {
        if !value.is_finite() {
            return Err(WriteError::NotFinite);
        }
        if number::is_beyond_integers(value) {
            return Err(WriteError::Range { found: value.to_string() });
        }
        self.out.extend_from_slice(Decimal::new(value).as_bytes());
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), WriteError> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), WriteError> {
        if self.raw {
            return self.raw_text(value);
        }
        text::write(value, self.out);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), WriteError> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), WriteError> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), WriteError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), WriteError> {
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), WriteError> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), WriteError> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), WriteError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), WriteError> {
        self.variant(variant);
        value.serialize(&mut *self)?;
        self.out.push(b'}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Array<'w, 'a>, WriteError> {
        Ok(self.array(b"]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Array<'w, 'a>, WriteError> {
        Ok(self.array(b"]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Array<'w, 'a>, WriteError> {
        Ok(self.array(b"]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Array<'w, 'a>, WriteError> {
        self.variant(variant);
        Ok(self.array(b"]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Object<'w, 'a>, WriteError> {
        Ok(self.object(b"}"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Object<'w, 'a>, WriteError> {
        if name == RAW_VALUE {
            self.raw = true;
            let members = Members::new(&self.keys);
            return Ok(Object { writer: self, members, closing: b"" });
        }
        Ok(self.object(b"}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Object<'w, 'a>, WriteError> {
        self.variant(variant);
        Ok(self.object(b"}}"))
    }
}

/// An array in the making.
pub(super) struct Array<'w, 'a> {
    writer: &'w mut Writer<'a>,
    first: bool,
    closing: &'static [u8],
}

impl Array<'_, '_> {
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        if !self.first {
            self.writer.out.push(b',');
        }
        self.first = false;
        value.serialize(&mut *self.writer)
    }

    fn close(self) {
        self.writer.out.extend_from_slice(self.closing);
    }
}

/// An object in the making.
pub(super) struct Object<'w, 'a> {
    writer: &'w mut Writer<'a>,
    members: Members,
    closing: &'static [u8],
}

impl Object<'_, '_> {
    fn key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), WriteError> {
        let writer = &mut *self.writer;
        if !self.members.is_empty(&writer.keys) {
            writer.out.push(b',');
        }
        let start = writer.out.len() + 1;
        let escaped = key.serialize(KeyWriter { out: writer.out })?;
        let key = Key { start, end: writer.out.len() - 1, escaped };
        self.members.add(key, &mut writer.keys, writer.out);
        writer.out.push(b':');
        Ok(())
    }

    fn field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), WriteError> {
        if self.writer.raw {
            // The one field of a `RawValue`: its text takes the place of the object.
            let written = value.serialize(&mut *self.writer);
            self.writer.raw = false;
            return written;
        }
        self.key(key)?;
        value.serialize(&mut *self.writer)
    }

    fn close(self) -> Result<(), WriteError> {
        self.members.finish(&mut self.writer.keys, self.writer.out)?;
        self.writer.out.extend_from_slice(self.closing);
        Ok(())
    }
}

macro_rules! array_trait {
    ($($name:ident, $method:ident;)*) => {
        $(impl ser::$name for Array<'_, '_> {
            type Ok = ();
            type Error = WriteError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
                self.element(value)
            }

            fn end(self) -> Result<(), WriteError> {
                self.close();
                Ok(())
            }
        })*
    };
}

array_trait! {
    SerializeSeq, serialize_element;
    SerializeTuple, serialize_element;
    SerializeTupleStruct, serialize_field;
    SerializeTupleVariant, serialize_field;
}

macro_rules! object_trait {
    ($($name:ident;)*) => {
        $(impl ser::$name for Object<'_, '_> {
            type Ok = ();
            type Error = WriteError;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), WriteError> {
                self.field(key, value)
            }

            fn end(self) -> Result<(), WriteError> {
                self.close()
            }
        })*
    };
}

object_trait! {
    SerializeStruct;
    SerializeStructVariant;
}

impl ser::SerializeMap for Object<'_, '_> {
    type Ok = ();
    type Error = WriteError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), WriteError> {
        self.key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        value.serialize(&mut *self.writer)
    }

    fn end(self) -> Result<(), WriteError> {
        self.close()
    }
}

/// Enough for the open objects of most events, so that the list of keys is allocated once.
const USUAL_MEMBERS: usize = 32;

/// The name by which `serde_json::value::RawValue` makes itself known to serializers.
const RAW_VALUE: &str = "$serde_json::private::RawValue";
