//! What the benchmarks share with the comparison in `bench/peers`: the generated fixture, the clocks and the
//! statistics.

pub mod clock;
pub mod fixture;
pub mod measure;
