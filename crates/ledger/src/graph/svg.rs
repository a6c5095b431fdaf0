//! The picture as SVG text. What happened is drawn in thick whole lines and carries numbers, what did not in thin
//! broken ones: nothing is said by colour alone. Text from the trace is escaped and clipped.

use std::fmt::Write as _;

use demur_core::words::{ELLIPSIS, clipped, counted};

use super::{
    Graph, Span,
    layout::{Direction, LEFT, LINE, Layout, Rectangle, Route, Shape, TITLE},
    machine::{Edge, edges, stays},
};
use crate::{event_type::EventType, markup::escape, name::TraceId, state::Phase, verify::Report};

/// Where a picture stands.
#[derive(Clone, Copy)]
pub(super) enum Setting<'a> {
    /// Alone, under the verdict on the file that it comes from.
    File(&'a Report),
    /// In a page that has rules for its classes and says elsewhere what holds.
    Page(TraceId),
}

impl Setting<'_> {
    const fn trace(self) -> TraceId {
        match self {
            Self::File(report) => report.scope.trace,
            Self::Page(trace) => trace,
        }
    }

    /// Returns the attributes of the root, and the style that it brings along.
    const fn root(self) -> (&'static str, &'static str) {
        match self {
            Self::File(_) => ("xmlns=\"http://www.w3.org/2000/svg\"", STYLE),
            Self::Page(_) => ("class=\"states\"", ""),
        }
    }
}

/// Returns the picture. Writing to a String cannot fail.
pub(super) fn render(graph: &Graph, setting: Setting<'_>) -> String {
    let edges = edges();
    let heading = heading(graph, setting);
    let rows = u32::try_from(heading.len()).unwrap_or(0);
    let layout = Layout::new(&edges, HEAD + rows * HEAD_LINE);
    let height = layout.bottom + FOOT;
    let (root, style) = setting.root();
    let mut out = format!(
        "<svg {root} viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-labelledby=\"title desc\">\n<title id=\"title\">{}</title>\n<desc id=\"desc\">{}</desc>\n{style}",
        escape(&title(graph, setting)),
        escape(&description(graph, &edges)),
    );
    let _ = writeln!(out, "<rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\"/>");
    for (index, (class, line)) in (1..).zip(&heading) {
        text(&mut out, (LEFT, 16 + index * HEAD_LINE), class, &clipped(line, HEAD_CLIP, ELLIPSIS));
    }
    for edge in &edges {
        if let Some(route) = layout.route(edge) {
            arrow(&mut out, graph, edge, &route);
        }
    }
    for phase in Phase::ALL {
        if let Some(place) = layout.place(phase) {
            state(&mut out, graph, phase, &place);
        }
    }
    legend(&mut out, layout.bottom);
    out.push_str("</svg>\n");
    out
}

fn title(graph: &Graph, setting: Setting<'_>) -> String {
    let trace = setting.trace();
    let events = counted(graph.events, "event");
    match graph.stands {
        Some((phase, at)) => format!("Trace {trace}: {events}, {phase} after event {at}"),
        None => format!("Trace {trace}: {events}, no state could be followed"),
    }
}

/// Returns the lines above the picture, each with its class.
fn heading(graph: &Graph, setting: Setting<'_>) -> Vec<(&'static str, String)> {
    let mut lines = vec![("title", title(graph, setting))];
    lines.extend(graph.task.iter().map(|task| ("", format!("Task: {task}"))));
    if let Setting::File(report) = setting {
        lines.push(("", format!("Verdict: {}", report.words)));
        lines.extend(report.caution().map(|caution| ("strong", format!("{caution}."))));
    }
    lines.extend(
        graph.lost.map(|at| ("strong", format!("From event #{at} on the state could not be followed."))),
    );
    lines
}

/// Returns the picture in words.
fn description(graph: &Graph, edges: &[Edge]) -> String {
    let mut words = String::from("The nine states of a run and the transitions between them.");
    for phase in Phase::ALL {
        let entered = graph.entered.get(&phase);
        let visited = match entered {
            Some(span) => format!("entered {span}"),
            None if graph.visited(phase) => "where the run began".to_owned(),
            None => "not reached".to_owned(),
        };
        let stands = if graph.stands_in(phase).is_some() { ", where the run stands" } else { "" };
        let _ = write!(words, " {phase}: {visited}{stands}.");
    }
    for edge in edges.iter().filter(|edge| graph.taken(edge)) {
        let _ = write!(words, " {}.", edge_words(graph, edge));
    }
    words
}

fn edge_words(graph: &Graph, edge: &Edge) -> String {
    let event = |event: &EventType| match graph.span(edge.from, *event, edge.to) {
        Some(span) => format!("{event} {span}"),
        None => format!("{event}, which did not happen"),
    };
    let events: Vec<_> = edge.events.iter().map(|(kind, _)| event(kind)).collect();
    format!("{} to {}: {}", edge.from, edge.to, events.join("; "))
}

fn arrow(out: &mut String, graph: &Graph, edge: &Edge, route: &Route) {
    let (start, end, label) = (route.start, route.end, route.label);
    let taken = graph.taken(edge);
    // The line ends inside the head, so that it does not blunt the tip.
    let (turned, (x, y)) = match route.direction {
        Direction::Down => (0, (end.0, end.1 - 8)),
        Direction::Up => (180, (end.0, end.1 + 8)),
        Direction::Right => (-90, (end.0 - 8, end.1)),
    };
    let _ = write!(
        out,
        "<g id=\"{}-{}\"><title>{}</title><path class=\"{}\" d=\"M{} {}L{x} {y}\"/>\
         <path class=\"{}\" transform=\"translate({} {}) rotate({turned})\" d=\"M0 0l-6 -12h12z\"/>",
        edge.from,
        edge.to,
        escape(&edge_words(graph, edge)),
        line_class(taken),
        start.0,
        start.1,
        if taken { "head" } else { "head hollow" },
        end.0,
        end.1,
    );
    let mut y = label.1;
    for (event, conditions) in &edge.events {
        let span = graph.span(edge.from, *event, edge.to);
        happening(out, (label.0, y), *event, span, route.direction == Direction::Right);
        y += LINE;
        for condition in conditions.iter().map(|when| when.as_str()).filter(|words| !words.is_empty()) {
            text(out, (label.0, y), "faint", condition);
            y += LINE;
        }
    }
    out.push_str("</g>\n");
}

/// Draws an event by its name, with what happened beside it, or below it where there is little room.
fn happening(out: &mut String, (x, y): (u32, u32), event: EventType, span: Option<&Span>, narrow: bool) {
    let Some(span) = span else {
        text(out, (x, y), "code faint", event.as_str());
        return;
    };
    if narrow {
        text(out, (x, y), "code strong", event.as_str());
        text(out, (x, y + 22), "code strong", &span.to_string());
    } else {
        text(out, (x, y), "code strong", &format!("{event} {span}"));
    }
}

fn state(out: &mut String, graph: &Graph, phase: Phase, place: &Rectangle) {
    let stands = graph.stands_in(phase);
    let _ = write!(out, "<g id=\"{phase}\">");
    rectangle(out, place, 0, line_class(graph.visited(phase)));
    if stands.is_some() {
        rectangle(out, place, 5, "line on");
    }
    let (x, y) = (place.x + 16, place.y + 25);
    let name = if graph.visited(phase) { "name strong" } else { "name faint" };
    text(out, (x, y), name, phase.as_str());
    let below = told(out, graph, phase, place);
    let columns = if place.shape() == Shape::Wide { 2 } else { 1 };
    let mut at = (x, below);
    for (index, event) in (1..).zip(stays(phase)) {
        happening(out, at, event, graph.span(phase, event, phase), place.shape() == Shape::Slim);
        at = if index % columns == 0 { (x, at.1 + LINE) } else { (x + (place.width - 16) / 2, at.1) };
    }
    out.push_str("</g>\n");
}

/// Draws how often the run came to a state and whether it is there; returns where the next line stands.
fn told(out: &mut String, graph: &Graph, phase: Phase, place: &Rectangle) -> u32 {
    let came = match graph.entered.get(&phase) {
        Some(span) => format!("entered {span}"),
        None if graph.visited(phase) => "the beginning".to_owned(),
        None => "not reached".to_owned(),
    };
    let mark = if phase.is_final() { "ended here" } else { "stands here" };
    let mark = graph.stands_in(phase).map(|_| mark);
    let joined = || mark.map_or(came.clone(), |mark| format!("{came}, {mark}"));
    let (x, y) = (place.x + 16, place.y + 25);
    match place.shape() {
        Shape::Wide => {
            text(out, (place.right() - 16, y), "end", &joined());
            place.y + TITLE + 12
        }
        Shape::Middle => {
            text(out, (x, y + 18), "", &joined());
            y + 18 + LINE + 2
        }
        Shape::Slim => {
            text(out, (x, y + 18), "", &came);
            text(out, (x, y + 18 + LINE), "", mark.unwrap_or_default());
            y + 18 + 3 * LINE
        }
    }
}

fn rectangle(out: &mut String, place: &Rectangle, inset: u32, class: &str) {
    let _ = write!(
        out,
        "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"8\"/>",
        place.x + inset,
        place.y + inset,
        place.width - 2 * inset,
        place.height - 2 * inset
    );
}

fn legend(out: &mut String, bottom: u32) {
    let y = bottom + 40;
    for (x, class, words) in [
        (LEFT, line_class(true), "happened: how often, first and last event"),
        (LEFT + 340, line_class(false), "possible, did not happen"),
    ] {
        let _ = write!(out, "<path class=\"{class}\" d=\"M{x} {}h40\"/>", y - 4);
        text(out, (x + 52, y), "", words);
    }
    let sample = Rectangle { x: LEFT + 580, y: y - 16, width: 40, height: 24 };
    rectangle(out, &sample, 0, line_class(true));
    rectangle(out, &sample, 5, line_class(true));
    text(out, (LEFT + 632, y), "", "where the run stands");
    text(out, (LEFT, y + 26), "faint", NOTE);
}

fn text(out: &mut String, (x, y): (u32, u32), class: &str, words: &str) {
    if words.is_empty() {
        return;
    }
    let _ = write!(out, "<text x=\"{x}\" y=\"{y}\" class=\"{class}\">{}</text>", escape(words));
}

const fn line_class(happened: bool) -> &'static str {
    if happened { "line on" } else { "line off" }
}

const NOTE: &str = "Names in a box: events that leave the state as it is. Any state becomes failed when a check finds \
                    the record damaged; no event does that.";
/// The width of the picture; its height follows from the table.
const WIDTH: u32 = 1000;
/// The room above and below the states.
const HEAD: u32 = 44;
const HEAD_LINE: u32 = 22;
const FOOT: u32 = 90;
/// How many characters a line of the heading holds.
const HEAD_CLIP: usize = 130;

const STYLE: &str = "<style>
text { font: 12px system-ui, sans-serif; fill: #111; }
.title { font-size: 18px; font-weight: 700; }
.name { font-size: 16px; }
.code { font-family: ui-monospace, monospace; font-size: 11px; }
.strong { font-weight: 700; }
.faint { fill: #595959; }
.end { text-anchor: end; }
.paper { fill: #fff; }
.line { fill: none; stroke: #111; }
.on { stroke-width: 2.5; }
.off { stroke: #595959; stroke-dasharray: 5 4; }
.head { fill: #111; }
.hollow { fill: #fff; stroke: #595959; }
@media screen and (prefers-color-scheme: dark) {
text, .head { fill: #f0f0f0; }
.faint { fill: #b0b0b0; }
.paper { fill: #161616; }
.line { stroke: #f0f0f0; }
.off { stroke: #b0b0b0; }
.hollow { fill: #161616; stroke: #b0b0b0; }
}
</style>
";
