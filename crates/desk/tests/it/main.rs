//! A desk in a data folder of its own, seen from outside.

mod driver;
