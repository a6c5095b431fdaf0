//! What the benchmarks share with the comparison in `bench/peers`: the generated fixture, the clocks and the
//! statistics and the tables.

pub mod clock;
pub mod fixture;
pub mod measure;
pub mod table;
