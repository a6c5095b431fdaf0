//! The longer texts of `demur ask`, `demur wait`, `demur inbox` and what is done about one question.

pub(in crate::arguments) const ASK_ABOUT: &str = "\
Ask a question and wait for the answer, which is printed alone on standard output. Whoever answers does so with \
`demur inbox` or `demur answer`, or through any other way in. The question and the answer are signed and recorded; the \
first answer counts, and only the first.

The id of the question is printed on standard error. The question outlives this command: if it is stopped, the question \
stays open. `demur wait ID` goes on waiting, `demur cancel ID` withdraws it. A server is started if none runs.

With --secret the answer is printed here and recorded nowhere: the record holds a salted commitment to it only.";

pub(in crate::arguments) const ASK_EXAMPLES: &str = "\
Examples:
  name=$(demur ask \"What shall the project be called?\")
  demur ask \"Deploy to production?\" --kind yes-no --timeout 10m --default no
  demur ask \"Which database?\" --choice pg=PostgreSQL --choice sqlite=SQLite --field storage.engine
  password=$(demur ask \"Password of the staging database?\" --secret)
  id=$(demur ask \"How many seats?\" --kind number --no-wait); demur show \"$id\"

Exit codes: 0 answered; 10 declined; 11 cancelled; 12 nobody answered in time; 13 the same, and the default is printed.
`demur --help` lists all exit codes.";

pub(in crate::arguments) const WAIT_ABOUT: &str = "\
Wait for a question that was asked before, and print its answer alone on standard output, as `demur ask` does. It goes on \
waiting when the server is restarted or killed. A secret is printed once; after that it is kept nowhere.

With several questions it waits for all of them and prints one line for each, in the order given. A line feed in an answer \
shows as \\n there, a question without an answer is an empty line, and the exit code is that of the first question without \
an answer. With --any it waits for the first that is settled.

If it is stopped, the questions stay open.";

pub(in crate::arguments) const WAIT_EXAMPLES: &str = "\
Examples:
  id=$(demur ask \"Which colour?\" --no-wait); colour=$(demur wait \"$id\")
  demur wait 01ARZ3NDEKTSV4RRFFQ69G5FAV.0 01BX5ZZKBKACTAV9WEVGEMMVRZ.0
  demur wait --any 01ARZ3NDEKTSV4RRFFQ69G5FAV.0 01BX5ZZKBKACTAV9WEVGEMMVRZ.0 --json | jq -r .question.id

Exit codes: 0 answered; 10 declined; 11 cancelled; 12 nobody answered in time; 13 the same, and the default is printed.
`demur --help` lists all exit codes.";

pub(in crate::arguments) const INBOX_ABOUT: &str = "\
Show what waits for an answer, and answer it. New questions show as they are asked; nothing is ever printed over what \
you are typing, and a number once given to a question stays its number. At the prompt `3` shows question 3, `3 blue` answers \
it, and `?` says what else can be typed.

With --list, or where there is no terminal, the questions are printed, and that is all. With --all those that are \
settled are printed too, with what became of them. A number is good in every command of this data folder that takes a \
question, in any terminal, and never means another question.";

pub(in crate::arguments) const INBOX_EXAMPLES: &str = "\
Examples:
  demur inbox
  demur inbox --list
  demur inbox --list --all
  demur inbox --list --json | jq '.questions[].question'
  DEMUR_PLAIN=1 demur inbox     without colour and without lines that come by themselves

`demur --help` lists the exit codes.";

pub(in crate::arguments) const SHOW_QUESTION_ABOUT: &str = "\
Show a question: who asks, why, what waits for it, what fits as an answer, until when, and what became of it.";

pub(in crate::arguments) const SHOW_QUESTION_EXAMPLES: &str = "\
Examples:
  demur show 1
  demur show last
  demur show 01ARZ3NDEKTSV4RRFFQ69G5FAV.0 --json | jq .outcome

`demur --help` lists the exit codes.";

pub(in crate::arguments) const ANSWER_ABOUT: &str = "\
Answer a question. The first answer of somebody who may answer counts; whoever comes later hears who was first, when \
and how. The same answer again changes nothing.

A choice is named by its value, its label or its number. With `-` the answer is read from standard input. A \
secret is never typed into the command, where the list of processes shows it: `-` asks for it unseen, or reads a pipe.

`--replace` puts the answer in the place of one that you gave, `--revoke` takes yours back. The record keeps both. An answer \
is changed by whoever gave it, through a way in that is no less sure: one that was given on a page, on a page. What was \
done on the first answer is named by `demur show` and `demur verify`.";

pub(in crate::arguments) const ANSWER_EXAMPLES: &str = "\
Examples:
  demur answer 1 \"the blue one\"
  demur answer last yes --note \"agreed with Ada\"
  demur answer 01ARZ3NDEKTSV4RRFFQ69G5FAV.3 --accept
  demur answer 1 \"the red one\" --replace
  demur answer 1 --revoke --reason \"asked the wrong team\"
  pass show staging | demur answer 3 -

`demur --help` lists the exit codes.";

pub(in crate::arguments) const DECLINE_ABOUT: &str = "\
Say that you will not answer, and why. What waits for the answer goes on waiting: declining is no answer.";

pub(in crate::arguments) const DECLINE_EXAMPLES: &str = "\
Examples:
  demur decline 1 --reason \"not mine to decide\"

`demur --help` lists the exit codes.";

pub(in crate::arguments) const EXTEND_ABOUT: &str = "\
Give a question more time. The time is added to the deadline it has; a question without a deadline needs none.";

pub(in crate::arguments) const EXTEND_EXAMPLES: &str = "\
Examples:
  demur extend 1 30m
  demur extend last 1d --reason \"waiting for legal\"

`demur --help` lists the exit codes.";

pub(in crate::arguments) const PASS_ABOUT: &str = "\
Hand a question to somebody who can answer it: to holders of keys by name, to people, or to both. No other key can \
answer it from then on. A person is named as `demur people list` shows the name, or as the user of this machine; every \
person who can sign in may then answer.";

pub(in crate::arguments) const PASS_EXAMPLES: &str = "\
Examples:
  demur pass 1 --to finn
  demur pass last --people --reason \"ask the owner\"

`demur --help` lists the exit codes.";

pub(in crate::arguments) const CANCEL_ABOUT: &str = "\
Say, for whoever asked, that no answer is needed any more. What waited for it may go on.";

pub(in crate::arguments) const CANCEL_EXAMPLES: &str = "\
Examples:
  demur cancel last --reason \"found it in the docs\"

`demur --help` lists the exit codes.";

pub(in crate::arguments) const WATCH_ABOUT: &str = "\
Print every event as it is recorded, one line each. A connection that breaks is made again, and nothing is missed.";

pub(in crate::arguments) const WATCH_EXAMPLES: &str = "\
Examples:
  demur watch
  demur watch --after 0 --json | jq -r .type

`demur --help` lists the exit codes.";
