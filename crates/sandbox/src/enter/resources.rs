//! Limits that the kernel holds each process to by itself.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::SandboxLimits;

/// Puts the limits of each process in force; returns them in words.
pub(super) fn limit(limits: &SandboxLimits) -> Vec<String> {
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    // Both only catch what the supervisor is too slow or no longer there to end, so they never come first: a tool
    // that is refused memory fails in ways of its own, one that goes over the limit is ended as such.
    let seconds = (limits.time_ms.div_ceil(1000) + 1).saturating_mul(processors);
    let data = limits.memory.saturating_mul(2).saturating_add(DATA);
    let wanted = [
        (Resource::Core, 0, "core dumps: at most 0 bytes".to_owned()),
        (
            Resource::Fsize,
            limits.file_size,
            format!("file size: at most {} bytes in each file", limits.file_size),
        ),
        (
            Resource::Nofile,
            limits.open_files,
            format!("open files: at most {} in each process", limits.open_files),
        ),
        (Resource::Cpu, seconds, format!("processor: at most {seconds} s in each process")),
        (Resource::Data, data, format!("data: at most {data} bytes in each process")),
    ];
    wanted.into_iter().map(|(resource, most, words)| put_in_force(resource, most, words)).collect()
}

fn put_in_force(resource: Resource, most: u64, words: String) -> String {
    let before = getrlimit(resource).maximum;
    let most = before.map_or(most, |before| before.min(most));
    match setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) }) {
        Ok(()) => words,
        Err(error) => format!("{words}: not in force: {error}"),
    }
}

/// Room for what a program has before it does anything.
const DATA: u64 = 64 * 1024 * 1024;
