//! `crew run`, started, killed and started again.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::processes::{self, Process};
use crate::wait;
use crate::world::World;

/// What `crew` says when another engine (or a git that one left behind) holds the repository.
const HELD: i32 = 4;

/// The engine of a world, in the foreground of nobody.
pub(crate) struct Crew {
    child: Child,
    root: PathBuf,
}

impl Crew {
    /// `crew run --until-idle`.
    pub(crate) fn start(world: &World) -> Self {
        Self {
            child: spawn(world),
            root: world.root().to_owned(),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How it ended by itself, if it has. One that was turned away, since a killed engine's git still ran, is started
    /// again and has not ended.
    pub(crate) fn ended(&mut self, world: &World) -> Option<ExitStatus> {
        let status = self.child.try_wait().unwrap()?;
        if status.code() == Some(HELD) {
            self.child = spawn(world);
            return None;
        }
        Some(status)
    }

    /// Waits for it to end by itself.
    pub(crate) fn end(&mut self, world: &World) -> ExitStatus {
        wait::until("the engine has ended", || self.ended(world))
    }

    /// SIGKILL, and to `others` in the same moment.
    pub(crate) fn kill(&mut self, others: &[Process]) {
        self.child.kill().unwrap();
        for other in others {
            other.kill();
        }
        self.child.wait().unwrap();
    }

    /// The next engine.
    pub(crate) fn restart(&mut self, world: &World) {
        self.child = spawn(world);
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // A test that failed leaves nothing running either.
        for _ in 0..3 {
            for process in processes::of_root(&self.root) {
                process.kill();
            }
        }
    }
}

fn spawn(world: &World) -> Child {
    let log = OpenOptions::new()
        .create(true)
        .append(true)
        .open(world.outside("engine.log"))
        .unwrap();
    program(world)
        .args(["run", "--until-idle"])
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap()
}

/// The program, as somebody with an empty home calls it.
pub(crate) fn program(world: &World) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crew"));
    command
        .current_dir(world.repo())
        .stdin(Stdio::null())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", world.root().join("home"))
        .env("XDG_STATE_HOME", world.state());
    command
}
