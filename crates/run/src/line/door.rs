//! What an agent may say because of its `hello`, whatever the ledger's rules allow: its own role, in its own run, with its
//! own key, and an opening as its files demand.

use demur_ledger::{
    content::Opening,
    event_type::{Content, EventType, Facts},
    facts::{RefusalCodeError, SessionInitialized},
    name::PrincipalId,
    statement::Statement,
};

use super::{Hello, Refused};

impl Hello {
    /// Returns why a statement is refused to the agent of this hello, if it is. `speaker` is who the registry says holds
    /// the key; strangers are for the ledger to refuse.
    pub fn refuse(
        &self,
        statement: &Statement,
        opening: Option<&Opening>,
        speaker: Option<PrincipalId>,
    ) -> Result<Option<Refused>, RefusalCodeError> {
        if (statement.trace, statement.role) != (self.trace, self.role) {
            let message = "expected a statement in the trace and the role of the hello, found another";
            return no("AGENT_SCOPE", "statement.trace", message, "say only what your role says in this run");
        }
        if speaker.is_some_and(|speaker| speaker != self.principal) {
            let message = "expected a signature with a key of the principal of the hello, found another's";
            return no("AGENT_SCOPE", "proof.key", message, "sign with your own key");
        }
        match &statement.facts {
            Facts::SessionInitialized(facts) => self.refuse_opening(facts, opening),
            _ => Ok(None),
        }
    }

    /// The run opens as its files say, whoever opens it.
    fn refuse_opening(
        &self,
        facts: &SessionInitialized,
        opening: Option<&Opening>,
    ) -> Result<Option<Refused>, RefusalCodeError> {
        if facts.participants != self.participants {
            let message = "expected the participants of the hello, found others";
            return no("OPENING_DIFFERS", "facts.participants", message, "open the run as the hello says");
        }
        // The desk records the policy of the hello beside the opening, and two policies are none.
        if facts.policy != self.policy {
            let message = "expected the policy of the hello, found another";
            return no("POLICY_MISMATCH", "facts.policy", message, "open the run as the hello says");
        }
        let content =
            opening.and_then(|words| Content::parse(EventType::SessionInitialized, &words.bytes).ok());
        let named = match &content {
            Some(Content::SessionInitialized(content)) => &content.constraints[..],
            _ => &[],
        };
        if self.constraints.iter().all(|line| named.contains(line)) {
            return Ok(None);
        }
        let message = "expected every constraint of the hello among those of the opening, found one missing";
        no("OPENING_DIFFERS", "content.constraints", message, "name the constraints of the hello")
    }
}

impl Refused {
    /// Returns a refusal.
    pub fn new(code: &str, field: &str, message: &str, cure: &str) -> Result<Self, RefusalCodeError> {
        let code = code.to_owned().try_into()?;
        Ok(Self { code, cure: cure.to_owned(), field: Some(field.to_owned()), message: message.to_owned() })
    }
}

fn no(code: &str, field: &str, message: &str, cure: &str) -> Result<Option<Refused>, RefusalCodeError> {
    Refused::new(code, field, message, cure).map(Some)
}
