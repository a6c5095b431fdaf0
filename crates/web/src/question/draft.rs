//! What somebody typed that is not sent yet, and what is wrong with it. Nothing that was typed is lost by an error, except a
//! secret, which no page repeats.

/// What was typed into one form of a question.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// Which form.
    pub act: String,
    /// The fields by name.
    pub fields: Vec<(String, String)>,
    /// What is wrong.
    pub wrong: Option<Wrong>,
}

/// What is wrong with a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Which one.
    pub field: &'static str,
    /// What to do about it.
    pub message: String,
}

impl Draft {
    /// Returns what was typed into this field of this form.
    pub fn typed(&self, act: &str, field: &str) -> &str {
        let found = self.fields.iter().find(|(name, _)| name == field).filter(|_| self.act == act);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// Returns what is wrong with this field of this form.
    pub fn wrong(&self, act: &str, field: &str) -> Option<&str> {
        let wrong = self.wrong.as_ref().filter(|wrong| self.act == act && wrong.field == field);
        wrong.map(|wrong| wrong.message.as_str())
    }

    /// Returns what is wrong with this form.
    pub fn wrong_form(&self, act: &str) -> Option<&str> {
        self.wrong.as_ref().filter(|_| self.act == act).map(|wrong| wrong.message.as_str())
    }

    /// Returns whether this form was the one.
    pub fn is(&self, act: &str) -> bool {
        self.act == act
    }

    /// Returns everything that was typed by hand, to be copied.
    pub fn words(&self) -> String {
        const TYPED: [&str; 6] = ["text", "number", "reason", "words", "note", "value"];
        let typed = self.fields.iter().filter(|(name, value)| TYPED.contains(&name.as_str()) && !value.is_empty());
        typed.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join("\n\n")
    }
}
