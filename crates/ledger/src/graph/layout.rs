//! Where everything stands: the six states of work in one column, from top to bottom, the two verdicts below them,
//! and the aborted state beside all it can be reached from. Heights follow from the table.

use std::collections::BTreeMap;

use Phase::{Aborted, Auditing, Claiming, Completed, Executing, Failed, Initialized, Planning, Reviewing};

use super::machine::{Edge, stays};
use crate::state::Phase;

/// A box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rectangle {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) width: u32,
    pub(super) height: u32,
}

/// How much fits beside each other in a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Two events, or the name of the state and what happened to it.
    Wide,
    /// An event with its numbers.
    Middle,
    /// An event without its numbers.
    Slim,
}

impl Rectangle {
    pub(super) const fn shape(&self) -> Shape {
        match self.width {
            0..200 => Shape::Slim,
            200..400 => Shape::Middle,
            _ => Shape::Wide,
        }
    }

    pub(super) const fn right(&self) -> u32 {
        self.x + self.width
    }

    pub(super) const fn bottom(&self) -> u32 {
        self.y + self.height
    }
}

/// Where an arrow points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Down,
    Up,
    Right,
}

/// A straight arrow and where its label begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Route {
    pub(super) direction: Direction,
    pub(super) start: (u32, u32),
    pub(super) end: (u32, u32),
    /// The left end of the first base line.
    pub(super) label: (u32, u32),
}

/// The places of all states.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    boxes: BTreeMap<Phase, Rectangle>,
    /// Where the states end.
    pub(super) bottom: u32,
}

impl Layout {
    /// Returns the places of all states, below a heading that ends at `top`.
    pub(super) fn new(edges: &[Edge], top: u32) -> Self {
        let mut boxes = BTreeMap::new();
        let mut y = top;
        for (index, phase) in COLUMN.into_iter().enumerate() {
            let rectangle = Rectangle { x: LEFT, y, width: WIDTH, height: TITLE + height(phase, 2) };
            boxes.insert(phase, rectangle);
            let below = COLUMN.get(index + 1).map_or(VERDICTS.as_slice(), std::slice::from_ref);
            y = rectangle.bottom() + gap(edges, phase, below);
        }
        for (phase, x) in VERDICTS.into_iter().zip([LEFT, LEFT + WIDTH - VERDICT_WIDTH]) {
            let height = TITLE + LINE + height(phase, 1);
            boxes.insert(phase, Rectangle { x, y, width: VERDICT_WIDTH, height });
        }
        let bottom = boxes.values().map(Rectangle::bottom).max().unwrap_or(y);
        if let (Some(first), Some(last)) = (boxes.get(&Planning), boxes.get(&Auditing)) {
            let height = last.bottom() - first.y;
            boxes.insert(Aborted, Rectangle { x: SIDE, y: first.y, width: SIDE_WIDTH, height });
        }
        Self { boxes, bottom }
    }

    /// Returns the box of a state.
    pub(super) fn place(&self, phase: Phase) -> Option<Rectangle> {
        self.boxes.get(&phase).copied()
    }

    /// Returns the way of an arrow; none if this layout has no room for it.
    pub(super) fn route(&self, edge: &Edge) -> Option<Route> {
        let (from, to) = (self.place(edge.from)?, self.place(edge.to)?);
        let index = |phase| COLUMN.iter().position(|one| *one == phase);
        let down = |x| {
            let (start, end) = ((x, from.bottom()), (x, to.y));
            Route { direction: Direction::Down, start, end, label: (x + 12, start.1 + LINE + 4) }
        };
        match (index(edge.from), index(edge.to)) {
            (Some(above), Some(below)) if above + 1 == below => Some(down(DOWN)),
            (Some(below), Some(above)) if above + 1 == below => {
                let (start, end) = ((UP, from.y), (UP, to.bottom()));
                Some(Route { direction: Direction::Up, start, end, label: (UP + 12, end.1 + LINE + 4) })
            }
            (Some(last), None) if last + 1 == COLUMN.len() && VERDICTS.contains(&edge.to) => {
                Some(down(if to.x == LEFT { DOWN } else { UP }))
            }
            (Some(_), None) if edge.to == Aborted => {
                let y = from.y + from.height / 2;
                let (start, end) = ((from.right(), y), (to.x, y));
                Some(Route { direction: Direction::Right, start, end, label: (start.0 + 12, y - 8) })
            }
            _ => None,
        }
    }
}

/// Returns how high the events of a state are that stand in this many columns.
fn height(phase: Phase, columns: usize) -> u32 {
    let rows = u32::try_from(stays(phase).len().div_ceil(columns)).unwrap_or(0);
    if rows == 0 { 0 } else { rows * LINE + 12 }
}

/// Returns how much room the labels between a state and those below it need.
fn gap(edges: &[Edge], phase: Phase, below: &[Phase]) -> u32 {
    let between = edges.iter().filter(|edge| {
        (edge.from == phase && below.contains(&edge.to)) || (edge.to == phase && below.contains(&edge.from))
    });
    let lines = between.map(Edge::lines).max().unwrap_or(0);
    (lines * LINE + 26).max(52)
}

/// The states of work, in the order of the seed.
const COLUMN: [Phase; 6] = [Initialized, Planning, Reviewing, Executing, Claiming, Auditing];
const VERDICTS: [Phase; 2] = [Completed, Failed];
/// Where the column stands.
pub(super) const LEFT: u32 = 40;
const WIDTH: u32 = 620;
const VERDICT_WIDTH: u32 = 300;
/// Where the aborted state stands.
const SIDE: u32 = 815;
const SIDE_WIDTH: u32 = 145;
/// Where the arrows down and up run. Each lies over one of the verdicts.
const DOWN: u32 = 90;
const UP: u32 = 400;
/// The height of a title, and of a line of text.
pub(super) const TITLE: u32 = 36;
pub(super) const LINE: u32 = 16;

#[cfg(test)]
mod tests {
    use super::{super::machine::edges, *};

    /// LED-04
    #[test]
    fn every_state_has_a_place_and_every_transition_a_way() {
        let edges = edges();
        let layout = Layout::new(&edges, 100);
        for phase in Phase::ALL {
            assert!(layout.place(phase).is_some(), "{phase} is not drawn");
        }
        for edge in &edges {
            assert!(layout.route(edge).is_some(), "{} to {} is not drawn", edge.from, edge.to);
        }
    }

    #[test]
    fn boxes_do_not_touch_each_other_and_arrows_go_through_none() {
        let edges = edges();
        let layout = Layout::new(&edges, 100);
        let boxes: Vec<Rectangle> = Phase::ALL.iter().map(|phase| layout.place(*phase).unwrap()).collect();
        let apart = |a: &Rectangle, b: &Rectangle| {
            a.right() < b.x || b.right() < a.x || a.bottom() < b.y || b.bottom() < a.y
        };
        for (index, one) in boxes.iter().enumerate() {
            assert!(boxes[index + 1..].iter().all(|other| apart(one, other)), "{one:?}");
        }
        for edge in &edges {
            let Route { start, end, .. } = layout.route(edge).unwrap();
            // What lies strictly between the two ends.
            let within = |a: u32, b: u32| if a == b { (a, 0) } else { (a.min(b) + 1, a.abs_diff(b) - 2) };
            let ((x, width), (y, height)) = (within(start.0, end.0), within(start.1, end.1));
            let way = Rectangle { x, y, width, height };
            assert!(boxes.iter().all(|other| apart(&way, other)), "{} to {}", edge.from, edge.to);
        }
    }

    #[test]
    fn labels_fit_between_the_boxes() {
        let edges = edges();
        let layout = Layout::new(&edges, 100);
        for edge in edges.iter().filter(|edge| edge.to != Aborted) {
            let route = layout.route(edge).unwrap();
            let last = route.label.1 + (edge.lines() - 1) * LINE;
            assert!(last + 6 <= route.start.1.max(route.end.1), "{} to {}", edge.from, edge.to);
        }
    }
}
