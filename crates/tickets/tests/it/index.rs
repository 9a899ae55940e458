//! The index: a listing with it is one without it, whatever happens to the files, the index and the folder.

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Barrier;

use proptest::prelude::*;
use tickets::*;

use crate::Queue;

/// A queue with a folder for the index.
struct Indexed {
    queue: Queue,
    index: PathBuf,
}

impl Indexed {
    fn new() -> Indexed {
        let queue = Queue::new();
        let index = queue.root().join("index");
        fs::create_dir(&index).unwrap();
        Indexed { queue, index }
    }

    fn file(&self) -> PathBuf {
        self.index.join("tickets.index")
    }

    /// The rows by the index, which must be those of the files, and the number of files that were read.
    #[track_caller]
    fn rows(&self) -> (Rows, usize) {
        let (by_index, reads) = self.queue.folder.rows_and_reads(Some(&self.index)).unwrap();
        assert_eq!(by_index, self.queue.folder.rows(None).unwrap());
        (by_index, reads)
    }

    /// Waits until no file is so new that it has to be read again.
    fn rest(&self) {
        for _ in 0..1_000_000 {
            let (rows, reads) = self.rows();
            if reads == rows.unreadable().len() {
                return;
            }
        }
        panic!("files are read again and again");
    }
}

/// What may happen to the file of a ticket.
#[derive(Clone, Copy, Debug)]
enum Act {
    Edit,
    /// An edit of the same size, after which the time of the last change is set back.
    EditBehind,
    Replace,
    ReplaceBehind,
    Delete,
    Rename,
    /// A file gets the name of another one.
    Overwrite,
    Forbid,
    /// The file becomes a link to another ticket's.
    Link,
    HardLink,
    Folder,
    Spoil,
    Create,
    BadName,
    Touch,
    Grow,
}

const ACTS: [Act; 16] = [
    Act::Edit,
    Act::EditBehind,
    Act::Replace,
    Act::ReplaceBehind,
    Act::Delete,
    Act::Rename,
    Act::Overwrite,
    Act::Forbid,
    Act::Link,
    Act::HardLink,
    Act::Folder,
    Act::Spoil,
    Act::Create,
    Act::BadName,
    Act::Touch,
    Act::Grow,
];

fn text(title: &str) -> String {
    format!("---\nstatus: open\ndeps: [t-1]\n---\n# {title}\n")
}

/// Does it to the file of `n`; where that cannot be done to what is there, nothing happens.
fn act(folder: &Path, what: Act, n: usize, title: &str) {
    let file = folder.join(format!("t-{n}.md"));
    let other = folder.join(format!("t-{}.md", (n + 3) % 8));
    let beside = folder.join("beside");
    let before = fs::symlink_metadata(&file).and_then(|meta| meta.modified());
    let set_back = |file: &Path| {
        let times = before.map_or_else(
            |_| FileTimes::new(),
            |before| FileTimes::new().set_modified(before),
        );
        File::options().write(true).open(file)?.set_times(times)
    };
    let done = match what {
        Act::Edit | Act::Create => fs::write(&file, text(title)),
        Act::EditBehind => fs::write(&file, text(title)).and_then(|()| set_back(&file)),
        Act::Replace => fs::write(&beside, text(title)).and_then(|()| fs::rename(&beside, &file)),
        Act::ReplaceBehind => fs::write(&beside, text(title))
            .and_then(|()| set_back(&beside))
            .and_then(|()| fs::rename(&beside, &file)),
        Act::Delete => fs::remove_file(&file),
        Act::Rename => fs::rename(&file, folder.join(format!("t-{n}-{title}.md"))),
        Act::Overwrite => fs::rename(&file, &other),
        Act::Forbid => fs::set_permissions(&file, fs::Permissions::from_mode(0o000)),
        Act::Link => fs::remove_file(&file).and_then(|()| symlink(&other, &file)),
        Act::HardLink => fs::remove_file(&file).and_then(|()| fs::hard_link(&other, &file)),
        Act::Folder => fs::remove_file(&file).and_then(|()| fs::create_dir(&file)),
        Act::Spoil => fs::write(&file, "no front matter"),
        Act::BadName => fs::write(folder.join(format!("a {title}.md")), text(title)),
        Act::Touch => File::options().append(true).open(&file).map(drop),
        Act::Grow => fs::write(&file, format!("{}more\n", text(title))),
    };
    // A folder or a link that another act left in the way.
    let _ = done;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_listing_by_the_index_is_one_of_the_files(
        rounds in prop::collection::vec(
            prop::collection::vec((prop::sample::select(&ACTS), 0..8_usize, "[a-z]{4}"), 1..12),
            1..4,
        )
    ) {
        let it = Indexed::new();
        let folder = it.queue.folder.path();
        for n in 0..8 {
            act(folder, Act::Create, n, "even");
        }
        for round in rounds {
            it.rest();
            for (what, n, title) in round {
                act(folder, what, n, &title);
            }
            it.rows();
        }
    }
}

#[test]
fn only_what_has_changed_is_read() {
    let it = Indexed::new();
    for n in 0..50 {
        it.queue.plain(&format!("t-{n}"), "open", "");
    }
    it.rest();
    assert_eq!(it.rows().1, 0);
    it.queue.plain("t-7", "closed", "");
    let (rows, reads) = it.rows();
    assert_eq!((rows.get("t-7").unwrap().status(), reads), (Status::Closed, 1));
    fs::remove_file(it.queue.folder.path().join("t-9.md")).unwrap();
    it.rest();
    let (rows, reads) = it.rows();
    assert_eq!((rows.iter().count(), reads), (49, 0));
}

#[test]
fn an_edit_of_the_same_size_whose_time_is_set_back_is_read() {
    let it = Indexed::new();
    for (n, what) in [Act::EditBehind, Act::ReplaceBehind].into_iter().enumerate() {
        act(it.queue.folder.path(), Act::Create, n, "even");
        it.rest();
        let file = it.queue.folder.path().join(format!("t-{n}.md"));
        let before = fs::metadata(&file).unwrap();
        act(it.queue.folder.path(), what, n, "odd!");
        let after = fs::metadata(&file).unwrap();
        assert_eq!(
            (before.len(), before.mtime_nsec()),
            (after.len(), after.mtime_nsec())
        );
        let (rows, reads) = it.rows();
        assert_eq!(
            (rows.get(&format!("t-{n}")).unwrap().title.as_str(), reads),
            ("odd!", 1)
        );
    }
}

#[test]
fn a_file_that_is_no_ticket_is_read_each_time_and_the_index_stays() {
    let it = Indexed::new();
    it.queue.plain("t-1", "open", "");
    it.queue.write("t-2.md", "no front matter");
    it.rest();
    let made = fs::metadata(it.file()).unwrap().ino();
    assert_eq!(it.rows().1, 1);
    assert_eq!(fs::metadata(it.file()).unwrap().ino(), made);
    assert_eq!(fs::read_dir(&it.index).unwrap().count(), 1, "no draft is left");
}

#[test]
fn an_index_that_is_damaged_or_foreign_is_thrown_away() {
    let it = Indexed::new();
    it.queue.plain("t-1", "open", "");
    it.queue.plain("t-2", "open", "t-1");
    it.rest();
    let good = fs::read(it.file()).unwrap();
    let beginning = good.iter().position(|byte| *byte == b'\n').unwrap();
    let mut damaged: Vec<Vec<u8>> = (0..good.len()).map(|at| good[..at].to_vec()).collect();
    damaged.extend((0..good.len()).map(|at| {
        let mut one = good.clone();
        one[at] ^= 1;
        one
    }));
    damaged.push([&good[..beginning - 1], b"0", &good[beginning..]].concat());
    damaged.push([good.as_slice(), b"more"].concat());
    for bytes in damaged {
        fs::write(it.file(), bytes).unwrap();
        assert_eq!(it.rows().1, 2);
    }
    it.rest();
    fs::write(it.file(), &good).unwrap();
    assert_eq!(it.rows().1, 0, "the whole one is read");

    // Another folder, with files of the same names, in the place of the first.
    let path = it.queue.folder.path().to_owned();
    fs::rename(&path, it.queue.root().join("away")).unwrap();
    fs::create_dir(&path).unwrap();
    it.queue.plain("t-1", "closed", "");
    assert_eq!(it.rows().1, 1);
    it.rest();

    // What stands in the way of an index is left alone.
    fs::remove_file(it.file()).unwrap();
    fs::create_dir(it.file()).unwrap();
    assert_eq!(it.rows().1, 1);
    assert_eq!(fs::read_dir(&it.index).unwrap().count(), 1);
    fs::remove_dir(it.file()).unwrap();
    let elsewhere = it.queue.root().join("elsewhere");
    fs::write(&elsewhere, "mine").unwrap();
    for name in ["tickets.index", "tickets.index.tmp"] {
        symlink(&elsewhere, it.index.join(name)).unwrap();
    }
    assert_eq!(it.rows().1, 1);
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "mine");
}

#[test]
fn there_is_no_index_where_there_is_no_folder_for_it() {
    let it = Indexed::new();
    it.queue.plain("t-1", "open", "");
    fs::remove_dir(&it.index).unwrap();
    assert_eq!(it.rows().1, 1);
    assert!(!it.index.exists());
    let other = it.queue.root().join("other");
    fs::create_dir(&other).unwrap();
    symlink(&other, &it.index).unwrap();
    assert_eq!(it.rows().1, 1);
    assert_eq!(fs::read_dir(&other).unwrap().count(), 0);
}

#[test]
fn many_at_once_never_see_half_of_an_index() {
    let it = Indexed::new();
    for n in 0..200 {
        it.queue.plain(&format!("t-{n:03}"), "open", "");
    }
    let folder = &it.queue.folder;
    let start = Barrier::new(4);
    std::thread::scope(|scope| {
        for mine in 0..4 {
            let (start, index) = (&start, &it.index);
            scope.spawn(move || {
                start.wait();
                for turn in 0..30 {
                    let id = format!("t-{:03}", mine * 50 + turn);
                    folder.set_status(&Id::new(&id).unwrap(), Status::Closed).unwrap();
                    let rows = folder.rows(Some(index)).unwrap();
                    assert_eq!(rows.iter().count(), 200);
                    assert_eq!(rows.get(&id).unwrap().status(), Status::Closed);
                }
            });
        }
    });
    it.rest();
    let (rows, _) = it.rows();
    let closed = rows.iter().filter(|row| row.status() == Status::Closed);
    assert_eq!(closed.count(), 120);
    assert_eq!(fs::read_dir(&it.index).unwrap().count(), 1, "no draft is left");
}
