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
    trace_parts = "Parts of this trace";
    trace_one = "Trace";
    trace_about = "What it is about";
    trace_kind = "Kind";
    trace_state = "State";
    trace_events = "Events";
    trace_opened = "Opened";
    trace_changed = "Last change";
    trace_pages = "Pages";
    trace_timeline = "Timeline";
    trace_verification = "Verification";
    trace_run = "States of the run";
    trace_export = "Export (one file that anybody can verify)";
    trace_meaning = "A trace is the record of one piece of work. The newest are first.";
    trace_none = "No traces yet. The first question, plan or run of an agent opens one, and it is listed here.";
    trace_no_more = "No older traces.";
    trace_no_words = "(the words are not here)";
    trace_no_state = "no states";
    trace_damaged = "does not hold";
    trace_older = "Older traces";
    trace_newest = "Newest traces";
    trace_no_more_events = "No later events.";
    trace_first_events = "First events";
    trace_earlier_events = "Earlier events";
    trace_later_events = "Later events";
    trace_newest_events = "Newest events";
    trace_badges = "Each event below was checked just now, by itself and against the one before it. Verification checks the whole trace.";
    trace_loading_failed = "The trace could not be read as a whole";
    kind_run = "run";
    kind_plan = "plan";
    kind_question = "question";
    kind_work = "work";
    kind_registry = "list of keys";
    signature_good = "signature good";
    signature_bad = "signature bad";
    signature_none = "no signature needed";
    chain_good = "chained";
    chain_bad = "chain broken";
    content_here = "content here";
    content_bad = "content is not what was recorded";
    content_missing = "content missing";
    content_erased = "content erased";
    content_none = "no content";
    artifact_here = "artifact here";
    artifact_bad = "artifact is not what was recorded";
    artifact_missing = "artifact missing";
    artifact_erased = "artifact erased";
    artifact_none = "no artifact";
    artifact_unchecked = "artifact not looked at here";
    event_one = "Event";
    event_desk_word = "the desk's word";
    event_refers_to = "refers to";
    event_read_on = "Read on";
    event_to_question = "To the question";
    event_unreadable = "cannot be read";
    event_number = "Number";
    event_time = "Recorded";
    event_who = "Who";
    event_role = "As";
    event_type = "Type";
    event_what = "What";
    event_principal = "Principal";
    event_signed_with = "Signed with the key";
    event_not_signed = "Not signed: this is the desk's word";
    event_proof = "Proof";
    event_hash = "Hash";
    event_previous_hash = "Hash of the event before";
    event_expires = "The statement was good until";
    event_of = "Event {} of {}";
    event_before = "Previous event";
    event_after = "Next event";
    event_found = "What does not hold";
    event_nothing_found = "Nothing that was checked here speaks against this event.";
    event_facts = "Facts";
    event_facts_meaning = "What decides anything. Facts cannot be erased.";
    event_content = "Content";
    event_content_meaning = "What was said beside the facts. It can be erased, and the proofs still hold.";
    event_no_content = "This event is facts entirely.";
    event_content_gone = "The content is not here.";
    event_raw = "Envelope as JSON";
    event_raw_content = "Content as JSON";
    event_more_rows = "The rest stands in the JSON below.";
    event_receipt = "Receipt (the desk's signature for this statement)";
    event_artifact = "Look at the artifact";
    event_why = "Why this counts against it";
    artifact_title = "Artifact of event";
    artifact_name = "Name";
    artifact_media = "Media type, as its author says";
    artifact_size = "Size in bytes";
    artifact_download = "Download";
    artifact_text = "Content as text";
    artifact_text_meaning = "Shown as it stands; nothing in it is followed or run.";
    artifact_binary = "These bytes are not text, so they are not shown here.";
    artifact_large = "This is longer than what is shown here.";
    artifact_no_bytes = "There are no bytes to show.";
    verification_meaning = "The export of this trace was made and verified just now, with nothing from elsewhere to hold it against. What you know from elsewhere (a receipt, a pinned key, a known head) is checked by `demur verify`.";
    verification_large = "This trace is too long to be verified while a page loads. Export it and run `demur verify` on the file.";
    verification_not_exported = "The trace cannot be exported, so nothing was verified:";
    run_title = "States of the run";
    run_none = "This trace is no run: only runs have states.";
    run_meaning = "What happened is drawn in whole lines, what could have happened in broken ones. The tables below say the same. Whether the record holds is said by its verification.";
    run_states = "States";
    run_steps = "Who did what when";
    run_reached = "Reached";
    run_entered = "{} times";
    run_began = "where it began";
    run_not_reached = "not reached";
    run_stands = "it stands here";
    run_from = "State before";
    run_to = "State after";
    run_step = "Event";
    run_count = "How often";
    run_first = "First";
    run_last = "Last";
    run_large = "This run is too long to be drawn while a page loads. Export it and run `demur trace show --graph` on the file.";
}
