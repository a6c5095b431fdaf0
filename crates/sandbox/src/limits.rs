//! How much a tool may use.

use serde::{Deserialize, Serialize};

use crate::SandboxError;

/// How much a tool and everything it starts may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxLimits {
    /// From the start to the end, in milliseconds of the wall clock.
    pub time_ms: u64,
    /// Bytes on standard output and standard error together.
    pub output: u64,
    /// Bytes of memory of all its processes together.
    pub memory: u64,
    /// Processes and threads at a time.
    pub processes: u64,
    /// Bytes in each file it writes.
    pub file_size: u64,
    /// Open files in each process.
    pub open_files: u64,
}

impl SandboxLimits {
    /// The least that can be asked for: a program cannot start with less.
    pub const LEAST: Self =
        Self { time_ms: 1, output: 0, memory: 16 * MIB, processes: 1, file_size: 0, open_files: 16 };

    /// The most that can be asked for.
    pub const MOST: Self = Self {
        time_ms: 24 * 60 * 60 * 1000,
        output: 32 * MIB,
        memory: 1024 * 1024 * MIB,
        processes: 4096,
        file_size: 1024 * 1024 * MIB,
        open_files: 65_536,
    };

    /// Refuses limits outside of [`LEAST`](Self::LEAST) and [`MOST`](Self::MOST).
    pub fn check(&self) -> Result<(), SandboxError> {
        let (least, most) = (Self::LEAST.named(), Self::MOST.named());
        for (((what, found), (_, least)), (_, most)) in self.named().into_iter().zip(least).zip(most) {
            if !(least..=most).contains(&found) {
                let expected = format!("{least} to {most}");
                return Err(SandboxError::Request { what, expected, found: found.to_string() });
            }
        }
        Ok(())
    }

    fn named(&self) -> [(&'static str, u64); 6] {
        [
            ("time_ms", self.time_ms),
            ("output", self.output),
            ("memory", self.memory),
            ("processes", self.processes),
            ("file_size", self.file_size),
            ("open_files", self.open_files),
        ]
    }
}

impl Default for SandboxLimits {
    fn default() -> Self {
        Self {
            time_ms: 60_000,
            output: MIB,
            memory: 512 * MIB,
            processes: 128,
            file_size: 64 * MIB,
            open_files: 256,
        }
    }
}

const MIB: u64 = 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_least_and_most_are_allowed() {
        for limits in [SandboxLimits::default(), SandboxLimits::LEAST, SandboxLimits::MOST] {
            limits.check().unwrap();
        }
    }

    #[test]
    fn names_the_limit_that_is_out_of_range() {
        let too_many = SandboxLimits { processes: 4097, ..SandboxLimits::default() };
        let message = too_many.check().unwrap_err().to_string();
        assert_eq!(message, "processes: expected 1 to 4096, found 4097");
        assert!(SandboxLimits { time_ms: 0, ..SandboxLimits::default() }.check().is_err());
    }

    #[test]
    fn absent_limits_have_their_defaults_and_unknown_ones_are_refused() {
        let limits: SandboxLimits = serde_json::from_str(r#"{"time_ms":5}"#).unwrap();
        assert_eq!(limits, SandboxLimits { time_ms: 5, ..SandboxLimits::default() });
        assert!(serde_json::from_str::<SandboxLimits>(r#"{"time":5}"#).is_err());
    }
}
