//! What a verification of identity messages says, as people read it.

use demur_clarify::{
    identity::{Anchor, IdentityVerification},
    name::AgentId,
};

use crate::output::{Paint, Reply};

impl Reply for IdentityVerification {
    fn lines(&self, paint: Paint) -> Vec<String> {
        if let Some(problem) = &self.problem {
            let (number, count) = (problem.message, self.messages.len());
            return vec![
                format!("{} message {number} of {count}, {}", paint.bad("Does not hold:"), problem.place),
                format!("  reason   {}", problem.reason.as_str()),
                format!("  problem  {}", problem.what),
            ];
        }
        let mut lines = vec![headline(self, paint)];
        let mut row = |label: &str, value: &str| lines.push(format!("  {label:<9}{value}"));
        match self.status {
            Some(standing) => row("status", &format!("{} at {}", standing.as_str(), self.at)),
            None => row("status", "not known: only signatures were checked; --identity FILE says more"),
        }
        if let Some(time) = self.old_key_expires {
            row("old key", &format!("ends at {time}"));
        }
        for key in &self.keys {
            row("key", &key.to_string());
        }
        row("anchor", words(self.anchor));
        lines
    }
}

fn headline(verification: &IdentityVerification, paint: Paint) -> String {
    let agent = verification.agent_id.as_ref().map_or("", AgentId::as_str);
    let count = match verification.messages.len() {
        1 => "1 message".to_owned(),
        more => format!("{more} messages"),
    };
    if verification.valid {
        format!("{} {count} of {agent}", paint.good("Holds:"))
    } else {
        format!(
            "{} {agent} has no valid key at that time; {count} checked, all hold",
            paint.bad("Not valid:")
        )
    }
}

const fn words(anchor: Anchor) -> &'static str {
    match anchor {
        Anchor::Pinned => "the registration names the key you gave",
        Anchor::OwnWord => {
            "none: the registration vouches for itself; compare its key, or give it with --key"
        }
        Anchor::KeyAlone => "the key you gave",
    }
}
