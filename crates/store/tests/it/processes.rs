//! Several processes on one file, and processes that die.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use store::{Append, Error, Journal, Seq, Sqlite, Version};

use crate::support::{Backend, InFile, append, assert_sound, command, stream};

/// Marks a child's own lines among those of its test harness.
const MARK: &str = "@";

/// Another process of this test binary, which runs [`child`] with these orders. It ends when its input does.
struct Other {
    child: Child,
    input: ChildStdin,
    output: BufReader<std::process::ChildStdout>,
}

impl Other {
    fn start(role: &str, name: &str, path: &Path) -> Self {
        Self::start_under(&[], role, name, path)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "several processes are what these tests are about"
    )]
    fn start_under(wrapper: &[&str], role: &str, name: &str, path: &Path) -> Self {
        let this = std::env::current_exe().unwrap();
        let this = this.to_str().unwrap();
        let words = [
            wrapper,
            &[this, "--exact", "processes::child", "--ignored", "--nocapture"],
        ]
        .concat();
        let mut command = std::process::Command::new(words[0]);
        let command = command
            .args(&words[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        writeln!(input, "{role}\n{name}\n{}", path.display()).unwrap();
        Self { child, input, output }
    }

    /// Its next line; `None` when it has ended.
    fn next_line(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(word) = line.trim_end().strip_prefix(MARK) {
                return Some(word.to_owned());
            }
        }
    }

    fn go(&mut self) {
        writeln!(self.input, "go").unwrap();
    }

    /// Reads its output to the end, which must be a good one.
    fn finish(mut self) -> Vec<String> {
        let lines = std::iter::from_fn(|| self.next_line()).collect();
        assert!(self.child.wait().unwrap().success(), "{lines:?}");
        lines
    }

    /// Sends SIGKILL; returns the lines that it had printed.
    fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        let lines = std::iter::from_fn(|| self.next_line()).collect();
        self.child.wait().unwrap();
        lines
    }
}

fn print(word: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{MARK}{word}").unwrap();
    out.flush().unwrap();
}

#[test]
#[ignore = "the other process of this file's tests; it takes its orders from its input"]
fn child() {
    let mut lines = std::io::stdin().lines();
    let (Some(Ok(role)), Some(Ok(name)), Some(Ok(path))) = (lines.next(), lines.next(), lines.next()) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let journal = Sqlite::create(Path::new(&path), "journal-1").await.unwrap();
        match role.as_str() {
            "share" => {
                print("ready");
                lines.next();
                share(&journal, &name).await;
            }
            "ask" => {
                print("ready");
                lines.next();
                journal.submit(command(&name)).await.unwrap();
            }
            "write" => write(journal, &name).await,
            "overflow" => overflow(&journal).await,
            other => panic!("no role {other}"),
        }
    });
}

/// Fifty appends to a stream of its own, and fifty to everyone's.
async fn share(journal: &Sqlite, name: &str) {
    for n in 0..50 {
        journal.append(vec![append(name, n)]).await.unwrap();
        let mut conflicts = 0;
        loop {
            let version = journal
                .load(&stream("shared"))
                .await
                .unwrap()
                .map_or(Version(0), |stream| stream.version);
            let keyed = Append {
                key: Some(format!("{name}-{n}")),
                ..append("shared", version.0)
            };
            match journal.append(vec![keyed]).await {
                Ok(_) => break,
                // The next to commit is chance: on a slow disk one may be passed over for as long as it
                // waits.
                Err(Error::VersionConflict { .. } | Error::Busy) => conflicts += 1,
                Err(other) => panic!("{other:?} after {conflicts} conflicts"),
            }
        }
    }
}

#[tokio::test]
async fn four_processes_share_a_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("crew").join("journal.db");
    let names = ["p0", "p1", "p2", "p3"];
    // They also all find that there is no journal yet.
    let mut others: Vec<_> = names
        .iter()
        .map(|name| Other::start("share", name, &path))
        .collect();
    for other in &mut others {
        assert_eq!(other.next_line().as_deref(), Some("ready"));
    }
    for other in &mut others {
        other.go();
    }
    let journal = Sqlite::open(&path).await.unwrap();
    // A reader in parallel only ever sees whole prefixes.
    let mut after = Seq(0);
    while after < Seq(200) {
        for event in journal.events(after, 50).await.unwrap() {
            assert_eq!(event.seq, Seq(after.0 + 1));
            after = event.seq;
        }
        tokio::task::yield_now().await;
    }
    for other in others {
        other.finish();
    }
    assert_eq!(journal.head().await.unwrap(), Seq(400));
    for name in names {
        assert_eq!(
            journal.load(&stream(name)).await.unwrap().unwrap().version,
            Version(50)
        );
    }
    assert_eq!(
        journal.load(&stream("shared")).await.unwrap().unwrap().version,
        Version(200)
    );
    assert_sound(&journal).await;
}

/// Appends from eight tasks until its input ends, and prints each key once it was answered.
async fn write(journal: Sqlite, name: &str) {
    let ended = Arc::new(AtomicBool::new(false));
    std::thread::spawn({
        let ended = Arc::clone(&ended);
        move || {
            drop(std::io::stdin().lock().read_to_end(&mut Vec::new()));
            ended.store(true, Ordering::Relaxed);
        }
    });
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let (journal, ended, name) = (journal.clone(), Arc::clone(&ended), name.to_owned());
            tokio::spawn(async move {
                let stream = format!("{name}-{task}");
                let version = AtomicU64::new(0);
                while !ended.load(Ordering::Relaxed) {
                    let expected = version.fetch_add(1, Ordering::Relaxed);
                    let key = format!("{stream}-{expected}");
                    let mut keyed = Append {
                        key: Some(key.clone()),
                        ..append(&stream, expected)
                    };
                    keyed.events[0].effects = vec!["1".to_owned(), "2".to_owned()];
                    journal.append(vec![keyed]).await.unwrap();
                    print(&key);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

/// The other process's only write is a command: only the subscription shows it.
#[tokio::test]
async fn a_write_of_another_process_is_noticed() {
    let (backend, journal) = InFile::fresh().await;
    let mut other = Other::start("ask", "c", &backend.path());
    assert_eq!(other.next_line().as_deref(), Some("ready"));
    let mut subscription = journal.subscribe();
    other.go();
    let asked = async {
        while journal.command(&"c".into()).await.unwrap().is_none() {
            subscription.noticed().await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(60), asked)
        .await
        .unwrap();
    other.finish();
}

#[tokio::test]
async fn a_killed_writer_loses_nothing_that_it_had_answered() {
    let (backend, journal) = InFile::fresh().await;
    journal.close().await;
    for (round, enough) in [1, 9, 40, 100, 23, 64].into_iter().enumerate() {
        let name = format!("round-{round}");
        let mut other = Other::start("write", &name, &backend.path());
        let mut answered: Vec<_> = std::iter::from_fn(|| other.next_line()).take(enough).collect();
        assert_eq!(answered.len(), enough);
        answered.extend(other.kill());

        let journal = Sqlite::open(&backend.path()).await.unwrap();
        assert_sound(&journal).await;
        let mut written = 0;
        for task in 0..8 {
            let id = format!("{name}-{task}");
            let version = journal
                .load(&stream(&id))
                .await
                .unwrap()
                .map_or(0, |stream| stream.version.0);
            let of_task = answered
                .iter()
                .filter(|key| key.starts_with(&format!("{id}-")))
                .count() as u64;
            // One more may be durable without its answer. Its key shows which one.
            assert!(
                version == of_task || version == of_task + 1,
                "{id}: {version} written, {of_task} answered"
            );
            let in_doubt = Append {
                key: Some(format!("{id}-{of_task}")),
                ..append(&id, of_task)
            };
            let appended = journal.append(vec![in_doubt]).await.unwrap();
            assert_eq!(appended[0].repeated, version > of_task);
            assert_eq!(appended[0].version, Version(of_task + 1));
            written += version;
        }
        assert!(written >= answered.len() as u64);
        assert_sound(&journal).await;
        journal.close().await;
    }
}

/// Fills the file up to its limit, and goes on when the limit is lifted.
async fn overflow(journal: &Sqlite) {
    let keyed = |n: u64| {
        let mut append = append("x", n);
        append.events[0].body = format!("\"{}\"", "x".repeat(30_000));
        Append {
            key: Some(format!("k{n}")),
            ..append
        }
    };
    // A reader that stays keeps the log from being folded into the file and begun anew, which would make
    // room.
    journal.head().await.unwrap();
    let mut n = 0;
    let failed = loop {
        match journal.append(vec![keyed(n)]).await {
            Ok(_) => n += 1,
            Err(error) => break error,
        }
        assert!(n < 1_000, "no limit was met");
    };
    assert!(failed.is_ambiguous(), "{failed:?}");
    print("failed");
    // Still no room: refused again, and what was answered can be read.
    assert!(journal.append(vec![keyed(n)]).await.is_err());
    assert_eq!(journal.events(Seq(0), 1_000).await.unwrap().len() as u64, n);

    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize);
    let lifted = rustix::process::Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    rustix::process::setrlimit(rustix::process::Resource::Fsize, lifted).unwrap();
    // The same handle goes on by itself; the key shows whether the doubtful one was written.
    let resolved = journal.append(vec![keyed(n)]).await.unwrap();
    assert_eq!(resolved[0].version, Version(n + 1));
    journal.append(vec![keyed(n + 1)]).await.unwrap();
    assert_eq!(journal.head().await.unwrap(), Seq(n + 2));
    assert_sound(journal).await;
    print("resolved");
}

#[tokio::test]
async fn an_io_error_is_resolved_by_the_key_once_there_is_room() {
    let (backend, journal) = InFile::fresh().await;
    journal.close().await;
    // 1,000 blocks of 512 bytes; without the trap the system would kill instead of failing the write.
    let limited = ["sh", "-c", "trap '' XFSZ; ulimit -S -f 1000; exec \"$@\"", "sh"];
    let lines = Other::start_under(&limited, "overflow", "x", &backend.path()).finish();
    assert_eq!(lines, ["failed", "resolved"]);
    let journal = Sqlite::open(&backend.path()).await.unwrap();
    assert_sound(&journal).await;
}
