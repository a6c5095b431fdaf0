//! Where the values of a confirmed plan came from, counted: what stands in the headline. Nobody asked about a value that is
//! the agent's own word, whatever the rules say.

use schemars::JsonSchema;
use serde::Serialize;

/// Who gave a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ValueOrigin {
    /// A person answered.
    Person,
    /// Another agent answered.
    OtherAgent,
    /// A key answered of which nobody knows whose program has it.
    UnboundKey,
    /// A default took effect.
    Default,
    /// The agent that submitted the plan: in the plan, or by an answer of its own.
    OwnWord,
}

/// How many values came from whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "NoGuessCounts")]
pub struct ValueCounts {
    /// All of them.
    pub values: u64,
    /// Answered by a person.
    pub person: u64,
    /// Answered by another agent.
    pub other_agent: u64,
    /// Answered by another key whose client is not recorded.
    pub unbound_key: u64,
    /// Given by a default.
    pub default: u64,
    /// The agent's own word.
    pub own_word: u64,
}

impl ValueCounts {
    /// Counts values.
    pub(super) fn of(origins: impl Iterator<Item = ValueOrigin>) -> Self {
        let mut counts = Self::default();
        for origin in origins {
            counts.values += 1;
            *match origin {
                ValueOrigin::Person => &mut counts.person,
                ValueOrigin::OtherAgent => &mut counts.other_agent,
                ValueOrigin::UnboundKey => &mut counts.unbound_key,
                ValueOrigin::Default => &mut counts.default,
                ValueOrigin::OwnWord => &mut counts.own_word,
            } += 1;
        }
        counts
    }

    /// Returns them as a sentence without its full stop.
    pub fn words(&self) -> String {
        let is = |count: u64, one: &str, more: &str| match count {
            1 => format!("1 {one}"),
            count => format!("{count} {more}"),
        };
        let mut parts = vec![is(self.person, "was answered by a person", "were answered by a person")];
        if self.other_agent > 0 {
            parts.push(format!("{} by another agent", self.other_agent));
        }
        if self.unbound_key > 0 {
            parts.push(format!("{} by another key whose client is not recorded", self.unbound_key));
        }
        parts.push(format!("{} by a default", self.default));
        parts.push(is(self.own_word, "is the agent's own word", "are the agent's own word"));
        let values = is(self.values, "value", "values");
        format!("of {values} {}", parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ONE-12
    #[test]
    fn the_headline_counts_every_value_once() {
        use ValueOrigin::{Default, OtherAgent, OwnWord, Person, UnboundKey};
        let many = [Person, Person, Person, Default, Default].into_iter().chain([OwnWord; 7]);
        let words = "of 12 values 3 were answered by a person, 2 by a default, 7 are the agent's own word";
        assert_eq!(ValueCounts::of(many).words(), words);
        let few = ValueCounts::of([OtherAgent, OwnWord].into_iter());
        let words = "of 2 values 0 were answered by a person, 1 by another agent, 0 by a default, 1 is the agent's own word";
        assert_eq!(few.words(), words);
        let unbound = ValueCounts::of([UnboundKey].into_iter());
        let words = "of 1 value 0 were answered by a person, 1 by another key whose client is not recorded, 0 by a default, 0 are the agent's own word";
        assert_eq!(unbound.words(), words);
    }
}
