//! A program inside the sandbox that tries, one by one, what it must not do, and says what came of each attempt.

use std::{fs, net::UdpSocket, os::unix::fs::PermissionsExt as _, os::unix::net::UnixListener};

use demur_sandbox::ToolEnding;

use super::{Bench, text};

/// What every attempt has at hand. An attempt that the kernel refused prints its name; one that it let happen prints `DONE` before.
const BEGIN: &str = r"
import ctypes, errno, os, platform, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
intel = platform.machine() == 'x86_64'
def tried(name, attempt, refusal=errno.EPERM):
    try:
        done = attempt()
    except OSError as error:
        expected = refusal if isinstance(refusal, tuple) else (refusal,)
        print(name if error.errno in expected else f'{name}: {error}')
    except ValueError as error:
        print(f'{name}: {error}')
    else:
        print(f'DONE {name}: {done}')
def call(number, *arguments):
    ctypes.set_errno(0)
    wide = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    if libc.syscall(ctypes.c_long(number), *wide) == -1:
        raise OSError(ctypes.get_errno(), 'refused')
    return 'let through'
def number(on_intel, elsewhere):
    return on_intel if intel else elsewhere
room = ctypes.create_string_buffer(4096)
own, above = os.getpid(), os.getppid()
";

/// Returns the names of attempts that these lines make, in order.
fn names(script: &str) -> Vec<&str> {
    script.lines().filter_map(|line| line.strip_prefix("tried('")?.split('\'').next()).collect()
}

/// Returns what the attempts of a script print, each of which must be refused.
fn expect_refused(bench: &Bench, script: &str, change: impl FnOnce(&mut demur_sandbox::Request)) {
    let mut request = bench.python(&format!("{BEGIN}{script}"));
    change(&mut request);
    let outcome = bench.run(&request);
    assert_eq!(outcome.ending, ToolEnding::Exit(0), "{}", text(&outcome.stderr));
    let expected = names(script);
    assert!(!expected.is_empty());
    assert_eq!(text(&outcome.stdout).lines().collect::<Vec<_>>(), expected);
}

/// ONE-14
#[test]
fn tool_opens_no_socket_of_any_kind() {
    expect_refused(
        &Bench::new(),
        r"
tried('unix stream', lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
tried('unix datagrams', lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
tried('unix packets', lambda: socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC))
tried('TCP', lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM))
tried('TCP over IPv6', lambda: socket.socket(socket.AF_INET6, socket.SOCK_STREAM))
tried('UDP', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
tried('UDP over IPv6', lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM))
tried('ping', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP))
tried('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
tried('packets', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
tried('netlink', lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
tried('crypto', lambda: socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET))
tried('machines', lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM))
tried('pair of datagram sockets', lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
tried('io_uring', lambda: call(425, 8, room))
tried('io_uring, entered', lambda: call(426, 0, 0, 0, 0, 0))
tried('io_uring, registered', lambda: call(427, 0, 0, 0, 0))
",
        |_| (),
    );
}

/// ONE-14: what `udp = true` opens is UDP, and names from the files of the system.
#[test]
fn tool_that_may_use_udp_uses_nothing_else() {
    let bench = Bench::new();
    let listener = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut request = bench.python(&format!(
        "import socket\n\
         socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'sent', ('127.0.0.1', {}))\n\
         socket.socket(socket.AF_INET6, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK, socket.IPPROTO_UDP)\n\
         print(socket.getaddrinfo('localhost', 80, socket.AF_INET)[0][4])",
        listener.local_addr().unwrap().port()
    ));
    request.policy.udp = true;
    let outcome = bench.run(&request);
    assert_eq!(text(&outcome.stdout), "('127.0.0.1', 80)\n", "{}", text(&outcome.stderr));
    let mut bytes = [0; 8];
    assert_eq!(listener.recv(&mut bytes).unwrap(), 4);
    assert!(outcome.limits.iter().any(|words| words.contains("UDP") && words.contains("the policy allows")));
    expect_refused(
        &bench,
        r"
tried('unix stream', lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
tried('unix datagrams', lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
tried('TCP', lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM))
tried('TCP over several paths', lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262))
tried('TCP over IPv6', lambda: socket.socket(socket.AF_INET6, socket.SOCK_STREAM | socket.SOCK_CLOEXEC))
tried('ping', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP))
tried('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
tried('netlink', lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM))
tried('packets', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM))
",
        |request| request.policy.udp = true,
    );
}

/// Attempts to change a file outside of the folder, by `kept` and by `there`, a descriptor that was opened for nothing.
const ATTRIBUTES: &str = r"
there = os.open(kept, os.O_PATH)
here = os.open('here', os.O_CREAT | os.O_RDWR)
tried('chmod', lambda: os.chmod(kept, 0o777))
tried('chmod in the folder', lambda: os.chmod('here', 0o777))
tried('chmod by descriptor path', lambda: os.chmod(f'/proc/self/fd/{there}', 0o777))
tried('fchmodat', lambda: os.chmod('kept', 0o777, dir_fd=os.open(os.path.dirname(kept), os.O_PATH)))
tried('fchmodat2', lambda: call(452, there, b'', 0o777, 0x1000))
tried('chown', lambda: os.chown(kept, os.getuid(), os.getgid()))
tried('lchown', lambda: os.lchown(kept, os.getuid(), os.getgid()))
tried('fchownat without a path', lambda: call(number(260, 54), there, b'', os.getuid(), os.getgid(), 0x1000))
tried('utimensat', lambda: os.utime(kept, (1, 1)))
tried('utimensat without a path', lambda: call(number(280, 88), there, b'', None, 0x1000))
tried('setxattr', lambda: os.setxattr(kept, 'user.demur', b'x'))
tried('lsetxattr', lambda: os.setxattr(kept, 'user.demur', b'x', follow_symlinks=False))
tried('access list', lambda: os.setxattr(kept, 'system.posix_acl_access', b'x'))
tried('setxattrat', lambda: call(463, there, b'', 0x1000, b'user.demur', room, 16))
tried('removexattr', lambda: os.removexattr(kept, 'user.demur'))
tried('file_setattr', lambda: call(469, there, b'', room, 24, 0x1000))
";

/// ONE-14: modes, owners, times and attributes change by path only under `chmod = true`; those of an open file always.
#[test]
fn tool_changes_no_attributes_by_path() {
    let (bench, other) = (Bench::new(), Bench::new());
    let kept = other.path("kept");
    fs::write(&kept, "as it was").unwrap();
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o600)).unwrap();
    let before = fs::metadata(&kept).unwrap();
    expect_refused(&bench, &format!("kept = {kept:?}{ATTRIBUTES}"), |_| ());
    let after = fs::metadata(&kept).unwrap();
    assert_eq!(after.permissions().mode() & 0o777, 0o600);
    assert_eq!(after.modified().unwrap(), before.modified().unwrap());
    let open = "import os\n\
                file = os.open('mine', os.O_CREAT | os.O_RDWR)\n\
                os.fchmod(file, 0o754); os.fchown(file, os.getuid(), os.getgid()); os.utime(file, (7, 7))\n\
                print(oct(os.fstat(file).st_mode & 0o777), os.fstat(file).st_mtime)";
    assert_eq!(text(&bench.run(&bench.python(open)).stdout), "0o754 7.0\n");
    let mut request = bench.python("import os; os.chmod('mine', 0o711); os.utime('mine', (9, 9))");
    request.policy.chmod = true;
    let outcome = bench.run(&request);
    assert_eq!(outcome.ending, ToolEnding::Exit(0), "{}", text(&outcome.stderr));
    assert_eq!(fs::metadata(bench.path("mine")).unwrap().permissions().mode() & 0o777, 0o711);
    assert!(outcome.limits.iter().any(|words| words.contains("by their path, which the policy allows")));
}

/// ONE-14
#[test]
fn tool_shares_no_memory_and_no_messages_by_number_or_name() {
    expect_refused(
        &Bench::new(),
        r"
tried('shmget', lambda: call(number(29, 194), 0, 4096, 0o1600))
tried('shmat', lambda: call(number(30, 196), 0, 0, 0))
tried('shmctl', lambda: call(number(31, 195), 0, 0, room))
tried('semget', lambda: call(number(64, 190), 0, 1, 0o1600))
tried('semop', lambda: call(number(65, 193), 0, room, 1))
tried('semctl', lambda: call(number(66, 191), 0, 0, 0, 0))
tried('semtimedop', lambda: call(number(220, 192), 0, room, 1, 0))
tried('msgget', lambda: call(number(68, 186), 0, 0o1600))
tried('msgsnd', lambda: call(number(69, 189), 0, room, 1, 0))
tried('msgrcv', lambda: call(number(70, 188), 0, room, 1, 0, 0))
tried('msgctl', lambda: call(number(71, 187), 0, 0, room))
tried('mq_open', lambda: call(number(240, 180), b'demur', 0o102, 0o600, 0))
tried('mq_unlink', lambda: call(number(241, 181), b'demur'))
tried('shm_open', lambda: os.open('/dev/shm/demur', os.O_CREAT | os.O_RDWR), errno.EACCES)
",
        |_| (),
    );
}

/// ONE-14
#[test]
fn tool_makes_no_namespaces_and_no_mounts() {
    expect_refused(
        &Bench::new(),
        r"
tried('user namespace', lambda: call(number(272, 97), 0x10000000))
tried('mounts of its own', lambda: call(number(272, 97), 0x00020000))
tried('network of its own', lambda: call(number(272, 97), 0x40000000))
tried('processes of its own', lambda: call(number(272, 97), 0x20000000))
tried('names of its own', lambda: call(number(272, 97), 0x04000000))
tried('memory of its own', lambda: call(number(272, 97), 0x08000000))
tried('groups of its own', lambda: call(number(272, 97), 0x02000000))
tried('time of its own', lambda: call(number(272, 97), 0x80))
tried('clone into a user namespace', lambda: call(number(56, 220), 0x10000000 | 17, 0, 0, 0, 0))
tried('clone3', lambda: call(435, room, 88), errno.ENOSYS)
tried('setns', lambda: call(number(308, 268), 0, 0))
tried('mount', lambda: call(number(165, 40), b'none', b'.', b'tmpfs', 0, 0))
tried('umount', lambda: call(number(166, 39), b'/proc', 2))
tried('pivot_root', lambda: call(number(155, 41), b'.', b'.'))
tried('chroot', lambda: call(number(161, 51), b'.'))
tried('open_tree', lambda: call(428, -100, b'.', 1))
tried('move_mount', lambda: call(429, -100, b'.', -100, b'.', 0))
tried('fsopen', lambda: call(430, b'tmpfs', 0))
tried('fsconfig', lambda: call(431, 0, 0, 0, 0, 0))
tried('fsmount', lambda: call(432, 0, 0, 0))
tried('fspick', lambda: call(433, -100, b'.', 0))
tried('mount_setattr', lambda: call(442, -100, b'.', 0, room, 32))
tried('open_by_handle_at', lambda: call(number(304, 265), -100, room, 0))
",
        |_| (),
    );
}

/// ONE-14
#[test]
fn tool_reaches_into_no_process_and_not_into_the_kernel() {
    expect_refused(
        &Bench::new(),
        r"
tried('ptrace', lambda: call(number(101, 117), 16, above, 0, 0))
tried('ptrace of itself', lambda: call(number(101, 117), 0, 0, 0, 0))
tried('process_vm_readv', lambda: call(number(310, 270), above, room, 1, room, 1, 0))
tried('process_vm_writev', lambda: call(number(311, 271), above, room, 1, room, 1, 0))
tried('process_madvise', lambda: call(440, 0, room, 1, 21, 0))
tried('pidfd_getfd', lambda: call(438, os.pidfd_open(above), 0, 0))
tried('kcmp', lambda: call(number(312, 272), own, above, 0, 0, 0))
tried('add_key', lambda: call(number(248, 217), b'user', b'demur', b'x', 1, -4))
tried('request_key', lambda: call(number(249, 218), b'user', b'demur', 0, -4))
tried('keyctl', lambda: call(number(250, 219), 0, -4, 1))
tried('bpf', lambda: call(number(321, 280), 0, room, 48))
tried('perf_event_open', lambda: call(number(298, 241), room, 0, -1, -1, 0))
tried('userfaultfd', lambda: call(number(323, 282), 1))
tried('inotify', lambda: call(number(294, 26), 0))
tried('watch of a file', lambda: call(number(254, 27), 0, b'/', 0xfff))
tried('fanotify', lambda: call(number(300, 262), 0x200, 0))
tried('watch of a file system', lambda: call(number(301, 263), 0, 1, 0xfff, -100, b'/'))
tried('limits of another process', lambda: call(number(302, 261), above, 7, room, 0))
tried('memory of another process', lambda: open(f'/proc/{above}/mem', 'rb'), errno.EACCES)
tried('environment of another process', lambda: open(f'/proc/{above}/environ', 'rb').read(), errno.EACCES)
tried('files of another process', lambda: os.readlink(f'/proc/{above}/fd/0'), errno.EACCES)
tried('folder of another process', lambda: os.readlink(f'/proc/{above}/cwd'), errno.EACCES)
",
        |_| (),
    );
}

/// ONE-14: on x86-64 every call has a second number, and some a third.
#[cfg(target_arch = "x86_64")]
#[test]
fn tool_is_refused_under_the_numbers_for_short_pointers() {
    expect_refused(
        &Bench::new(),
        r"
short = 0x40000000
tried('socket', lambda: call(41 | short, 1, 1, 0))
tried('chmod', lambda: call(90 | short, b'.', 0o700))
tried('fchmodat2', lambda: call(452 | short, -100, b'.', 0o700, 0))
tried('unshare', lambda: call(272 | short, 0x10000000))
tried('shmget', lambda: call(29 | short, 0, 4096, 0o1600))
tried('ptrace', lambda: call(521 | short, 0, 0, 0, 0))
tried('process_vm_readv', lambda: call(539 | short, above, room, 1, room, 1, 0))
tried('move_pages', lambda: call(533 | short, above, 0, None, None, None, 0))
tried('keyctl', lambda: call(250 | short, 0, -4, 1))
tried('clone3', lambda: call(435 | short, room, 88), errno.ENOSYS)
",
        |_| (),
    );
}

/// ONE-14: a folder like demur's, with a socket and a key in it, whose path the tool was told.
#[test]
fn tool_that_knows_the_data_folder_gets_nothing_out_of_it() {
    let (bench, data) = (Bench::new(), Bench::new());
    let _listener = UnixListener::bind(data.path("socket")).unwrap();
    fs::create_dir(data.path("keys")).unwrap();
    fs::write(data.path("keys/desk.key"), "secret").unwrap();
    fs::write(data.path("ledger.db"), "record").unwrap();
    let script = format!(
        "data = {:?}{}",
        data.folder.path(),
        r"
def knock():
    knocking = socket.socketpair()[0]
    knocking.connect(data + '/socket')
tried('list', lambda: os.listdir(data), errno.EACCES)
tried('key', lambda: open(data + '/keys/desk.key').read(), errno.EACCES)
tried('record', lambda: open(data + '/ledger.db', 'r+').write('x'), errno.EACCES)
tried('record, cut off', lambda: os.truncate(data + '/ledger.db', 0), (errno.EACCES, errno.EPERM))
tried('record, removed', lambda: os.remove(data + '/ledger.db'), errno.EACCES)
tried('record, taken', lambda: os.rename(data + '/ledger.db', 'mine'), errno.EACCES)
tried('record, linked', lambda: os.link(data + '/ledger.db', 'mine'), errno.EXDEV)
tried('record, opened for all', lambda: os.chmod(data + '/ledger.db', 0o666))
tried('more', lambda: os.mkdir(data + '/more'), errno.EACCES)
tried('socket', lambda: socket.socket(socket.AF_UNIX).connect(data + '/socket'))
tried('socket, by a pair', knock, errno.EISCONN)
"
    );
    expect_refused(&bench, &script, |_| ());
    assert_eq!(fs::read_to_string(data.path("ledger.db")).unwrap(), "record");
}
