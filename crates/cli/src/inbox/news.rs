//! What happens to questions while somebody sits at the inbox: a thread follows the feed with a connection of its own,
//! looks at each question that was touched, and rings. It holds a few of them at most: whoever reads slowly is waited for.

use demur_api::{code::Code, confirmation::ConfirmationView, question::QuestionView};
use std::{
    io::{self, Write as _},
    os::unix::net::UnixStream,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
};

use crate::{
    client::{Client, Follow},
    confirm,
    failure::Failure,
    question,
};

/// Something that happened.
pub(super) enum News {
    /// A question was asked, or is no longer what it was.
    Touched(Box<QuestionView>),
    /// An operation was put before people, or was decided.
    Operation(Box<ConfirmationView>),
    /// Nothing more will be told.
    Ended(Failure),
}

/// Something that is rung to be looked at.
pub(super) struct Bell(UnixStream);

impl Bell {
    /// Returns both ends.
    pub(super) fn new() -> io::Result<(Self, UnixStream)> {
        let (ringer, bell) = UnixStream::pair()?;
        ringer.set_nonblocking(true)?;
        bell.set_nonblocking(true)?;
        Ok((Self(ringer), bell))
    }

    /// Returns another one of the same sound.
    pub(super) fn another(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    /// Rings; returns whether anybody may still hear it.
    pub(super) fn ring(&self) -> bool {
        match (&self.0).write_all(&[0]) {
            // It is full of rings that nobody has heard yet.
            Err(error) => error.kind() == io::ErrorKind::WouldBlock,
            Ok(()) => true,
        }
    }
}

/// Follows what happens from now on.
pub(super) fn follow(client: Client, bell: Bell) -> Receiver<News> {
    let (sender, receiver) = sync_channel(MAX_WAITING_NEWS);
    let (started, ready) = sync_channel(1);
    thread::spawn(move || {
        let ended = run(&client, &sender, &bell, &started);
        if let Err(error) = ended {
            // Nobody is left to be told if this fails.
            let _ = sender.send(News::Ended(error));
            bell.ring();
        }
    });
    // Nothing is missed between the list and the feed: the feed comes first. A thread that ended has said why.
    let _ = ready.recv();
    receiver
}

fn run(
    client: &Client,
    sender: &SyncSender<News>,
    bell: &Bell,
    started: &SyncSender<()>,
) -> Result<(), Failure> {
    let mut follow = Follow::new(client, None);
    follow.connect()?;
    let _ = started.send(());
    loop {
        let notice = follow.next()?;
        for id in notice.questions {
            let shown = match question::fetch(client, id) {
                Ok(shown) => shown,
                // A gap that was put again is gone under its old name, and what cannot be looked at now shows later.
                Err(error) if error.is_passing() || error.is(Code::QuestionUnknown) => continue,
                Err(error) => return Err(error),
            };
            if sender.send(News::Touched(Box::new(shown))).is_err() || !bell.ring() {
                return Ok(());
            }
        }
        for id in notice.confirmations {
            let shown = match confirm::fetch(client, id) {
                Ok(shown) => shown,
                Err(error) if error.is_passing() || error.is(Code::ConfirmationUnknown) => continue,
                Err(error) => return Err(error),
            };
            if sender.send(News::Operation(Box::new(shown))).is_err() || !bell.ring() {
                return Ok(());
            }
        }
    }
}

/// How many wait to be told.
const MAX_WAITING_NEWS: usize = 64;
