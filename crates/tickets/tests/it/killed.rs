//! Writes that are killed in the middle by a real SIGKILL, in a child process that runs this program again.

use std::fs::{File, Permissions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use tickets::*;

use crate::{Queue, at, id};

/// Runs [`killed_write`] in a child process, which is killed at `point`.
fn killed_at(point: &str, queue: &Queue) {
    let code = runs("killed_write", point, queue);
    assert_eq!(code, None, "{point} is never reached");
}

fn runs(test: &str, point: &str, queue: &Queue) -> Option<i32> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the test's own program plays the crew that is killed"
    )]
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("killed::{test}"), "--ignored"])
        .env("CREW_TEST_QUEUE", queue.folder.path())
        .env("CREW_FAILPOINT_AT", point)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    status.code()
}

#[test]
#[ignore = "run, and killed, by the tests below"]
fn killed_write() {
    let folder = given_folder();
    folder.set_status(&id("ab-1"), Status::Closed).unwrap();
}

fn given_folder() -> Folder {
    #[expect(
        clippy::disallowed_methods,
        reason = "the parent test says where its queue is"
    )]
    let path = std::env::var_os("CREW_TEST_QUEUE").unwrap();
    Folder::at(Path::new(&path)).unwrap()
}

fn left(queue: &Queue) -> Vec<String> {
    let entries = std::fs::read_dir(queue.folder.path()).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(".crew")).collect()
}

#[test]
fn a_write_is_killed_anywhere_and_repeated() {
    for point in ["file.put", "file.exchanged", "file.placed"] {
        let queue = Queue::new();
        queue.plain("ab-1", "open", "");
        killed_at(point, &queue);
        let status = queue.folder.read(&id("ab-1")).unwrap().status;
        assert_eq!(status == Status::Closed, point != "file.put", "{point}");
        queue.folder.add_note(&id("ab-1"), "afterwards", at(0)).unwrap();
        assert_eq!(left(&queue), Vec::<String>::new(), "{point}");
        assert_eq!(queue.folder.read(&id("ab-1")).unwrap().status, status, "{point}");
    }
}

/// An editor saves right before the exchange of the files, and crew is killed right after it. A naive
/// recovery would delete the editor's content, which then stands under the temporary name.
#[test]
fn an_edit_that_a_killed_write_displaced_comes_back() {
    let queue = Queue::new();
    queue.plain("ab-1", "open", "");
    let edited = queue.text("ab-1") + "by hand\n";
    killed_at("file.exchanged", &queue);
    queue.write(".crew.tmp", &edited);
    drop(queue.folder.lock().unwrap());
    assert_eq!(queue.text("ab-1"), edited);
    assert_eq!(left(&queue), Vec::<String>::new());
}

#[test]
fn what_is_newer_than_a_displaced_edit_stays() {
    let queue = Queue::new();
    queue.plain("ab-1", "open", "");
    let edited = queue.text("ab-1") + "by hand\n";
    killed_at("file.exchanged", &queue);
    queue.write(".crew.tmp", &edited);
    let newer = queue.text("ab-1") + "by hand, and newer\n";
    queue.write("ab-1.md", &newer);
    assert_eq!(
        queue.folder.finish_interrupted_write().unwrap(),
        ["ab-1.md.kept-1"]
    );
    assert_eq!(queue.text("ab-1"), newer);
    assert_eq!(left(&queue), Vec::<String>::new());
    let kept = std::fs::read_to_string(queue.folder.path().join("ab-1.md.kept-1")).unwrap();
    assert_eq!(kept, edited, "whoever wrote the newer one may not have seen this");
    assert_eq!(queue.folder.ids().unwrap().len(), 1, "it is no ticket");
}

/// The process that puts a displaced edit back is killed too, right after a further edit. Neither edit is
/// lost.
#[test]
fn an_edit_that_comes_while_another_is_put_back_is_not_lost() {
    let queue = Queue::new();
    queue.plain("ab-1", "open", "");
    let edited = queue.text("ab-1") + "by hand\n";
    killed_at("file.exchanged", &queue);
    // The state when the first edit is back in its place, and the further edit was not noticed yet.
    let newer = edited.clone() + "and newer\n";
    queue.write("ab-1.md", &edited);
    queue.write(".crew.tmp", &newer);
    assert_eq!(
        queue.folder.finish_interrupted_write().unwrap(),
        ["ab-1.md.kept-1"]
    );
    let kept = std::fs::read_to_string(queue.folder.path().join("ab-1.md.kept-1")).unwrap();
    assert_eq!((queue.text("ab-1"), kept), (edited, newer));
    assert_eq!(left(&queue), Vec::<String>::new());
}

#[test]
fn a_write_that_is_killed_twice_gives_an_edit_back() {
    let queue = Queue::new();
    queue.plain("ab-1", "open", "");
    let edited = queue.text("ab-1") + "by hand\n";
    killed_at("file.exchanged", &queue);
    // The state when the edit is back in its place, and crew's own content is still in the temporary file.
    queue.write(".crew.tmp", queue.text("ab-1"));
    queue.write("ab-1.md", &edited);
    assert_eq!(
        queue.folder.finish_interrupted_write().unwrap(),
        Vec::<String>::new()
    );
    assert_eq!(queue.text("ab-1"), edited);
    assert_eq!(left(&queue), Vec::<String>::new());
}

/// Half-written content next to the note of an earlier write would be mistaken for an edit of another
/// program.
#[test]
fn a_half_written_content_is_nobodys() {
    let queue = Queue::new();
    let before = queue.plain("ab-1", "open", "");
    let text = queue.text(before.as_str());
    queue.write(".crew.tmp", "---\nid: ab");
    drop(queue.folder.lock().unwrap());
    queue.write(".crew.was", "1 2");
    drop(queue.folder.lock().unwrap());
    assert_eq!(queue.text("ab-1"), text);
    queue.folder.set_status(&before, Status::Closed).unwrap();
    assert_eq!(left(&queue), Vec::<String>::new());
}

/// A file that cannot be read for a moment is not mistaken for an edit of another program.
#[test]
fn a_ticket_that_cannot_be_read_now_keeps_its_displaced_edit_for_later() {
    let queue = Queue::new();
    queue.plain("ab-1", "open", "");
    let edited = queue.text("ab-1") + "by hand\n";
    killed_at("file.exchanged", &queue);
    queue.write(".crew.tmp", &edited);
    let file = queue.folder.file(&id("ab-1"));
    let allow = |mode| std::fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
    allow(0o000);
    // Root can read every file.
    let mut sets = capabilities(None).unwrap();
    sets.effective -= CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
    set_capabilities(None, sets).unwrap();
    let refused = queue.folder.lock().map(drop).unwrap_err();
    assert!(matches!(refused, Error::Io { doing: "read", .. }), "{refused:?}");
    allow(0o600);
    assert_eq!(
        queue.folder.finish_interrupted_write().unwrap(),
        Vec::<String>::new()
    );
    assert_eq!(queue.text("ab-1"), edited);
}

#[test]
fn a_look_at_what_was_killed_does_not_wait_for_a_writer() {
    let queue = Queue::new();
    queue.plain("ab-1", "open", "");
    let held = queue.folder.lock().unwrap();
    assert_eq!(
        queue.folder.finish_interrupted_write().unwrap(),
        Vec::<String>::new()
    );
    queue.write(".crew.was", "1 2");
    let locked = queue.folder.finish_interrupted_write().unwrap_err();
    assert!(matches!(locked, Error::Locked { seconds: 0, .. }), "{locked:?}");
    drop(held);
    queue.folder.finish_interrupted_write().unwrap();
    assert_eq!(left(&queue), Vec::<String>::new());
    queue.write("ab-1.md.kept-1", "");
    queue.write("ab-1.md.kept-2", "");
    queue.write("ab-10.md.kept-1", "");
    assert_eq!(
        queue.folder.conflict_copies_of(&id("ab-1")),
        ["ab-1.md.kept-1", "ab-1.md.kept-2"]
    );
}

#[test]
fn a_lack_of_open_files_is_reported_as_such() {
    let queue = Queue::new();
    queue.plain("ab-1", "open", "");
    assert_eq!(runs("write_without_files", "", &queue), Some(0));
}

#[test]
#[ignore = "run, in a process of its own, by the test above"]
fn write_without_files() {
    let folder = given_folder();
    let next = File::open("/dev/null").unwrap().as_raw_fd();
    // These descriptors suffice for the folder and its lock, but not for the file.
    let limit = Rlimit {
        current: Some(u64::try_from(next + 2).unwrap()),
        ..getrlimit(Resource::Nofile)
    };
    setrlimit(Resource::Nofile, limit).unwrap();
    let lacking = folder.set_status(&id("ab-1"), Status::Closed).unwrap_err();
    let Error::Io { source, .. } = lacking else {
        panic!("{lacking:?}")
    };
    assert_eq!(Errno::from_io_error(&source), Some(Errno::MFILE));
}
