//! A server that is told to end: asked, waited for, and only where somebody says so killed.

use std::{
    thread,
    time::{Duration, Instant},
};

use demur_api::{
    call::ApiRequest,
    code::Code,
    operation::{CheckHealth, NoArguments, Nothing, StopServer},
};
use demur_server::credentials::socket::PROCESS_HEADER;
use demur_store::folder::Folder;
use hyper::{Response, body::Incoming};
use tokio::time;

use super::{
    Client, FolderUser, RETRY_INTERVAL, SocketRequest, Unanswered, folder_user::kill_server, lost, reason,
    socket_api::typed_for, whole,
};
use crate::{failure::Failure, output::counted_as};

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// In good order.
    Asked,
    /// It was killed.
    Killed,
}

impl Client {
    /// Ends the server and waits until it is gone. One that has not ended in time is killed if `force` says so: what it
    /// acknowledged is on the disk. Works with a server of any version.
    pub(crate) fn stop(&self, timeout: Duration, force: bool) -> Result<Ended, Failure> {
        let until = Instant::now() + timeout;
        if let Some(process) = self.ask_to_end(until)?
            && self.has_ended(process, until)
        {
            return Ok(Ended::Asked);
        }
        if !force {
            return Err(self.still_runs(timeout));
        }
        let killed = kill_server(self.api.folder());
        match killed.map_err(|error| Failure::of(Code::ServerTrouble, error))? {
            Some(process) if self.has_ended(process, Instant::now() + DEATH_TIMEOUT) => Ok(Ended::Killed),
            _ => Err(self.still_runs(timeout)),
        }
    }

    /// Asks the server to end; returns its process, or none where it says nothing in time. One whose socket file is gone is given the time to put it back.
    fn ask_to_end(&self, until: Instant) -> Result<Option<u32>, Failure> {
        let call =
            SocketRequest::of(&ApiRequest::<StopServer>::get(NoArguments {}, Nothing {}))?.of_any_version();
        loop {
            match self.request_until(&call, until) {
                None => return Ok(None),
                Some(Ok(response)) if response.status().is_success() => return Ok(process(&response)),
                Some(Ok(response)) => {
                    let said = self.block_on(whole(response));
                    return Err(said.map_or_else(|error| lost(&error), |response| reason(&response)).into());
                }
                Some(Err(Unanswered::NoServer)) if FolderUser::server(self.api.folder()).is_some() => {}
                Some(Err(Unanswered::NoServer)) => return Err(self.api.no_server().into()),
                Some(Err(Unanswered::Lost(error))) => return Err(lost(&error).into()),
                Some(Err(Unanswered::Refused(refusal))) => return Err(refusal.into()),
            }
            if Instant::now() > until {
                return Ok(None);
            }
            thread::sleep(RETRY_INTERVAL);
        }
    }

    /// Waits until a server is gone; returns whether it is.
    fn has_ended(&self, process: u32, until: Instant) -> bool {
        // A lock that is free says that it ended. One that is not says nothing: whoever waits for an answer may have
        // started the next server by then, which is another process.
        while Folder::at(self.api.folder()).lock().is_err() && !self.is_replaced(process, until) {
            if Instant::now() > until {
                return false;
            }
            thread::sleep(RETRY_INTERVAL);
        }
        true
    }

    /// Returns whether another process answers by now.
    fn is_replaced(&self, before: u32, until: Instant) -> bool {
        let call = SocketRequest::of(&ApiRequest::<CheckHealth>::get(NoArguments {}, Nothing {})).ok();
        let answered = call.and_then(|call| self.request_until(&call.of_any_version(), until)?.ok());
        answered.is_some_and(|response| process(&response) != Some(before))
    }

    fn still_runs(&self, timeout: Duration) -> Failure {
        let (folder, seconds) = (self.api.folder(), counted_as(timeout.as_secs(), "second", "seconds"));
        let Some(FolderUser { process, .. }) = FolderUser::server(folder) else {
            let message = format!("expected the server to end within {seconds}, found it running");
            return Failure::refused(STILL_RUNNING, message).with_hint(
                "its process cannot be seen from here: end it as the user or in the container that runs it",
            );
        };
        let message =
            format!("expected the server to end within {seconds}, found process {process} still running");
        let [force, longer] = ["stop --force", "stop --timeout 1m"].map(|command| typed_for(folder, command));
        let hint =
            format!("`{longer}` waits longer; `{force}` kills it, and nothing that was recorded is lost");
        Failure::refused(STILL_RUNNING, message).with_hint(hint)
    }

    /// Sends a request; returns none where no answer comes in time.
    fn request_until(
        &self,
        call: &SocketRequest,
        until: Instant,
    ) -> Option<Result<Response<Incoming>, Unanswered>> {
        let left = until.saturating_duration_since(Instant::now());
        self.block_on(async { time::timeout(left, self.api.open(call)).await.ok() })
    }
}

/// Returns the process that answered.
fn process(response: &Response<Incoming>) -> Option<u32> {
    response.headers().get(PROCESS_HEADER)?.to_str().ok()?.parse().ok()
}

const STILL_RUNNING: &str = "STILL_RUNNING";
/// How long a process that was killed may take to be gone.
const DEATH_TIMEOUT: Duration = Duration::from_secs(5);
