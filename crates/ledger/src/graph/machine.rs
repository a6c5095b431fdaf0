//! The table of transitions as a graph: arrows between states, and events that leave a state as it is.

use crate::{
    event_type::EventType,
    state::{Phase, TRANSITIONS, When},
};

/// An arrow from one state to another.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) from: Phase,
    pub(super) to: Phase,
    /// The events that lead along it, each with the conditions under which it does.
    pub(super) events: Vec<(EventType, Vec<When>)>,
}

/// Returns every arrow, in the order of the table.
pub(super) fn edges() -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::new();
    for row in TRANSITIONS {
        for from in row.from {
            let Some(to) = row.to.filter(|to| to != from) else { continue };
            let index = edges.iter().position(|edge| edge.from == *from && edge.to == to);
            let index = index.unwrap_or_else(|| {
                edges.push(Edge { from: *from, to, events: Vec::new() });
                edges.len() - 1
            });
            edges[index].add(row.event, row.when);
        }
    }
    edges
}

/// Returns the events that leave a state as it is, in the order of the table.
pub(super) fn stays(phase: Phase) -> Vec<EventType> {
    let mut stays = Vec::new();
    for row in TRANSITIONS.iter().filter(|row| row.from.contains(&phase)) {
        if row.to.is_none_or(|to| to == phase) && !stays.contains(&row.event) {
            stays.push(row.event);
        }
    }
    stays
}

impl Edge {
    fn add(&mut self, event: EventType, when: When) {
        match self.events.iter_mut().find(|(known, _)| *known == event) {
            Some((_, conditions)) => conditions.push(when),
            None => self.events.push((event, vec![when])),
        }
    }

    /// Returns how many lines its label takes.
    pub(super) fn lines(&self) -> u32 {
        let lines =
            |conditions: &[When]| 1 + conditions.iter().filter(|when| !when.as_str().is_empty()).count();
        let lines: usize = self.events.iter().map(|(_, conditions)| lines(conditions)).sum();
        u32::try_from(lines).unwrap_or(u32::MAX)
    }
}
