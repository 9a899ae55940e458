//! Calls of a run's program to crew: each is a file in the run's folder, and so is its answer.
//!
//! The program knows the folder and a token. It writes a call as a whole and renames it into `asks/`; whoever
//! watches the run puts the answer into `answers/` in the same way. So a call needs no connection: it stays
//! where no engine runs, and the next engine finds it. What the program has written is untrusted.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, Mode, OFlags};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::files::{self, Sync};
use crate::tail::Stream;

/// The variable of a run's program that has the run's folder.
pub const CALLS_DIR: &str = "CREW_RUN_DIR";
/// The variable that has the token of the run.
pub const CALLS_TOKEN: &str = "CREW_TOKEN";
/// The variable of crew's programs that has the ticket folder of the repository for which they work, whatever
/// they make of `TICKETS_DIR`.
pub const QUEUE_MARK: &str = "CREW_QUEUE";
/// The most bytes of a call.
pub const MOST_BYTES: u64 = 64 * 1024;
/// The most calls of which a folder is asked: a program that writes more has left what crew offers.
const MOST_LISTED: usize = 1_000;

const ASKS: &str = "asks";
const ANSWERS: &str = "answers";
const TOKEN: &str = "token";
const ENDING: &str = ".json";

/// A call, as a program writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// The token of the run.
    pub token: String,
    /// The ticket that the program works on.
    pub ticket: String,
    /// The name of the tool.
    pub tool: String,
    /// The arguments.
    pub arguments: serde_json::Value,
}

/// The answer to a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// Whether it counts.
    pub accepted: bool,
    /// The answer in words, for whoever called.
    pub says: String,
}

impl Reply {
    /// A call that does not count.
    pub fn refused(why: impl Into<String>) -> Self {
        Self {
            accepted: false,
            says: why.into(),
        }
    }
}

/// An answer as it is kept: with its place in what the program printed, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// The answer.
    #[serde(flatten)]
    pub reply: Reply,
    /// The bytes of standard output that were there when the call was answered.
    #[serde(default)]
    pub printed: u64,
}

/// The calls of one run. Cheap to make and to clone; holds nothing open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asks {
    dir: PathBuf,
}

impl Asks {
    /// The calls of the run in this folder.
    pub fn of(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// Makes what a run needs whose program may call.
    pub(crate) fn make(dir: &Path, token: &str) -> Result<()> {
        files::private_dir(&dir.join(ASKS))?;
        files::private_dir(&dir.join(ANSWERS))?;
        files::replace(dir, TOKEN, &token, Sync::Disk)
    }

    /// A new token: 32 random bytes, in hexadecimal digits.
    pub fn new_token() -> Result<String> {
        Ok(hex(&random::<32>()?))
    }

    /// The run's token; none where its program may not call.
    pub fn token(&self) -> Result<Option<String>> {
        files::read(&self.dir, TOKEN)
    }

    /// Whether the run is over: nothing that is called now counts.
    pub fn is_over(&self) -> bool {
        !files::is_there(&self.dir, files::SPEC).unwrap_or(true)
            || files::is_there(&self.dir, files::EXIT).unwrap_or_default()
    }

    /// The folder in which the calls appear.
    pub fn asks_dir(&self) -> PathBuf {
        self.dir.join(ASKS)
    }

    /// The folder in which the answers appear.
    pub fn answers_dir(&self) -> PathBuf {
        self.dir.join(ANSWERS)
    }

    /// Sends a call, durably, and returns its id. `at`: milliseconds since 1970, so that calls are taken in
    /// their order.
    pub fn send(&self, ask: &Ask, at: u64) -> Result<String> {
        let id = format!("{at:013}-{}-{}", std::process::id(), hex(&random::<4>()?));
        let path = self.asks_dir();
        let bytes = serde_json::to_vec(ask).map_err(|source| Error::Damaged {
            path: path.clone(),
            source,
        })?;
        (|| {
            let folder = folder(&path)?;
            let file = put(&folder, &id, &bytes)?;
            file.sync_all()?;
            rename(&folder, &id)?;
            rustix::fs::fsync(&folder)?;
            io::Result::Ok(())
        })()
        .map_err(Error::file("write a call into", &path))?;
        failpoint::hit("call.sent");
        Ok(id)
    }

    /// The bytes that a call takes.
    pub fn size(ask: &Ask) -> u64 {
        serde_json::to_vec(ask).map_or(u64::MAX, |bytes| bytes.len() as u64)
    }

    /// The answer to a call, once it is there.
    pub fn reply_to(&self, id: &str) -> Result<Option<Reply>> {
        Ok(self.answered(id)?.map(|answered| answered.reply))
    }

    /// The answer to a call with its place, once it is there.
    pub fn answered(&self, id: &str) -> Result<Option<Answered>> {
        let path = self.answers_dir();
        match folder(&path).and_then(|folder| read(&folder, id, files::LIMIT)) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|source| Error::Damaged {
                    path: path.join(id),
                    source,
                }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::file("read an answer in", &path)(error)),
        }
    }

    /// The ids of all calls, oldest first, at most a thousand.
    pub fn list(&self) -> Result<Vec<String>> {
        let path = self.asks_dir();
        let list = || {
            let mut found = Vec::new();
            for entry in Dir::read_from(folder(&path)?)? {
                let entry = entry?;
                let name = entry.file_name().to_str().unwrap_or_default();
                if let Some(id) = name.strip_suffix(ENDING).filter(|id| is_id(id)) {
                    found.push(id.to_owned());
                    if found.len() == MOST_LISTED {
                        break;
                    }
                }
            }
            found.sort();
            io::Result::Ok(found)
        };
        list().map_err(Error::file("look into", &path))
    }

    /// Reads a call. The inner error says what is wrong with it, for whoever called.
    pub fn read(&self, id: &str) -> Result<Result<Ask, String>> {
        let path = self.asks_dir();
        let folder = folder(&path).map_err(Error::file("look into", &path))?;
        Ok(match read(&folder, id, MOST_BYTES) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| format!("it is no call: {error}")),
            Err(error) if error.kind() == ErrorKind::InvalidInput => Err(error.to_string()),
            // A link, or no file at all.
            Err(error) => Err(format!("it is no call: {}", text::os_message(&error))),
        })
    }

    /// When a call was written, by the system's time of its file.
    pub fn sent_at(&self, id: &str) -> Result<std::time::SystemTime> {
        let path = self.asks_dir().join(name_of(id));
        let written = path.symlink_metadata().and_then(|meta| meta.modified());
        written.map_err(Error::file("look at", &path))
    }

    /// Puts the answer to a call where its program finds it; again, it is replaced.
    pub fn answer(&self, id: &str, reply: &Reply) -> Result<()> {
        let path = self.answers_dir();
        let out = std::fs::symlink_metadata(self.dir.join(Stream::Out.file()));
        let answered = Answered {
            reply: reply.clone(),
            printed: out.map_or(0, |out| out.len()),
        };
        let bytes = serde_json::to_vec(&answered).map_err(|source| Error::Damaged {
            path: path.clone(),
            source,
        })?;
        (|| {
            let folder = folder(&path)?;
            put(&folder, id, &bytes)?;
            rename(&folder, id)
        })()
        .map_err(Error::file("write an answer into", &path))
    }
}

/// When a call was sent, in milliseconds since 1970, by its id: what its program says.
pub fn sent_at(id: &str) -> Option<u64> {
    id.split('-').next()?.parse().ok()
}

/// Whether the token that a call names is the run's. It takes as long for each token of that length.
pub fn is_same_token(token: &str, named: &str) -> bool {
    let differs = |(a, b): (u8, u8)| a ^ b;
    let differences = token.bytes().zip(named.bytes()).map(differs);
    token.len() == named.len() && differences.fold(0, |all, one| std::hint::black_box(all | one)) == 0
}

/// Whether crew gives such ids: nothing else becomes a file's name.
fn is_id(id: &str) -> bool {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    !id.is_empty() && id.len() <= 64 && id.bytes().all(is_fine)
}

fn name_of(id: &str) -> String {
    format!("{id}{ENDING}")
}

fn passing_name_of(id: &str) -> String {
    format!(".{id}.new")
}

/// A folder that is one, and no link to another.
fn folder(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// Reads a regular file, and nothing else. [`ErrorKind::InvalidInput`]: it has more than `most` bytes.
fn read(folder: &OwnedFd, id: &str, most: u64) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(folder, name_of(id), flags, Mode::empty())?);
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    if metadata.len() <= most {
        file.take(most + 1).read_to_end(&mut bytes)?;
    }
    if metadata.len().max(bytes.len() as u64) > most {
        let why = format!("a call of more than {most} bytes is too large: say it shorter");
        return Err(io::Error::new(ErrorKind::InvalidInput, why));
    }
    Ok(bytes)
}

/// Writes a file under its passing name.
fn put(folder: &OwnedFd, id: &str, bytes: &[u8]) -> io::Result<File> {
    let name = passing_name_of(id);
    // Somebody who was killed may have left it.
    let _ = rustix::fs::unlinkat(folder, &name, AtFlags::empty());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    let mut file = File::from(rustix::fs::openat(folder, &name, flags, mode)?);
    file.write_all(bytes)?;
    Ok(file)
}

fn rename(folder: &OwnedFd, id: &str) -> io::Result<()> {
    Ok(rustix::fs::renameat(
        folder,
        passing_name_of(id),
        folder,
        name_of(id),
    )?)
}

fn random<const N: usize>() -> Result<[u8; N]> {
    let path = Path::new("/dev/urandom");
    let mut bytes = [0; N];
    let read = File::open(path).and_then(|mut source| source.read_exact(&mut bytes));
    read.map_err(Error::file("read", path))?;
    Ok(bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(tool: &str) -> Ask {
        Ask {
            token: "t".to_owned(),
            ticket: "k-1".to_owned(),
            tool: tool.to_owned(),
            arguments: serde_json::json!({ "text": "x" }),
        }
    }

    #[test]
    fn a_call_and_its_answer_go_through_the_folder_in_their_order() {
        let dir = tempfile::tempdir().unwrap();
        let token = Asks::new_token().unwrap();
        assert_eq!(token.len(), 64);
        Asks::make(dir.path(), &token).unwrap();
        let asks = Asks::of(dir.path());
        assert_eq!(asks.token().unwrap(), Some(token));
        let (second, first) = (
            asks.send(&ask("b"), 20).unwrap(),
            asks.send(&ask("a"), 3).unwrap(),
        );
        assert_eq!(asks.list().unwrap(), [first.clone(), second]);
        assert_eq!(asks.read(&first).unwrap(), Ok(ask("a")));
        assert_eq!(asks.reply_to(&first).unwrap(), None);
        for says in ["no", "yes"] {
            let reply = Reply::refused(says);
            asks.answer(&first, &reply).unwrap();
            assert_eq!(asks.reply_to(&first).unwrap(), Some(reply));
        }
        std::fs::write(dir.path().join("out"), "12345").unwrap();
        asks.answer(&first, &Reply::refused("later")).unwrap();
        assert_eq!(asks.answered(&first).unwrap().unwrap().printed, 5);
        assert_eq!(sent_at(&first), Some(3));
    }

    #[test]
    fn what_is_no_call_is_told_and_nothing_behind_a_link_is_read_or_written() {
        let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        Asks::make(dir.path(), "t").unwrap();
        let asks = Asks::of(dir.path());
        let put = |id: &str, bytes: &[u8]| std::fs::write(asks.asks_dir().join(name_of(id)), bytes).unwrap();
        put("large", &vec![b'x'; 10 << 20]);
        put("torn", b"{\"token\":");
        put(
            "more",
            br#"{"token":"t","ticket":"k-1","tool":"x","arguments":{},"by":"root"}"#,
        );
        std::fs::create_dir(asks.asks_dir().join(name_of("folder"))).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", asks.asks_dir().join(name_of("link"))).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, asks.asks_dir().join(name_of("pipe")), Mode::RUSR).unwrap();
        std::fs::write(asks.asks_dir().join("..json"), b"{}").unwrap();
        let found = asks.list().unwrap();
        assert_eq!(found, ["folder", "large", "link", "more", "pipe", "torn"]);
        for id in &found {
            let why = asks.read(id).unwrap().unwrap_err();
            assert_eq!(
                why.contains("65536 bytes is too large"),
                id == "large",
                "{id}: {why}"
            );
        }
        std::fs::remove_dir(asks.answers_dir()).unwrap();
        std::os::unix::fs::symlink(other.path(), asks.answers_dir()).unwrap();
        asks.answer("torn", &Reply::refused("no")).unwrap_err();
        assert_eq!(other.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn only_the_same_token_is_the_same() {
        assert!(is_same_token("abc", "abc"));
        for other in ["abd", "ab", "abcd", ""] {
            assert!(!is_same_token("abc", other), "{other}");
        }
    }
}
