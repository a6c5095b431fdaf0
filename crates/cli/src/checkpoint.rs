//! `demur checkpoint`: the registry fixes, by one hash, what every trace of the store holds at this moment.

use demur_api::{
    call::ApiRequest,
    operation::{MakeCheckpoint, NoArguments, Nothing},
    store::CheckpointView,
};

use crate::{
    client::{Client, SocketRequest},
    context::Context,
    failure::Failure,
    output::{Paint, Reply, counted},
};

/// Records a checkpoint.
pub(crate) fn run(context: &mut Context<'_>) -> Result<(), Failure> {
    let request = ApiRequest::<MakeCheckpoint>::get(NoArguments {}, Nothing {});
    let recorded = Client::of_store(context)?.call_with(&request, SocketRequest::once)?;
    context.output.reply(&recorded)
}

impl Reply for CheckpointView {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let traces = counted(self.traces, "trace");
        vec![
            format!("{} {traces}, the registry among them.", paint.good("Recorded a checkpoint over")),
            format!("  root         {}", self.root),
            format!("  event        {} of the registry, {}", self.event.sequence, self.event.hash),
            "Keep the event's number and hash elsewhere: `demur verify --against` tells then if anything was rewritten."
                .to_owned(),
        ]
    }
}
