#!/bin/bash
# What `sudo` does on the page: the same command as another user, with that user's variables and no others.
set -euo pipefail
user=root
if [[ ${1-} == -u ]]; then
  user=$2
  shift 2
fi
if [[ $user == root ]]; then
  exec "$@"
fi
home=$(getent passwd "$user" | cut -d: -f6)
cd /
exec setpriv --reuid "$user" --regid "$user" --init-groups env -i HOME="$home" USER="$user" LC_ALL=C.UTF-8 \
  PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin "$@"
