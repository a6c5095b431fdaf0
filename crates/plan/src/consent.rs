//! Consent holds for the values it was given for (CLR-54): an acceptance, or a yes or a choice that lets values of the plan pass, lapses
//! when one of the values changes that its rule names. Then it is asked again.

use demur_clarify::name::FieldPath;
use demur_core::hash::Digest;
use demur_ledger::facts::AnswerKind;
use demur_rules::{Plan, Rules, Settled};
use serde_json::Value;

use crate::{Error, session::Gap};

/// What somebody let pass.
#[derive(Clone, Debug)]
pub(crate) struct Consent {
    /// The place of its gap.
    pub(crate) gap: usize,
    rule: String,
    field: FieldPath,
    /// What it was given for.
    request: Digest,
    /// The answer's field as it was when the gap was put; none where nothing was there.
    asked: Option<Value>,
    /// Whether it is an answer, which stands in the plan; otherwise a warning was accepted.
    is_answer: bool,
}

impl Consent {
    /// Returns the acceptance of a gap.
    pub(crate) fn accepting(place: usize, gap: &Gap) -> Option<Self> {
        Self::new(place, gap, false)
    }

    /// Returns the consent that an answer of this kind is, if it is one.
    pub(crate) fn answering(place: usize, gap: &Gap, kind: AnswerKind) -> Option<Self> {
        let chooses = matches!(kind, AnswerKind::YesNo | AnswerKind::MultipleChoice);
        Self::new(place, gap, true).filter(|consent| chooses && Rules::asks_for_consent(&consent.rule))
    }

    fn new(place: usize, gap: &Gap, is_answer: bool) -> Option<Self> {
        Some(Self {
            gap: place,
            rule: gap.content.rule.as_ref()?.name.to_string(),
            field: gap.field.clone(),
            request: gap.content.request?,
            asked: gap.asked.clone(),
            is_answer,
        })
    }

    fn holds(&self, rules: &Rules, plan: &Plan) -> Result<bool, Error> {
        let found = if self.is_answer {
            rules.request(&self.rule, &self.field, &self.before(plan)?)?
        } else {
            rules.request(&self.rule, &self.field, plan)?
        };
        Ok(found == self.request)
    }

    /// Returns a plan with the answered field as it was asked about.
    fn before(&self, plan: &Plan) -> Result<Plan, Error> {
        Ok(match &self.asked {
            Some(asked) => plan.with_value(&self.field, asked.clone())?,
            None => plan.without(&self.field),
        })
    }
}

/// Takes out every consent whose values have changed, and its answer out of the plan; returns the places of their gaps. One that
/// lapses may take another with it. `spend` is told of each look at a consent, and may say that it was enough.
pub(crate) fn lapse(
    rules: &Rules,
    (plan, settled): (&mut Plan, &mut Settled),
    consents: &mut Vec<Consent>,
    spend: &dyn Fn() -> Result<(), Error>,
) -> Result<Vec<usize>, Error> {
    let mut lapsed = Vec::new();
    loop {
        let mut moved = None;
        for (place, consent) in consents.iter().enumerate() {
            spend()?;
            if !consent.holds(rules, plan)? {
                moved = Some(place);
                break;
            }
        }
        let Some(place) = moved else { return Ok(lapsed) };
        let consent = consents.remove(place);
        if consent.is_answer {
            *plan = consent.before(plan)?;
            settled.forget_answer(&consent.field);
        } else {
            settled.take_back(&consent.rule, &consent.field);
        }
        lapsed.push(consent.gap);
    }
}
