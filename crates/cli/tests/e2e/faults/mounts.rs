//! A test in a mount namespace of its own: what it mounts is nobody else's, and gone with it, however it
//! ends.

use std::path::Path;
use std::process::Command;

/// Tells the inner run from the outer, and where it has its own file system.
const INSIDE: &str = "MATRIX_INSIDE";

/// Runs the test's body in a process of its own that may mount. `module` is the caller's `module_path!()`.
///
/// As root that is a mount namespace; as anyone else a user namespace too, in which one is root. A machine
/// that allows neither fails the test: nothing is skipped.
pub(crate) fn alone(module: &str, name: &str, body: impl FnOnce()) {
    if variable(INSIDE).is_some() {
        std::fs::create_dir(inside().join("bin")).unwrap();
        body();
        return;
    }
    let module = module.split_once("::").map_or("", |(_, inner)| inner);
    let test = format!("{module}::{name}");
    let folder = tempfile::tempdir().unwrap();
    let how = if rustix::process::geteuid().is_root() {
        "-m"
    } else {
        "-rm"
    };
    let script = "mount -t tmpfs -o size=512m,mode=700 crew-matrix \"$1\" || exit 99; shift; exec \"$@\"";
    // A test may put programs of its own before the machine's.
    let bin = folder.path().join("bin");
    let mut path = vec![bin];
    path.extend(std::env::split_paths(&testkit::world::path_variable()));
    let path = std::env::join_paths(path).unwrap();
    let mut command = program("unshare");
    command
        .args([how, "sh", "-c", script, "sh"])
        .arg(folder.path())
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &test, "--nocapture", "--test-threads=1"])
        .env(INSIDE, folder.path())
        .env("PATH", path)
        .env("TMPDIR", folder.path());
    let output = command.output().unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        output.status.code() != Some(99) && !said.contains("unshare failed"),
        "this test mounts file systems, as root or in a user namespace (`unshare -rm`), and may do neither here:\n{said}"
    );
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{test}:\n{said}"
    );
    println!("{said}");
}

/// Runs a program of the machine; must succeed.
pub(crate) fn must(name: &str, args: &[&std::ffi::OsStr]) {
    let output = program(name).args(args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} {args:?}: {said}");
}

/// A program of the machine.
pub(crate) fn program(name: &str) -> Command {
    #[expect(clippy::disallowed_methods, reason = "a test plays the machine's owner")]
    Command::new(name)
}

/// The inner run's own file system.
pub(crate) fn inside() -> std::path::PathBuf {
    variable(INSIDE).unwrap().into()
}

fn variable(name: &str) -> Option<std::ffi::OsString> {
    #[expect(clippy::disallowed_methods, reason = "a test tells itself which half it is")]
    std::env::var_os(name)
}

/// Whether there is such a file or folder, links not followed.
pub(crate) fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Tests whose bodies run in a mount namespace of their own.
macro_rules! cells {
    ($($(#[$meta:meta])* fn $name:ident() $body:block)*) => {
        $(
            $(#[$meta])*
            #[test]
            fn $name() {
                $crate::faults::mounts::alone(module_path!(), stringify!($name), || $body);
            }
        )*
    };
}
pub(crate) use cells;
