//! Verification over HTTP: a file goes in, a report comes out, the same as from `demur verify --json`. The data folder has
//! no part in it.

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek as _},
    time::{Duration, Instant},
};

use axum::{
    Extension, Json,
    body::Body,
    extract::{Request, State},
};
use bytes::{Buf as _, Bytes};
use demur_api::{code::Code, refusal::Refusal, scope::Scope};
use demur_desk::{
    access::{self, Caller},
    spool,
    verification::{Guesses, PlanEvents, Verification, VerifyParameters},
};
use demur_ledger::{
    facts::VerificationProfile,
    verify::{Options, Report, StatedChecks, VerifyError, verify, verify_whole},
};
use http_body_util::{BodyExt as _, Limited};
use hyper::{Method, StatusCode};
use tokio::{sync::mpsc, task, time};

use super::traces::LINES;
use crate::{
    api::{Api, Route},
    problem::Problem,
    read::{self, Parameters},
    service::Shared,
};

/// Adds the operation.
pub(super) fn add(api: Api) -> Api {
    api.with(
        Route::new(
            Method::POST,
            "/v1/verify",
            "verify",
            READING,
            "Verify an export of up to 64 MiB and say what it proves",
        )
        .query::<VerifyParameters>()
        .takes_bytes(LINES)
        .gives::<Verification>(StatusCode::OK, "What was found; the verdict is in it"),
        check,
    )
}

async fn check(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Parameters(asked): Parameters<VerifyParameters>,
    request: Request,
) -> Result<Json<Verification>, Problem> {
    read::expect_media(request.headers(), &[LINES, "application/x-ndjson", "application/octet-stream"])?;
    let turn = service.desk.large_turn(&caller)?;
    let begun = Instant::now();
    let (sender, receiver) = mpsc::channel(MAX_WAITING_PARTS);
    let verifying = task::spawn_blocking(move || {
        let _turn = turn;
        verify_twice_read(&mut PartReader { receiver, part: Bytes::new() }, asked)
    });
    let read =
        time::timeout(UPLOAD_TIMEOUT, pour(request.into_body(), sender, service.timeouts().body)).await;
    let verified = verifying.await.map_err(|error| Refusal::bug(&error))?;
    // What is wrong with the request explains what is wrong with the file.
    read.map_err(|_| too_slow())??;
    let (report, guesses) = verified?;
    Ok(Json(Verification::new(report, None, guesses, begun.elapsed())))
}

/// Keeps what comes in a file without a name, and verifies that: the checks that an export states are looked for first, and
/// guesses afterwards.
fn verify_twice_read(
    upload: &mut PartReader,
    asked: VerifyParameters,
) -> Result<(Report, Option<Guesses>), Refusal> {
    let mut file = spool::nameless().map_err(|error| Refusal::bug(&error))?;
    let kept = io::copy(upload, &mut file).and_then(|_| file.rewind());
    kept.map_err(|error| unreadable(&error.into()))?;
    let checks = again(&file).and_then(StatedChecks::find).map_err(|error| unreadable(&error.into()))?;
    let profile = asked.profile.unwrap_or(VerificationProfile::Default);
    let options = Options { threads: VERIFIER_THREADS, checks, profile, ..Options::default() };
    let reader = again(&file).map_err(|error| unreadable(&error.into()))?;
    let report = verify(reader, &options, &mut |_| ()).map_err(|error| unreadable(&error))?;
    let guesses = || Guesses::of(&report, None, || PlanEvents::read(again(&file)?, &report));
    let guesses = (asked.no_guess == Some(true)).then(guesses).transpose();
    Ok((report, guesses.map_err(|error| Refusal::bug(&error))?))
}

/// Reads a file from its beginning.
fn again(mut file: &File) -> io::Result<BufReader<&File>> {
    file.rewind()?;
    Ok(BufReader::with_capacity(READ_BUFFER_BYTES, file))
}

/// Verifies an export that is here already, for a caller who may.
pub(super) async fn verified(
    service: &Shared,
    caller: &Caller,
    export: Vec<u8>,
) -> Result<Verification, Refusal> {
    access::admit(caller, READING)?;
    let (turn, begun) = (service.desk.large_turn(caller)?, Instant::now());
    let verifying = task::spawn_blocking(move || {
        let _turn = turn;
        verify_whole(&export, &Options { threads: VERIFIER_THREADS, ..Options::default() })
    });
    let verified = verifying.await.map_err(|error| Refusal::bug(&error))?;
    let report = verified.map_err(|error| unreadable(&error))?;
    Ok(Verification::new(report, None, None, begun.elapsed()))
}

/// Hands a body over part by part, whether or not anybody still wants the rest.
async fn pour(body: Body, sender: mpsc::Sender<Bytes>, timeout: Duration) -> Result<(), Problem> {
    let mut body = Limited::new(body, MAX_FILE_BYTES);
    loop {
        let frame = time::timeout(timeout, body.frame()).await.map_err(|_| too_slow())?;
        let Some(frame) = frame else { return Ok(()) };
        let frame = frame.map_err(|error| {
            read::broken(&*error, MAX_FILE_BYTES).with_cure("`demur verify FILE` takes files of any size")
        })?;
        if let Ok(part) = frame.into_data() {
            // The verifier may have seen enough before the end.
            let _ = sender.send(part).await;
        }
    }
}

/// What is handed over, as something to read on another thread.
struct PartReader {
    receiver: mpsc::Receiver<Bytes>,
    part: Bytes,
}

impl Read for PartReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.part.is_empty() {
            match self.receiver.blocking_recv() {
                Some(part) => self.part = part,
                None => return Ok(0),
            }
        }
        let length = self.part.len().min(buffer.len());
        self.part.copy_to_slice(&mut buffer[..length]);
        Ok(length)
    }
}

fn unreadable(error: &VerifyError) -> Refusal {
    let hint = match error {
        VerifyError::FormatNewer { .. } => "the file may be sound: this version of demur cannot tell",
        _ => "expected is a file that demur exported",
    };
    Refusal::new(Code::of(error.code()), error).with_cure(hint)
}

fn too_slow() -> Problem {
    Problem::new(Code::TooSlow, "expected the file to arrive without such pauses")
}

/// Who may have a file verified.
const READING: &[Scope] = &[Scope::Read];
/// How large a file may be.
const MAX_FILE_BYTES: usize = 64 << 20;
/// How long a file may take to arrive.
const UPLOAD_TIMEOUT: Duration = Duration::from_mins(5);
/// How many parts wait for the verifier.
const MAX_WAITING_PARTS: usize = 16;
/// How much is read at a time.
const READ_BUFFER_BYTES: usize = 1 << 16;
/// How many threads one verification uses: others want to be served meanwhile.
const VERIFIER_THREADS: usize = 1;
