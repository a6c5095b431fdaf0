//! A clock by which something happens in the middle of something else: whoever looks at it at the chosen moment finds that
//! it has happened.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use demur_core::time::Timestamp;
use demur_sequencer::System;

use crate::office::Clock;

/// A clock by which something happens at one look.
#[derive(Clone)]
pub struct Meanwhile {
    clock: Clock,
    /// At which look from now on; zero for none.
    looks: Arc<AtomicUsize>,
    act: Arc<Mutex<dyn FnMut() + Send>>,
}

impl Meanwhile {
    pub fn new(clock: Clock, act: impl FnMut() + Send + 'static) -> Self {
        Self { clock, looks: Arc::default(), act: Arc::new(Mutex::new(act)) }
    }

    /// Has it happen at the look with this number from now on.
    pub fn at_look(&self, number: usize) {
        self.looks.store(number, Ordering::SeqCst);
    }
}

impl System for Meanwhile {
    fn now(&self) -> Timestamp {
        let left = self.looks.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |looks| looks.checked_sub(1));
        if left == Ok(1) {
            (self.act.lock().unwrap())();
        }
        self.clock.now()
    }

    fn fill(&self, bytes: &mut [u8]) {
        self.clock.fill(bytes);
    }
}
