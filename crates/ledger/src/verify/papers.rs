//! The papers of a plan: each is signed by a key of the desk that may speak there, has the times and words of the
//! events it is about, and follows from the one before (`docs/format.md` 11). Read as JSON, by member, so that nothing
//! is taken over from the code that writes them.

use std::collections::BTreeMap;

use demur_core::{canonical, hash::sha256, key::Signature, limit::Text, time::Timestamp};
use serde_json::{Map, Value, json};

use crate::{
    content::{AnswerValue, QuestionContent},
    envelope::Event,
    event_type::{Content, Facts},
    facts::{Assurance, PaperKind, PaperRecorded, Question, Severity},
    name::{Operation, Position, Sequence},
    registry::Registry,
    trace_state::{PlanStage, Work},
};

/// What is wrong with a paper; nothing where all is well.
type Judged = Result<(), String>;

/// What papers quote so far. Once something of it is withheld or erased, nothing more is judged.
#[derive(Debug, Default)]
pub(super) struct PaperBook {
    session: String,
    plan: Map<String, Value>,
    /// The ask of every gap, by the event that put it.
    asks: BTreeMap<Sequence, Map<String, Value>>,
    rounds: Vec<Value>,
    said: Option<Said>,
    /// The newest seal of the record, and the event it stands in.
    newest: Option<(Sequence, Option<Position>, Map<String, Value>)>,
    is_blind: bool,
}

/// The newest answer to a gap, or that it was taken back.
#[derive(Debug)]
struct Said {
    question: Sequence,
    text: String,
    time: String,
    /// How sure one can be who said it, where the event tells.
    assurance: Option<Assurance>,
    name: String,
    /// Whether a key or passkey signed it.
    is_signed: bool,
}

/// Returns whether a paper may be held against this content.
pub(super) const fn is_quoted(content: &Content) -> bool {
    matches!(
        content,
        Content::PlanSubmitted(_)
            | Content::GapFound(_)
            | Content::QuestionAnswered(_)
            | Content::AnswerSuperseded(_)
            | Content::AnswerRejected(_)
            | Content::AnswerRevoked(_)
            | Content::GapAccepted(_)
            | Content::PlanConfirmed(_)
            | Content::PlanAttested(_)
            | Content::PaperRecorded(_)
    )
}

impl PaperBook {
    /// Takes an event that the state let through; `state` is the one after it.
    pub(super) fn take(
        &mut self,
        event: &Event,
        facts: &Facts,
        content: Option<&Content>,
        (state, registry): (&Work, &Registry),
    ) -> Judged {
        let (at, time) = (event.position().sequence, written(event.envelope().time));
        let desk = DeskKeys { registry, pin: event.envelope().registry };
        let Some(content) = content else {
            self.is_blind |= is_needed(facts);
            return Ok(());
        };
        if self.is_blind {
            return Ok(());
        }
        match (facts, content) {
            (_, Content::PlanSubmitted(content)) => self.session = content.session.to_string(),
            (_, Content::PlanConfirmed(content)) => self.plan.clone_from(&content.plan),
            (Facts::GapFound(facts), Content::GapFound(content)) => {
                return self.take_ask(at, &time, (&facts.0, content), &desk);
            }
            (Facts::PaperRecorded(facts), Content::PaperRecorded(content)) => {
                return self.take_paper((at, &time), facts, &content.paper, (state, &desk));
            }
            // Without any paper there is no record that it could refer to.
            (Facts::PlanAttested(_), Content::PlanAttested(content)) if self.newest.is_some() => {
                return self.check_attestation(&content.attestation, &desk);
            }
            _ => {}
        }
        let given = match (facts, content) {
            (Facts::QuestionAnswered(facts), Content::QuestionAnswered(content)) => {
                Some((facts.question.sequence, Some(facts.assurance), &content.by, text_of(&content.answer)))
            }
            (Facts::AnswerSuperseded(facts), Content::AnswerSuperseded(content)) => {
                let answer = &facts.answer;
                Some((
                    answer.question.sequence,
                    Some(answer.assurance),
                    &content.by,
                    text_of(&content.answer),
                ))
            }
            (Facts::GapAccepted(facts), Content::GapAccepted(content)) => {
                Some((facts.question.sequence, Some(facts.assurance), &content.by, ACCEPTED.to_owned()))
            }
            // An answer that is taken back is a round of its own, so that the record ends with what holds.
            (Facts::AnswerRevoked(facts), Content::AnswerRevoked(content)) => {
                let text = format!("the answer of event {} is taken back", facts.answer);
                Some((facts.question, None, &content.by, text))
            }
            _ => None,
        };
        if let Some((question, assurance, by, text)) = given {
            let name = by.as_ref().map_or_else(|| event.envelope().actor.to_string(), ToString::to_string);
            let is_signed = event.envelope().statement.is_some();
            self.said = Some(Said { question, text, time, assurance, name, is_signed });
        } else if let (Facts::AnswerRejected(facts), Content::AnswerRejected(content)) = (facts, content) {
            let text = content.answer.as_ref().map(text_of).unwrap_or_default();
            let (question, name) = (facts.question, content.by.to_string());
            self.said = Some(Said { question, text, time, assurance: None, name, is_signed: false });
        }
        Ok(())
    }

    /// Checks the newest signature over the whole record; it covers every one before.
    pub(super) fn finish(&self, registry: &Registry) -> Result<(), (Sequence, String)> {
        let Some((at, pin, seal)) = self.newest.as_ref().filter(|_| !self.is_blind) else { return Ok(()) };
        let signed = Value::Object(self.record(seal));
        DeskKeys { registry, pin: *pin }.check(&signed, "chain_signature").map_err(|message| (*at, message))
    }

    fn take_ask(
        &mut self,
        at: Sequence,
        time: &str,
        (facts, content): (&Question, &QuestionContent),
        desk: &DeskKeys<'_>,
    ) -> Judged {
        let ask = content.ask.clone().ok_or("ask: expected the signed ask, found none")?;
        let expected = [
            ("type", json!("wwa.clarification.ask")),
            ("session_id", json!(self.session)),
            ("round", json!(self.asks.len() + 1)),
            ("ask_timestamp", json!(time)),
            ("gap", gap(facts, content)),
        ];
        self.asks.insert(at, ask.clone());
        same(&ask, "ask", &expected)?;
        desk.check(&Value::Object(ask), "ask_signature")
    }

    fn take_paper(
        &mut self,
        (at, time): (Sequence, &str),
        facts: &PaperRecorded,
        paper: &Map<String, Value>,
        (state, desk): (&Work, &DeskKeys<'_>),
    ) -> Judged {
        if facts.kind == PaperKind::Handoff {
            return self.check_handoff(paper, desk);
        }
        if facts.kind == PaperKind::Round {
            self.take_round(paper, desk)?;
        }
        let seal = object(paper, "record")?;
        self.check_seal(seal, state)?;
        self.newest = Some((at, desk.pin, seal.clone()));
        // A member beside these would be signed by nobody.
        let part = match facts.kind {
            PaperKind::Document => "document",
            PaperKind::Round => "round",
            PaperKind::Acceptance | PaperKind::Handoff => "attestation",
        };
        only(paper, "paper", &[part, "record"])?;
        match facts.kind {
            PaperKind::Document => self.check_document(paper, time, (state, desk)),
            PaperKind::Acceptance => {
                let attestation = object(paper, "attestation")?;
                same(attestation, "attestation", &[("timestamp", json!(time))])?;
                self.check_attestation(attestation, desk)
            }
            PaperKind::Round | PaperKind::Handoff => Ok(()),
        }
    }

    /// Only the newest record is checked by its signature, so the members of each are held against the events.
    fn check_seal(&self, seal: &Map<String, Value>, state: &Work) -> Judged {
        let is_gap = |at: &Sequence| self.asks.contains_key(at);
        let is_open = state.questions().unsettled().any(|(at, _)| is_gap(&at));
        let total = ("total_rounds", json!(self.rounds.len()));
        same(seal, "record", &[("session_id", json!(self.session)), total])?;
        // What a plan left open when it was withdrawn was not resolved, and nobody is asked any more.
        if state.plan() != PlanStage::Withdrawn {
            same(seal, "record", &[("all_resolved", json!(!is_open))])?;
        }
        let names = ["all_resolved", "chain_signature", "session_id", "total_rounds", "withdrawn_gaps"];
        only(seal, "record", &names)
    }

    fn take_round(&mut self, paper: &Map<String, Value>, desk: &DeskKeys<'_>) -> Judged {
        let round = object(paper, "round")?;
        let said = self.said.as_ref().ok_or("round: expected an answer before it, found none")?;
        let ask = self.asks.get(&said.question).ok_or("round: expected the ask of its gap, found none")?;
        let member = |name: &str| ask.get(name).cloned().unwrap_or_default();
        let answer: Value = cut::<4000>(&said.text).into();
        let mut answered_for = json!({"name": said.name});
        // What was rejected or taken back says who did it; how that is known stands in the paper alone.
        answered_for["assurance"] = match said.assurance {
            Some(assurance) => assurance.as_str().into(),
            None => {
                round.get("answered_for").and_then(|told| told.get("assurance")).cloned().unwrap_or_default()
            }
        };
        if answered_for["assurance"] == Assurance::Passkey.as_str() && !said.is_signed {
            return Err("round: expected no word of a passkey beside an event that none signed".to_owned());
        }
        let expected = [
            ("round", json!(self.rounds.len() + 1)),
            ("ask_round", member("round")),
            ("ask_timestamp", member("ask_timestamp")),
            ("ask_signature", member("ask_signature")),
            ("gap", member("gap")),
            ("answer", answer.clone()),
            ("answer_timestamp", json!(said.time)),
            ("answer_signer", json!("recorder")),
            ("answered_for", answered_for.clone()),
            ("prev_hash", self.rounds.last().map(hash).transpose()?.unwrap_or_default()),
        ];
        same(round, "round", &expected)?;
        let signature = round.get("answer_signature").cloned().unwrap_or_default();
        let signed = json!({
            "type": "wwa.clarification.answer", "session_id": self.session, "round": member("round"),
            "gap_id": member("gap")["id"], "agent_id": member("agent_id"), "answer": answer,
            "answer_timestamp": said.time, "answered_for": answered_for, "ask_signature": member("ask_signature"),
            "answer_signature": signature,
        });
        self.rounds.push(Value::Object(round.clone()));
        desk.check(&signed, "answer_signature")
    }

    fn check_document(
        &self,
        paper: &Map<String, Value>,
        time: &str,
        (state, desk): (&Work, &DeskKeys<'_>),
    ) -> Judged {
        let open = state.questions().unsettled().filter_map(|(at, _)| self.asks.get(&at)?.get("gap"));
        let open: BTreeMap<_, _> = open.map(|gap| (gap["id"].as_str(), gap)).collect();
        let document = match paper.get("document") {
            Some(Value::Null) if open.is_empty() => return Ok(()),
            Some(Value::Object(document)) if !open.is_empty() => document,
            _ => return Err("document: expected one exactly where a gap is open".to_owned()),
        };
        same(document, "document", &[("session_id", json!(self.session)), ("timestamp", json!(time))])?;
        let gaps = document.get("gaps").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let told: BTreeMap<_, _> = gaps.iter().map(|gap| (gap["id"].as_str(), gap)).collect();
        if told != open || gaps.len() != open.len() {
            return Err(
                "document.gaps: expected the open gaps in the words of their asks, found others".to_owned()
            );
        }
        desk.check(&Value::Object(document.clone()), "signature")
    }

    /// An attestation is about the confirmed plan, after the record as it is.
    fn check_attestation(&self, attestation: &Map<String, Value>, desk: &DeskKeys<'_>) -> Judged {
        same(attestation, "attestation", &[("session_id", json!(self.session))])?;
        let mut inputs = object(attestation, "inputs")?.clone();
        let Some((_, _, seal)) = &self.newest else {
            return Err("record: expected one before the attestation, found none".to_owned());
        };
        let record = hash(&Value::Object(self.record(seal)))?;
        let record = record.as_str().unwrap_or_default();
        let session = &self.session;
        let reference = format!("clarification://session/{session}#{record}");
        let expected = [
            ("clarification_rounds", json!(self.rounds.len())),
            ("clarification_chain_ref", json!(reference)),
        ];
        same(&inputs, "inputs", &expected)?;
        let told = inputs.remove("input_hash");
        if told != Some(hash(&Value::Object(inputs.clone()))?) {
            return Err("inputs.input_hash: expected the hash of the inputs, found another".to_owned());
        }
        inputs.retain(|name, _| !expected.iter().any(|(added, _)| added == name));
        if inputs != self.plan {
            return Err("inputs: expected the plan as it was confirmed, found another".to_owned());
        }
        desk.check(&Value::Object(attestation.clone()), "signature")
    }

    fn check_handoff(&self, paper: &Map<String, Value>, desk: &DeskKeys<'_>) -> Judged {
        let sender = object(paper, "sender")?;
        same(sender, "sender", &[("session_id", json!(self.session))])?;
        let record = object(object(paper, "context")?, "clarification_chain")?;
        let newest = self.newest.as_ref().map(|(_, _, seal)| self.record(seal));
        if newest.as_ref() != Some(record) {
            return Err("context.clarification_chain: expected the record as it is, found another".to_owned());
        }
        let mut signed = paper.clone();
        // The signature stands one level down.
        let signature = sender.get("identity_sig").cloned().unwrap_or_default();
        if let Some(Value::Object(sender)) = signed.get_mut("sender") {
            sender.remove("identity_sig");
        }
        signed.insert("identity_sig".to_owned(), signature);
        desk.check(&Value::Object(signed), "identity_sig")
    }

    /// Returns the record that this seal belongs to.
    fn record(&self, seal: &Map<String, Value>) -> Map<String, Value> {
        let mut record = seal.clone();
        record.insert("chain".to_owned(), Value::Array(self.rounds.clone()));
        record
    }
}

/// The keys that may speak for the desk at one place.
struct DeskKeys<'a> {
    registry: &'a Registry,
    pin: Option<Position>,
}

impl DeskKeys<'_> {
    /// Checks that one of them signed this, all but the signature itself.
    fn check(&self, signed: &Value, member: &str) -> Judged {
        let mut input = signed.clone();
        let signature = input.as_object_mut().and_then(|members| members.remove(member));
        let signature =
            signature.as_ref().and_then(Value::as_str).and_then(|text| text.strip_prefix("ed25519:"));
        let signature: Option<Signature> = signature.and_then(|text| text.parse().ok());
        let input = canonical::to_vec(&input).map_err(|error| error.to_string())?;
        let may = |at: Sequence| {
            self.registry.keys().filter(move |(key, _)| self.registry.desk_key(key, at).is_ok())
        };
        let holds = signature.zip(self.pin).is_some_and(|(signature, pin)| {
            may(pin.sequence).any(|(_, record)| record.public.verify_foreign(&input, &signature).is_ok())
        });
        if holds { Ok(()) } else { Err(format!("{member}: expected the desk's signature, found another")) }
    }
}

/// Returns whether papers quote events with these facts.
const fn is_needed(facts: &Facts) -> bool {
    matches!(
        facts,
        Facts::PlanSubmitted(_)
            | Facts::GapFound(_)
            | Facts::QuestionAnswered(_)
            | Facts::AnswerSuperseded(_)
            | Facts::AnswerRejected(_)
            | Facts::AnswerRevoked(_)
            | Facts::GapAccepted(_)
            | Facts::PlanConfirmed(_)
            | Facts::PaperRecorded(_)
    )
}

/// Returns the gap as the clarification protocol writes it.
fn gap(facts: &Question, content: &QuestionContent) -> Value {
    let severity = match facts.severity {
        Severity::Block => "BLOCK",
        Severity::Warn => "WARN",
    };
    let reason = content.context.as_ref().map(|text| cut::<4000>(text)).unwrap_or_default();
    let suggestions: Vec<_> = content.suggestions.iter().map(|text| cut::<4000>(text)).collect();
    let blocked: Vec<_> = facts.blocks.iter().map(Operation::as_str).collect();
    json!({
        "id": content.gap, "field": content.field, "severity": severity,
        "question": cut::<2000>(&content.wording.normal), "context": reason, "suggestions": suggestions,
        "blocked_operations": blocked,
    })
}

/// Checks members of an object.
fn same(found: &Map<String, Value>, name: &str, expected: &[(&str, Value)]) -> Judged {
    match expected.iter().find(|(member, value)| found.get(*member).unwrap_or(&Value::Null) != value) {
        Some((member, _)) => {
            Err(format!("{name}.{member}: expected what the events say, found something else"))
        }
        None => Ok(()),
    }
}

/// Checks that an object has no other members.
fn only(found: &Map<String, Value>, name: &str, members: &[&str]) -> Judged {
    match found.keys().find(|member| !members.contains(&member.as_str())) {
        Some(_) => Err(format!("{name}: expected {} and nothing beside, found more", members.join(", "))),
        None => Ok(()),
    }
}

fn object<'a>(paper: &'a Map<String, Value>, name: &str) -> Result<&'a Map<String, Value>, String> {
    paper
        .get(name)
        .and_then(Value::as_object)
        .ok_or_else(|| format!("{name}: expected an object, found none"))
}

fn hash(value: &Value) -> Result<Value, String> {
    let bytes = canonical::to_vec(value).map_err(|error| error.to_string())?;
    Ok(format!("sha256:{}", sha256(&bytes)).into())
}

/// Returns a time as the clarification protocol writes it: whole seconds without a fraction.
fn written(time: Timestamp) -> String {
    let text = time.to_string();
    text.strip_suffix(".000Z").map_or(text.clone(), |whole| format!("{whole}Z"))
}

/// Returns as much of a text as the clarification protocol has room for.
fn cut<const MOST: usize>(text: &str) -> String {
    Text::<0, MOST>::cut(text).map(|text| text.to_string()).unwrap_or_default()
}

fn text_of(answer: &AnswerValue) -> String {
    answer.to_string()
}

/// What stands in a round where a warning was accepted.
const ACCEPTED: &str = "accepted as it is";
