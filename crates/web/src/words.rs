//! Every text of the interface. Another language is another constant of this type; what agents and people wrote is never
//! here.

use std::fmt::Display;

/// Returns a text with a value in place of each `{}`, in their order.
pub fn fill(text: &str, values: &[&dyn Display]) -> String {
    let mut parts = text.split("{}");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for (at, part) in parts.enumerate() {
        if let Some(value) = values.get(at) {
            filled.push_str(&value.to_string());
        }
        filled.push_str(part);
    }
    filled
}

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
    now = "now";
    in_seconds = "in less than a minute";
    in_minute = "in 1 minute";
    in_minutes = "in {} minutes";
    in_hour = "in 1 hour";
    in_hours = "in {} hours";
    in_days = "in {} days";
    seconds_ago = "less than a minute ago";
    minute_ago = "1 minute ago";
    minutes_ago = "{} minutes ago";
    hour_ago = "1 hour ago";
    hours_ago = "{} hours ago";
    days_ago = "{} days ago";
    utc = "UTC";
    must_be_answered = "Must be answered";
    please_confirm = "Please confirm";
    any_severity = "Any";
    asked_by = "Asked by";
    asked_at = "asked";
    in_trace = "for the trace";
    about_field = "about";
    erased = "The words of this question were erased.";
    more_characters = "{} characters more on the page of this question";
    read_all = "Read all of it";
    context = "Why it is asked, and what was found";
    blocks = "Until it is settled, this waits:";
    blocks_asker = "Whoever asked waits for it; no other work is held up.";
    blocks_nothing = "Nothing waits for it; it has to be answered or confirmed in the end.";
    deadline = "Answer by";
    deadline_passed = "The deadline has passed:";
    no_deadline = "No deadline: it waits as long as it takes.";
    then_expires = "Without an answer until then it expires; nothing is assumed, and what waits goes on waiting.";
    then_default = "Without an answer until then this holds, as the asker declared:";
    choose_one = "Choose one";
    recommended = "(recommended by the asker)";
    recommends = "The asker recommends:";
    yes_or_no = "Yes or no?";
    yes = "Yes";
    no = "No";
    your_answer = "Your answer";
    your_number = "Your answer, a number";
    your_secret = "Your answer, a secret: only the asker gets it, once";
    suggestions = "Suggestions; any other text is as good";
    review = "Review, then send";
    confirm_as_is = "Confirm it as it is";
    confirm_meaning = "The plan goes on with what was found, and your name stands beside it.";
    more_ways = "Decline, pass on, ask back, more time, history";
    wording = "Wording";
    terse = "terse";
    normal = "normal";
    detailed = "detailed";
    history = "History of this question";
    history_who = "Who";
    history_what = "What";
    history_when = "When";
    history_event = "Event";
    history_more = "There is more; the trace has it.";
    the_desk = "the desk";
    sent_before = "Sent.";
    sent_answered = "Sent. Your answer is on record, and whoever asked has it.";
    sent_accepted = "Sent. You confirmed it as it is.";
    sent_declined = "Sent. You declined this question.";
    sent_asked_back = "Sent. The asker reads your words and can ask again; this question is closed.";
    sent_passed = "Sent. The question was passed on.";
    sent_extended = "Sent. There is more time now.";
    sent_cancelled = "Sent. The question was called off.";
    sent_again = "It was so before; nothing was recorded twice.";
    next_question = "Go to the next question that waits";
    none_next = "Nothing else waits for you.";
    extend = "More time";
    extend_meaning = "The deadline moves in the asker's name; the record says that you wanted it.";
    extend_five_minutes = "5 minutes more";
    extend_hour = "1 hour more";
    extend_day = "1 day more";
    decline = "Decline";
    decline_meaning = "You say that it will not be answered. What waits goes on waiting; the asker reads your reason.";
    reason = "Reason";
    reason_optional = "Reason (may be left out)";
    pass_on = "Pass on";
    pass_meaning = "Others answer instead of you.";
    pass_to = "To whom";
    pass_people_too = "People may still answer, too";
    pass_nobody = "Nobody has a key for answering. `demur keys new NAME --role answerer` makes one.";
    pass_people_only = "Only people may answer this question, so it cannot be passed to a holder of a key.";
    ask_back = "Ask back";
    ask_back_meaning = "Your question goes to the asker as the reason for declining. This closes the question; the asker reads your words and can ask again.";
    ask_back_words = "What you want to know first";
    cancel = "Call off";
    cancel_meaning = "You say in the asker's name that no answer is needed any more. What waits may go on.";
    only_people_not = "People may not answer this question; a holder of a key may.";
    auditor_reads = "You can read this question; answering needs another role.";
    assurance_too_low = "The asker wants an answer with a passkey, which this inbox does not have yet.";
    review_title = "Look before you send";
    review_nothing_sent = "Nothing is sent yet.";
    review_question = "The question";
    review_you = "What you do";
    review_answer = "Your answer";
    review_value = "recorded as";
    review_secret = "A secret of {} characters; it is not shown.";
    review_final = "Sending settles the question. What is on record stays on record.";
    review_note = "A note with it (may be left out)";
    review_send = "Send";
    review_back = "Go back and change it";
    act_answer = "Answer";
    act_accept = "Confirm as it is";
    act_decline = "Decline";
    act_ask_back = "Ask back, which closes the question";
    act_pass = "Pass on to";
    act_pass_people = "people";
    act_extend = "Give more time:";
    act_cancel = "Call off";
    form_stale = "This form was not of this session, so nothing was sent. Look at it again; sending works now.";
    late_title = "Too late: it is settled already";
    late_gone = "This question is not there any more; it may have been put again in other words.";
    late_kept = "What you wrote was not sent. Here it is, to copy:";
    unsettled_title = "On record, and still open";
    unsettled_meaning = "Your answer is on record, but it does not settle the question, which is put again:";
    wrong_choice = "Choose one of the answers that are offered.";
    wrong_empty = "Write something first.";
    wrong_long = "Write at most {} characters; there were {}.";
    wrong_number = "Write a number, such as 42 or 0.5; decimals after a point.";
    wrong_yes_no = "Choose yes or no.";
    wrong_kind = "This question takes another kind of answer.";
    wrong_time = "Choose how much more time there is to be.";
    wrong_name = "Choose somebody who has a key for answering.";
    wrong_act = "Choose what to do.";
    how_agent = "with a key, as an agent";
    how_relayed = "passed on by the asker's own client";
    how_terminal = "at the terminal of this machine";
    how_signed_in = "signed in";
    how_passkey = "with a passkey";
    is_open = "Open";
    was_answered = "Answered";
    was_accepted = "Confirmed";
    was_declined = "Declined";
    was_expired = "Expired";
    was_defaulted = "Ended with the default";
    was_cancelled = "Cancelled";
    was_withdrawn = "Withdrawn";
    by = "by";
    answer = "Answer:";
    still_waits = "What waits for it goes on waiting.";
    goes_on = "Nothing waits for it any more.";
    settled_already = "This question is settled. An answer that comes now changes nothing.";
    event_asked = "asked";
    event_found = "found by the rules";
    event_put_again = "put again in other words";
    event_answered = "answered";
    event_superseded = "answered anew";
    event_revoked = "took the answer back";
    event_claimed = "said what it thinks, which settles nothing";
    event_accepted = "confirmed as it is";
    event_withdrawn = "no longer found by the rules";
    event_declined = "declined";
    event_delivered = "was shown it";
    event_escalated = "put it to others";
    event_passed = "passed it on";
    event_extended = "gave more time";
    event_cancelled = "called it off";
    event_expired = "expired";
    event_defaulted = "ended with the default";
    event_other = "did something else";
    other_ways = "Other ways to deal with it";
    bulk = "Several at once";
    bulk_choose = "Choose for several at once";
    bulk_meaning = "Choose questions above, then what to do with all of them. You see everything before it is sent.";
    bulk_what = "What to do";
    bulk_decline = "Decline all";
    bulk_accept = "Confirm all as they are (only where \"please confirm\" is about a plan)";
    bulk_answer = "Answer all with the same words";
    bulk_value = "The answer to all of them";
    counts = "{} open in all, {} settled.";
    empty_mine = "Nothing waits for you. When an agent asks, its question appears here by itself; you can leave this page open.";
    empty_others = "Nothing waits for others. Questions that only holders of keys may answer appear here.";
    empty_done = "Nothing is settled yet. Questions move here once they are answered, declined, cancelled or over.";
    empty_search = "Nothing here fits what you look for.";
    only_trace = "Only questions of the trace";
    search = "Words in the question";
    search_severity = "How much depends on it";
    search_asker = "Who asks";
    search_go = "Search";
    search_all = "Show all";
    search_further = "Search further";
    next_page = "More questions";
    searched_all = "{} questions were searched; that is all of them.";
    searched_part = "{} questions were searched so far; there are more.";
    settings_saved = "Saved, for this browser.";
    settings_level = "How much of a question is shown at first";
    terse_meaning = "Terse: a few words";
    normal_meaning = "Normal: the question";
    detailed_meaning = "Detailed: with why it is asked and what depends on it";
    settings_keys = "Single letters";
    settings_keys_on = "Let single letters act: j and k move, Enter opens, 1 to 9 choose, d declines, x selects";
    settings_keys_meaning = "Leave this off with a screen reader: single letters are its own. Tab and Ctrl+Enter always work.";
    settings_save = "Save";
    extend_seconds = "{} seconds more";
}
