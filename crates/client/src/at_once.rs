//! Asking many brokers at the same time, so that one that does not answer holds nobody else up.

use std::collections::BTreeMap;
use std::thread;

use crate::address::Address;
use crate::cluster::{Cluster, is_idle};
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::options::Options;

/// How many brokers are asked at the same time, each by a thread that mostly waits.
const BROKERS_AT_ONCE: usize = 64;

/// What each broker said before it ended, and how it ended.
pub(crate) type Answers<T> = Vec<(T, Result<(), ClientError>)>;

/// What one broker is asked, and what came of it.
struct Task<'a, W, T> {
    address: &'a Address,
    work: &'a W,
    connection: Option<Connection>,
    found: T,
    outcome: Result<(), ClientError>,
}

impl<W, T> Task<'_, W, T> {
    fn run(
        &mut self,
        options: &Options,
        deadline: Deadline,
        ask: &impl Fn(&mut Connection, &W, Deadline, &mut T) -> Result<(), ClientError>,
    ) {
        if self.outcome.is_err() {
            return;
        }
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => match Connection::open(self.address, options, deadline) {
                Ok(connection) => connection,
                Err(error) => return self.outcome = Err(error),
            },
        };
        self.outcome = ask(&mut connection, self.work, deadline, &mut self.found);
        self.connection = Some(connection);
    }
}

impl Cluster {
    /// Lets `ask` ask each of these brokers once. The answers are in the order of the brokers.
    ///
    /// # Errors
    /// [`ClientError::Stopped`], and nothing else.
    pub(crate) fn at_once<W: Sync, T: Default + Send>(
        &mut self,
        brokers: &BTreeMap<Address, W>,
        deadline: Deadline,
        ask: impl Fn(&mut Connection, &W, Deadline, &mut T) -> Result<(), ClientError> + Sync,
    ) -> Result<Answers<T>, ClientError> {
        let mut tasks: Vec<Task<'_, W, T>> = Vec::with_capacity(brokers.len());
        for (address, work) in brokers {
            let connection = self.connections.remove(address).filter(is_idle);
            let outcome = match &connection {
                Some(_) => Ok(()),
                None => self.patience.refuses(address).map_or(Ok(()), Err),
            };
            tasks.push(Task { address, work, connection, found: T::default(), outcome });
        }
        let options = &self.options;
        for part in tasks.chunks_mut(BROKERS_AT_ONCE) {
            if let [task] = part {
                task.run(options, deadline, &ask);
                continue;
            }
            thread::scope(|scope| {
                for task in part {
                    scope.spawn(|| task.run(options, deadline, &ask));
                }
            });
        }
        let mut answers = Vec::with_capacity(tasks.len());
        for task in tasks {
            if let Some(connection) = task.connection {
                self.connections.insert(task.address.clone(), connection);
            }
            if let Err(ClientError::Stopped) = task.outcome {
                return Err(ClientError::Stopped);
            }
            self.patience.note(task.address, &task.outcome);
            answers.push((task.found, task.outcome));
        }
        Ok(answers)
    }
}
