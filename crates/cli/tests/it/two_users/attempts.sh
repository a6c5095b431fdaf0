# What an agent tries, as its own user, against the server of another. `refused WHAT COMMAND...` fails unless the command does;
# `answers STATUS WHAT CURL-ARGUMENTS...` fails unless that is what HTTP says.
set -uo pipefail
server=$1 question=$2 foreign=$3
url=http://localhost:7373
failed=0

refused() {
  local what=$1
  shift
  if "$@" > /dev/null 2>&1; then
    echo "not refused: $what"
    failed=1
  fi
}

answers() {
  local wanted=$1 what=$2 found
  shift 2
  found=$(curl -s -o /dev/null -w '%{http_code}' "$@")
  if [[ ! $found =~ ^($wanted)$ ]]; then
    echo "$what: expected $wanted, found $found"
    failed=1
  fi
}

token=(-H @/home/builder/demur-header)
# Files.
refused 'the folder is listed' ls /var/lib/demur
for file in ledger.db ledger.db-wal secrets.db keys keys/derive.secret registry-head.json server.log socket lock; do
  refused "$file is looked at" stat "/var/lib/demur/$file"
  refused "$file is read" cat "/var/lib/demur/$file"
done
refused 'the folder is opened' chmod 755 /var/lib/demur
refused 'the folder is moved' mv /var/lib/demur /var/lib/other
refused 'a folder is put beside it' mkdir /var/lib/demur2
refused 'the program is replaced' cp /bin/true /usr/local/bin/demur
refused 'the unit is replaced' cp /dev/null /etc/systemd/system/demur.service
refused 'a command reads the record' demur --data /var/lib/demur trace list
refused 'a command makes a link' demur --data /var/lib/demur open --as ada --print
refused 'a command makes a token' demur --data /var/lib/demur token new eve --scope relay
refused 'a command answers' demur --data /var/lib/demur answer "$question" red
refused 'the store is restored over it' demur --data /var/lib/demur store rebuild
# The socket and the process.
refused 'the socket answers' curl -s --unix-socket /var/lib/demur/socket http://localhost/v1/server
refused 'the process is signalled' kill -0 "$server"
for part in environ mem maps fd cwd root; do
  refused "/proc/$part is read" cat "/proc/$server/$part/"
  refused "/proc/$part is read" head -c 1 "/proc/$server/$part"
done
refused 'another user is taken' setpriv --reuid demur --clear-groups true
# The port, at each address that browsers and programs may try.
for address in 127.0.0.1 0.0.0.0 ::1 ::; do
  refused "the port is taken at $address" python3 -c '
import socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
listener = socket.socket(family)
if family == socket.AF_INET6:
    listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
listener.bind((sys.argv[1], 7373))
listener.listen()' "$address"
done
# A person's word.
answers 401 'without a token' "$url/v1/questions"
answers 403 'a token that asks answers' "${token[@]}" -X PUT --json '{"answer":"red"}' "$url/v1/questions/$question/answer"
answers 403 'it answers as a relay' "${token[@]}" -H 'Demur-Relay: claude' --json '{"answer":"red","by":"ada"}' \
  "$url/v1/questions/$question/answer"
# A passkey: to be added, vouched for, removed and reset, and answers signed with one.
refused 'a command makes a setup code' demur --data /var/lib/demur passkey code
refused 'a command ends passkeys' demur --data /var/lib/demur passkey reset "$(printf '0%.0s' {1..64})" --recovery /home/builder/demur-header
answers 403 'a token makes a setup code' "${token[@]}" -X POST "$url/v1/passkeys/setup-code"
answers 403 'a token adds a passkey' "${token[@]}" --json '{"algorithm":-7,"authenticator":"AA","credential":"AA","label":"x","public_key":"AA"}' \
  "$url/v1/passkeys"
for act in '"answer","question":"'"$question"'","answer":"red"' '"add_person","name":"eve","role":"operator"' \
  '"remove_person","name":"ada"' '"add_passkey","key":"'"$(printf '0%.0s' {1..64})"'"'; do
  answers 403 "a token prepares a touch: $act" "${token[@]}" --json "{\"acts\":[{\"act\":$act}]}" "$url/v1/touches"
  answers 401 "nobody prepares a touch: $act" --json "{\"acts\":[{\"act\":$act}]}" "$url/v1/touches"
done
answers '4..' 'it signs in from no page' --json '{"name":"ada"}' "$url/sign-in/passkey"
answers 401 'a name of the machine' -H 'X-Forwarded-For: 127.0.0.1' -H 'X-Forwarded-User: ada' "$url/v1/questions"
answers 401 'a session that is guessed' -b 'demur_session_7373=0123456789abcdef' "$url/v1/questions"
answers '4..' 'a link that is guessed' --data 'code=0000000000000000000000000000000000000000000000000000000000000000' "$url/sign-in"
answers '4..' 'an answer by form' -b 'demur_session_7373=0' --data 'act=answer&text=red' "$url/questions/$question/answer"
answers 403 'it makes a person' "${token[@]}" --json '{"name":"eve","role":"operator"}' "$url/v1/people"
answers 403 'it makes a token' "${token[@]}" --json '{"name":"eve","scopes":["relay"]}' "$url/v1/tokens"
answers 403 'it makes a link' "${token[@]}" --json '{"person":"ada"}' "$url/v1/sign-in"
answers 403 'it ends the server' "${token[@]}" -X POST "$url/v1/server/stop"
answers '403|404' "it reads somebody else's question" "${token[@]}" "$url/v1/questions/$foreign"
answers '400|403|404|421' 'under another name' "${token[@]}" -H 'Host: evil.example' "$url/v1/questions"
# The token stays its own.
refused 'the token shows in a process' grep -laE 'demur_[a-z0-9]+_' /proc/[0-9]*/cmdline
exit $failed
