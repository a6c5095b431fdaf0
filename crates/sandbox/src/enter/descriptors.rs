//! Files that were open before the tool: whoever called us may have left some open for every program it starts.

use std::fs;

/// Returns a sentence about files of others that stay open, if there are any. To close them by number is `unsafe`.
pub(super) fn inherited() -> Option<String> {
    let Ok(entries) = fs::read_dir("/proc/self/fdinfo") else {
        return Some("open files: it is not known which were open before".to_owned());
    };
    let names = entries.flatten().map(|entry| entry.path()).filter(|path| {
        // What has just been closed again cannot be read.
        fs::read_to_string(path).is_ok_and(|info| stays_open(&info))
    });
    let mut numbers: Vec<u32> = names
        .filter_map(|path| path.file_name()?.to_str()?.parse().ok())
        .filter(|number| *number > 2)
        .collect();
    numbers.sort_unstable();
    (!numbers.is_empty()).then(|| {
        let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
        format!("open files: not closed for the tool are descriptors {} of the caller", numbers.join(", "))
    })
}

/// Returns whether a file with this description stays open when a program is executed.
fn stays_open(info: &str) -> bool {
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    flags.is_none_or(|flags| flags & CLOSE_ON_EXEC == 0)
}

const CLOSE_ON_EXEC: u32 = 0o2_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_what_is_closed() {
        assert!(!stays_open("pos:\t0\nflags:\t02100000\nmnt_id:\t15\n"));
        assert!(stays_open("pos:\t0\nflags:\t0100002\n"));
        assert!(stays_open(""));
    }

    #[test]
    fn files_that_std_opens_are_closed() {
        let file = fs::File::open("/dev/null").unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&file);
        let words = inherited().unwrap_or_default();
        assert!(!words.split([' ', ',']).any(|word| word == number.to_string()), "{words}");
    }
}
