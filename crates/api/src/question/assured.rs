//! How sure an answer has to be, in words, and what gives that much.

use demur_ledger::facts::{AnswerKind, Assurance};

use super::QuestionView;

/// Returns who may answer a question that wants this much.
pub const fn needed(least: Assurance) -> &'static str {
    match least {
        Assurance::Agent => "anybody who may answer, agents too",
        Assurance::Relayed => "a person, through any program",
        Assurance::Terminal => "a person, through a process of the user who runs demur",
        Assurance::SignedIn => "a person who signed in with a passkey",
        Assurance::Passkey => "a person with a passkey",
    }
}

/// Returns what satisfies it: a command that works here, or the page.
pub fn way(question: &QuestionView) -> String {
    let id = question.id;
    // A secret that is typed after the command shows in the list of processes.
    let answer = if question.kinds.contains(&AnswerKind::Secret) { "-" } else { "ANSWER" };
    match question.assurance {
        Assurance::Agent | Assurance::Relayed | Assurance::Terminal => {
            format!("`demur answer {id} {answer}`")
        }
        // A session that a code of the terminal opened is worth no more than that.
        Assurance::SignedIn => {
            format!("sign in with a passkey, then /questions/{id}: `demur open` shows where")
        }
        Assurance::Passkey => {
            format!("sign the answer with a passkey at /questions/{id}: `demur open` shows where")
        }
    }
}
