//! `demur trace show --graph`: the states of a run as a picture, to standard output or to a new file.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use demur_api::code::Code;
use demur_desk::visible::visible_path;
use demur_ledger::{
    graph::Graph,
    name::TraceId,
    verify::{Report, Verdict},
};
use serde::Serialize;

use crate::{
    arguments::ShowTrace,
    context::Context,
    export::NewFile,
    failure::Failure,
    output::{Paint, Reply},
};

/// Where the picture goes.
pub(super) enum Place {
    Standard,
    File(PathBuf, NewFile),
}

/// Takes the place of a picture before any work is done.
pub(super) fn begin(context: &Context<'_>, arguments: &ShowTrace) -> Result<Place, Failure> {
    match arguments.out.as_deref().filter(|path| *path != Path::new("-")) {
        Some(path) => {
            Ok(Place::File(path.to_owned(), NewFile::begin(path, arguments.force, "write the graph")?))
        }
        None if context.output.is_json() => {
            let message =
                "expected --out FILE with --graph and --json: without it the graph goes to standard output";
            Err(Failure::input("USAGE", message).with_hint("the graph is SVG, not JSON"))
        }
        None => Ok(Place::Standard),
    }
}

impl Place {
    /// Draws the picture and says where it is.
    pub(super) fn draw(
        self,
        context: &mut Context<'_>,
        graph: &Graph,
        report: &Report,
    ) -> Result<(), Failure> {
        let trace = report.scope.trace;
        // Of a file that does not hold, an empty picture with its caution says more than this.
        if graph.is_empty() && report.verdict != Verdict::Fail {
            let message = format!("expected the trace of a run, found another kind of trace: {trace}");
            let error = Failure::of(Code::NotARun, message);
            return Err(error.with_hint("only runs have states: `demur trace list` shows them"));
        }
        let picture = graph.to_svg(report);
        match self {
            Self::Standard => context.output.write(picture.as_bytes()),
            Self::File(path, mut file) => {
                let trouble = |error| Failure::file("write the graph", &path, &error);
                file.write_all(picture.as_bytes()).map_err(trouble)?;
                file.finish()?;
                let (words, verdict) = (report.words.clone(), report.verdict);
                let file = path.to_string_lossy().into_owned();
                context.output.reply(&Drawn { file, trace, verdict, words })
            }
        }
    }
}

#[derive(Serialize)]
struct Drawn {
    file: String,
    trace: TraceId,
    verdict: Verdict,
    /// The verdict in words.
    words: String,
}

impl Reply for Drawn {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let file = visible_path(Path::new(&self.file));
        vec![
            format!("{} the states of trace {} to {file}", paint.good("Drawn:"), self.trace),
            format!("{}  {}", paint.strong("verdict"), self.words),
        ]
    }
}
