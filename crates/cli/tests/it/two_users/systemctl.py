"""What `systemctl enable --now demur` does with the unit, as far as it can be done without systemd: the state directory, the user,
no rights, and the wait for the server's own word that it is ready. The other limits of the unit are not put in force."""

import os
import pwd
import socket
import subprocess
import sys

UNIT = "/etc/systemd/system/demur.service"
NOTIFY = "/run/notify"


def settings():
    lines = (line.strip() for line in open(UNIT, encoding="utf-8"))
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def start(unit):
    user = pwd.getpwnam(unit["User"])
    state = os.path.join("/var/lib", unit["StateDirectory"])
    os.makedirs(state, exist_ok=True)
    os.chmod(state, int(unit["StateDirectoryMode"], 8))
    os.chown(state, user.pw_uid, user.pw_gid)
    heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    heard.bind(NOTIFY)
    os.chmod(NOTIFY, 0o622)
    heard.settimeout(60)
    os.umask(int(unit["UMask"], 8))
    become = ["setpriv", "--reuid", unit["User"], "--regid", unit["Group"], "--init-groups", "--no-new-privs"]
    rights = ["--bounding-set=-all", "--inh-caps=-all"]
    environment = {"HOME": user.pw_dir, "USER": unit["User"], "NOTIFY_SOCKET": NOTIFY, "PATH": "/usr/bin:/bin"}
    log = open("/var/log/demur.log", "ab")
    command = become + rights + unit["ExecStart"].split()
    subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd="/")
    assert unit["Type"] == "notify" and heard.recv(100).startswith(b"READY=1")


if sys.argv[1:] == ["enable", "--now", "demur"]:
    start(settings())
elif sys.argv[1:] != ["daemon-reload"]:
    sys.exit("systemctl: not known here: " + " ".join(sys.argv[1:]))
