# A machine that is thrown away: users, programs and state are made in copies that only this process and its children see.
# $1 is a folder with `tools`, `checkout` and `walk.sh`.
set -euo pipefail
work=$1
mount --make-rprivate /
mkdir "$work/bin" "$work/home" "$work/lib" "$work/log"
cp -a /etc "$work/etc"
mount --bind "$work/etc" /etc
mount --bind "$work/home" /home
mount --bind "$work/bin" /usr/local/bin
mount --bind "$work/lib" /var/lib
mount --bind "$work/log" /var/log
mount -t tmpfs none /run
chmod 755 "$work"/{bin,home,lib,log}
# Users of these names that this machine has are not there now.
sed -i -E '/^(demur|builder):/d' /etc/passwd /etc/shadow /etc/group /etc/gshadow
ip link set lo up
cd "$work/checkout"
export PATH="$work/tools:$PATH" HOME=/root
exec bash "$work/walk.sh"
