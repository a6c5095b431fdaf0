//! The tests of demur-web that need nothing but its interface.

mod text;
