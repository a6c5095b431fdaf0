//! Every text of the interface. Another language is another constant of this type; what agents and people wrote is never
//! here.

/// Makes the catalogue: a text for every name, and nothing without one.
macro_rules! words {
    ($($name:ident = $text:literal;)+) => {
        /// The texts of one language.
        #[derive(Clone, Copy, Debug)]
        #[non_exhaustive]
        pub struct Words {
            $(#[doc = $text] pub $name: &'static str,)+
        }

        /// The texts in English.
        pub const ENGLISH: Words = Words { $($name: $text,)+ };
    };
}

words! {
    language = "en";
    product = "demur";
    skip = "Skip to the content";
    parts = "Parts of the inbox";
    mine = "Waiting for me";
    others = "Waiting for others";
    done = "Done";
    traces = "Traces";
    settings = "Settings";
    sign_out = "Sign out";
    signed_in_as = "Signed in as";
    sign_in = "Sign in";
    sign_in_title = "Sign in to demur";
    sign_in_meaning = "This browser will be able to see the questions of this data folder, and to answer them if you may, for twelve hours. The link works once.";
    sign_in_needed = "You are not signed in";
    sign_in_how = "Run this on the machine that demur runs on; it opens a link that signs this browser in:";
    sign_in_command = "demur open";
    not_found = "There is nothing here";
    not_sent = "Not sent yet";
    back_to_inbox = "Back to the inbox";
    problem = "This did not work";
    what_to_do = "What to do";
    written_by_agent = "Written by an agent";
    written_by_rule = "Written by a rule, about what an agent plans";
    written_by = "Written by";
}
