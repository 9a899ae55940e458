//! `crew run`, started, killed and started again.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::kill::processes::{self, Process};
use crate::kill::world::World;
use testkit::wait;

/// What `crew` says when another engine (or a git that one left behind) holds the repository.
pub(crate) const HELD: i32 = 4;

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

    /// How it ended by itself, if it has. One that was turned away, since a killed engine's git still ran, is
    /// started again and has not ended.
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
    logged(world).args(["run", "--until-idle"]).spawn().unwrap()
}

/// Runs the program: whether it went well, what it printed, and what it complained of.
pub(crate) fn said(world: &World, args: &[&str]) -> (bool, String, String) {
    let out = program(world).args(args).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.success(), text(&out.stdout), text(&out.stderr))
}

/// The program, which says what it says to a file that is kept.
pub(crate) fn logged(world: &World) -> Command {
    let log = OpenOptions::new()
        .create(true)
        .append(true)
        .open(world.outside("engine.log"))
        .unwrap();
    let mut command = program(world);
    command.stdout(log.try_clone().unwrap()).stderr(log);
    command
}

/// Where a crew is that was installed while the first one ran.
fn next(world: &World) -> PathBuf {
    world.outside("next-crew")
}

/// Installs another crew, which every later start is of: what it does is the same, its file and its bytes are
/// not.
pub(crate) fn upgrade(world: &World) {
    let mut bytes = std::fs::read(env!("CARGO_BIN_EXE_crew")).unwrap();
    bytes.extend(b"another build");
    let path = next(world);
    std::fs::write(&path, bytes).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).unwrap();
}

/// The program, as somebody with an empty home calls it.
pub(crate) fn program(world: &World) -> Command {
    let next = next(world);
    let installed = Path::new(env!("CARGO_BIN_EXE_crew"));
    let mut command = Command::new(if next.exists() { &next } else { installed });
    command
        .current_dir(world.repo())
        .stdin(Stdio::null())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("TZ", "UTC")
        .env("HOME", world.root().join("home"))
        .env("XDG_STATE_HOME", world.state());
    command
}
