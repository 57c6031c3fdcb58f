//! Random bytes of the operating system, for ids.

use crate::random::Random;

/// The operating system's generator.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    fn fill(&mut self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system gives random bytes");
    }
}
