//! The longer texts of `demur serve`, `demur status`, `demur stop`, `demur doctor`, `demur open`, `demur people` and
//! `demur token`.

pub(in crate::arguments) const MCP_ABOUT: &str = "\
Serve an MCP client on standard input and output: its agent asks people instead of guessing. A thin bridge to the local \
server, which it starts if none runs and waits for when it restarts. What the client's own user answers is recorded as \
relayed by that client; everybody else answers as always, and the first answer counts.";

pub(in crate::arguments) const MCP_EXAMPLES: &str = "\
Examples:
  demur mcp
  demur mcp --tools wwa,session
  demur mcp --era 2025 --wait 24h    for a client that waits long and takes forms back
  claude mcp add demur -- demur mcp

`demur --help` lists the exit codes. Over HTTP the same tools are at /mcp of `demur serve`, with a token.";

pub(in crate::arguments) const SERVE_ABOUT: &str = "\
Serve the data folder: over a Unix socket in it for the commands of this user, and over TCP on this machine for whoever \
has a token. The commands that need a server start one themselves, which ends when nothing is open and nobody calls; \
this one stays until it is told to end.

Pages are at demur.localhost, a name that browsers lead to this machine by themselves: their cookie goes to nothing else that \
runs at localhost. Programs use localhost or 127.0.0.1. A data folder keeps its port; where another program has it, the socket \
works, and everything over TCP waits until it is free.

Browsers elsewhere need a proxy in front that speaks TLS. --public-url declares the address under which they reach it: \
the server then answers to that name only, and codes and cookies go by it. The proxy has to pass the Host header on. What it says in \
X-Forwarded-For counts if --trusted-proxy names its address; without that, everybody behind it counts as one where attempts to sign \
in are limited.

--page-host, --session-idle and --session-timeout can also stand in settings.json of the data folder, for servers that commands \
start: page_host, session_idle_seconds, session_seconds.

Connections, tokens and people are limited, and so is how much of everything one token has: open questions, questions \
and bytes in an hour, connections, sessions, requests that wait. What goes beyond is refused with QUOTA_EXCEEDED, and \
others are served meanwhile. Quotas can stand in settings.json of the data folder, too, under `quotas`. `demur doctor` shows the limits of the server that runs. A limit that is \
lower than before takes nothing away: it only lets nobody new in. A server that a command starts has the defaults.

Plans are held against the rules that `demur rules use` keeps in the data folder, or against those of --rules.";

pub(in crate::arguments) const SERVE_EXAMPLES: &str = "\
Examples:
  demur serve
  demur serve --port 8080 --rules rules/travel
  demur serve --rules rules/travel --only
  demur serve --public-url https://demur.example
  demur serve --listen 0.0.0.0:8080 --public-url https://demur.example --trusted-proxy 10.0.0.5
  demur serve --page-host localhost
  demur serve --session-idle 15m --session-timeout 8h
  demur serve --max-connections 8000 --max-people 50

`demur --help` lists the exit codes. DEMUR_LOG=debug makes the log say more.";

pub(in crate::arguments) const SERVER_STATUS_ABOUT: &str = "\
Say which server runs for the data folder: its version, its process, its address, how many questions are open.";

pub(in crate::arguments) const SERVER_STATUS_EXAMPLES: &str = "\
Examples:
  demur status
  demur status --json | jq -r .address

`demur --help` lists the exit codes; 3 if no server runs.";

pub(in crate::arguments) const OPEN_ABOUT: &str = "\
Sign a browser in. A browser here is given a file that only you can read, and the file sends the code: no command line and no address \
ever has it. --print shows an address and a code to type there instead, for a browser elsewhere. With --as it is for somebody who \
was added with `demur people add`: hand it to nobody else.

The code is good for five minutes and for one sign-in; the file is removed when it was used or is too old. A browser is signed out \
when nobody used it for an hour, and after twelve hours in any case (`demur serve --help`). `demur people sessions` shows the \
browsers that are signed in, and ends their sessions.";

pub(in crate::arguments) const OPEN_EXAMPLES: &str = "\
Examples:
  demur open
  demur open --print
  demur open --as zoe --print

`demur --help` lists the exit codes.";

pub(in crate::arguments) const PEOPLE_ABOUT: &str = "\
Add, list and remove the people who may sign in with a browser. You, who run demur here, are an operator without \
being added.

  operator  sees and answers, reads every trace, calls questions off; with `demur serve
            --public-url` also looks after people, sessions and tokens from a browser
  answerer  sees and answers, reads every trace
  auditor   reads everything, changes nothing";

pub(in crate::arguments) const PEOPLE_EXAMPLES: &str = "\
Examples:
  demur people add zoe --role answerer
  demur open --as zoe --print
  demur people list
  demur people sessions
  demur people remove zoe

`demur --help` lists the exit codes.";

pub(in crate::arguments) const PEOPLE_ADD_ABOUT: &str = "\
Let somebody sign in with a browser. What this one does is recorded under the name, and reads \
\"same user\": a code is made by a process of the user who runs demur, and a session is worth no more than what made it. A name is one person's only, and no key's. To change a role, remove and add again.";

pub(in crate::arguments) const PEOPLE_ADD_EXAMPLES: &str = "\
Examples:
  demur people add zoe --role answerer
  demur people add \"Ines (audit)\" --role auditor

`demur --help` lists the exit codes.";

pub(in crate::arguments) const PEOPLE_LIST_EXAMPLES: &str = "\
Examples:
  demur people list
  demur people list --json | jq -r '.people[].name'

`demur --help` lists the exit codes.";

pub(in crate::arguments) const PEOPLE_REMOVE_ABOUT: &str = "\
Let somebody sign in no longer. Sessions end at once, codes that were not used are good for nothing. What this one \
did stays on record.";

pub(in crate::arguments) const PEOPLE_REMOVE_EXAMPLES: &str = "\
Examples:
  demur people remove zoe

`demur --help` lists the exit codes; 2 if nobody has that name.";

pub(in crate::arguments) const PEOPLE_SESSIONS_ABOUT: &str = "\
List the browsers that are signed in: since when, when they were used last, when they end, and what each calls itself. That and the \
address are a browser's own word: whoever takes a cookie can say the same. --end signs one out, --end-all all of them, with --of those \
of one person. It holds at once.";

pub(in crate::arguments) const PEOPLE_SESSIONS_EXAMPLES: &str = "\
Examples:
  demur people sessions
  demur people sessions --of zoe
  demur people sessions --end-all --of zoe

`demur --help` lists the exit codes; 2 if no session has that id.";

pub(in crate::arguments) const STOP_ABOUT: &str = "\
End the server of the data folder in good order. Nothing that is open is lost, and whoever waits for an answer starts \
the server again.

A server that has not ended after the timeout is left alone, and its process is named. With --force it is killed then. \
That loses nothing: what the server has confirmed is on the disk.";

pub(in crate::arguments) const STOP_EXAMPLES: &str = "\
Examples:
  demur stop
  demur stop --timeout 1m
  demur stop --timeout 2s --force

`demur --help` lists the exit codes; 3 if no server runs, or if it has not ended in time.";

pub(in crate::arguments) const DOCTOR_ABOUT: &str = "\
Check that everything is in order: the data folder and who can read it, the keys, the record, the clock, the \
room on the disk, the server and its port, the limits of tools. Nothing of yours is started, changed or repaired; what to \
do about a problem stands below it.";

pub(in crate::arguments) const DOCTOR_EXAMPLES: &str = "\
Examples:
  demur doctor
  demur doctor --port 8080                  can `demur serve --port 8080` have it?
  demur doctor --json | jq '.checks[] | select(.state != \"ok\")'

Exit codes: 0 if all is well, also with warnings; 3 if there is a problem. `demur --help` lists the others.";

pub(in crate::arguments) const TOKEN_ABOUT: &str = "\
Make, list and take back the tokens with which programs that are not on this machine, or that speak TCP, ask and \
answer. On this machine the Unix socket needs none.

  ask      ask, submit plans, and see what came of both
  answer   see questions put to its key and answer them: as an agent, never as a person
  relay    pass on what people said: those of --for about any question, others about its own
  read     read every trace, follow the feed, verify files
  metrics  read the counters";

pub(in crate::arguments) const TOKEN_EXAMPLES: &str = "\
Examples:
  demur token new builder --scope ask
  demur token list
  demur token revoke 0123456789abcdef

`demur --help` lists the exit codes.";

pub(in crate::arguments) const TOKEN_NEW_ABOUT: &str = "\
Make a token and print it, once: nothing keeps it. A token that asks or answers speaks as the holder of its name, with \
the key of that name, which this data folder keeps and signs with. The key is made where there is none. Where there is \
one of the same role, as after `demur keys new builder --role agent`, the token is another way in for its holder. A name \
that has a key of another role, or that a person has, is refused, and so is one that looks like another.

A token with the scope relay says whose words it passes on. --for names a person, who need not be able to sign in: \
questions that people may answer are seen and answered in that one's name only, whoever asked. --for-anyone is for a \
client that shows its own user what it asks: it takes whatever name comes, sees what its own program asked and nothing \
else, and what it passes on counts as `relayed` at most.";

pub(in crate::arguments) const TOKEN_NEW_EXAMPLES: &str = "\
Examples:
  token=$(demur token new builder --scope ask --expires 30d)
  demur token new slack --scope relay --for ada --for ben
  demur token new claude --scope ask --scope relay --for-anyone
  demur token new auditor --scope read

`demur --help` lists the exit codes.";

pub(in crate::arguments) const TOKEN_LIST_EXAMPLES: &str = "\
Examples:
  demur token list
  demur token list --json | jq '.tokens[].name'

`demur --help` lists the exit codes.";

pub(in crate::arguments) const TOKEN_REVOKE_EXAMPLES: &str = "\
Examples:
  demur token revoke 0123456789abcdef

`demur --help` lists the exit codes.";
