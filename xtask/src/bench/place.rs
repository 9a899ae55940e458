//! Where it is measured, and with what.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::program;

/// A folder of this run's own, in memory where the machine has such a file system: on a disk the deletions of
/// one method slow the next one's checkouts.
pub(crate) struct Place {
    folder: PathBuf,
    /// The program that is measured: a copy, so that a build meanwhile does not change it.
    pub(crate) crew: PathBuf,
    in_memory: bool,
}

impl Place {
    pub(crate) fn new(built: &Path) -> Result<Self, String> {
        let memory = Path::new("/dev/shm");
        let name = format!("crew-bench-{}", std::process::id());
        let tried = |folder: PathBuf| fs::create_dir(&folder).map(|()| folder);
        let (folder, in_memory) = match tried(memory.join(&name)) {
            Ok(folder) => (folder, true),
            Err(_) => (
                tried(std::env::temp_dir().join(&name)).map_err(|e| format!("a temp folder: {e}"))?,
                false,
            ),
        };
        let crew = folder.join("crew");
        fs::copy(built, &crew).map_err(|error| format!("{}: {error}", built.display()))?;
        let place = Self {
            folder,
            crew,
            in_memory,
        };
        place.write(
            "home/.gitconfig",
            "[user]\n\tname = Bench\n\temail = bench@example.org\n",
        )?;
        Ok(place)
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.folder.join(relative)
    }

    pub(crate) fn write(&self, relative: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.path(relative);
        let failed = |error| format!("{}: {error}", path.display());
        fs::create_dir_all(path.parent().unwrap_or(&self.folder)).map_err(failed)?;
        fs::write(&path, text).map_err(failed)?;
        Ok(path)
    }

    /// A shell script that agents or methods are; executable.
    pub(crate) fn script(&self, relative: &str, text: &str) -> Result<PathBuf, String> {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.write(relative, text)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }

    pub(crate) fn remove(&self, relative: &str) -> Result<(), String> {
        match fs::remove_dir_all(self.path(relative)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(format!("{relative}: {error}")),
            _ => Ok(()),
        }
    }

    /// A program with an environment of its own: nobody's settings, no terminal, what it prints thrown away.
    /// `before` is looked through for programs before the PATH.
    #[expect(clippy::disallowed_methods, reason = "what is measured are programs")]
    pub(crate) fn command(&self, program: impl AsRef<OsStr>, before: Option<&Path>) -> Command {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let paths = before
            .map(Path::to_owned)
            .into_iter()
            .chain(std::env::split_paths(&path));
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::join_paths(paths).unwrap_or(path.clone()))
            .env("HOME", self.path("home"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("LC_ALL", "C")
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Runs a program to its end for what it prints.
    pub(crate) fn said(&self, program: impl AsRef<OsStr>, arguments: &[&str]) -> Result<String, String> {
        self.said_in(&self.folder, program, arguments)
    }

    /// The same in another folder.
    pub(crate) fn said_in(
        &self,
        folder: &Path,
        program: impl AsRef<OsStr>,
        arguments: &[&str],
    ) -> Result<String, String> {
        let output = self
            .command(program, None)
            .current_dir(folder)
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .output()
            .map_err(|error| format!("{}: {error}", arguments.join(" ")))?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
            return Err(format!(
                "`{}` failed ({}): {why}",
                arguments.join(" "),
                output.status
            ));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> Result<String, String> {
        self.said("git", arguments)
    }

    /// The machine in general words.
    pub(crate) fn described(&self) -> String {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let system = program::output(&self.folder, "uname", &["-s", "-r", "-m"]).unwrap_or_default();
        let git = program::output(&self.folder, "git", &["version"]).unwrap_or_default();
        let disk = if self.in_memory {
            "in memory (tmpfs)"
        } else {
            "on disk"
        };
        let kernel: Vec<&str> = system.split_whitespace().collect();
        let kernel = match kernel[..] {
            [name, release, machine] => {
                let release = release.split('.').take(2).collect::<Vec<_>>().join(".");
                format!(
                    "{name} {} {machine}",
                    release.split('-').next().unwrap_or_default()
                )
            }
            _ => "an unknown system".to_owned(),
        };
        format!("{cores} cores, {kernel}, {}, files {disk}", git.trim())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            eprintln!("{} is left: {error}", self.folder.display());
        }
    }
}
