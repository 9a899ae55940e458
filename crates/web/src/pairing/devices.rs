//! The devices that are paired, as the file has them at each moment.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use client::clock;
use client::follow::Changes;
use tokio::sync::watch;

use super::codes::{self, Invalid};
use super::device::{Paired, name};
use super::folder;
use super::secret::{self, TOKEN};
use crate::app::Device;

/// The most streams of a device at once.
const STREAMS: usize = 8;
/// Milliseconds after which the last use of a device is written anew.
const USED: i64 = 10 * 60 * 1000;
/// The bytes of the id of a device.
const ID: usize = 4;

/// The devices that are paired. A clone is the same list.
#[derive(Clone, Debug)]
pub struct Devices(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    dir: PathBuf,
    known: watch::Sender<Known>,
    streams: Mutex<BTreeMap<String, usize>>,
}

/// The devices of the file, and what tells that the file is another one.
#[derive(Debug, Default)]
struct Known {
    devices: Vec<Paired>,
    stamp: Option<Stamp>,
}

/// The inode, the time of the last change with its nanoseconds, and the length.
type Stamp = (u64, i64, i64, u64);

/// A stream that counts as one of its device's until it is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    devices: Devices,
    id: String,
}

impl Devices {
    /// The devices of a folder, followed from now on. This needs a tokio runtime.
    ///
    /// # Errors
    /// The folder cannot be made, or its file cannot be read.
    pub fn follow(dir: PathBuf) -> client::Result<Self> {
        folder::make(&dir)?;
        let devices = Self(Arc::new(Inner {
            dir,
            known: watch::Sender::new(Known::default()),
            streams: Mutex::default(),
        }));
        devices.look()?;
        let followed = Arc::downgrade(&devices.0);
        let mut changes = Changes::of(&devices.0.dir);
        tokio::spawn(async move {
            loop {
                changes.wait().await;
                let Some(inner) = followed.upgrade() else { return };
                // A file that cannot be read lets nobody in, and the request after it says why.
                let _ = Self(inner).look();
            }
        });
        Ok(devices)
    }

    /// Looks whether the file is another one now.
    fn look(&self) -> client::Result<()> {
        let path = path(&self.0.dir);
        let stamp = stamp(&path);
        if stamp == self.0.known.borrow().stamp {
            return Ok(());
        }
        let read = folder::read(&path);
        let (devices, result) = match read {
            Ok(devices) => (devices, Ok(())),
            Err(error) => (Vec::new(), Err(error)),
        };
        // A fault is looked at anew each time.
        let stamp = stamp.filter(|_| result.is_ok());
        self.0.known.send_replace(Known { devices, stamp });
        result
    }

    /// All that are paired, and used lately enough to be known.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn all(&self) -> client::Result<Vec<Paired>> {
        self.look()?;
        let known = self.0.known.borrow();
        Ok(known
            .devices
            .iter()
            .filter(|paired| paired.is_known())
            .cloned()
            .collect())
    }

    /// The device of a token.
    pub(crate) fn of_token(&self, token: &str) -> client::Result<Option<Device>> {
        let hash = secret::hash(token);
        // Every hash is compared, so that the time does not tell which one it was.
        let mut found = None;
        for paired in self.all()? {
            if secret::is_same(&paired.token, &hash) {
                found = Some(paired);
            }
        }
        let Some(paired) = found else { return Ok(None) };
        let now = clock::now().0;
        if now.saturating_sub(paired.used_ms) >= USED {
            change(&self.0.dir, |devices| {
                for device in devices.iter_mut().filter(|device| device.id == paired.id) {
                    device.used_ms = now;
                }
                Ok(())
            })?;
        }
        Ok(Some(paired.device()))
    }

    /// Pairs a device with a code: its token, which is told this once; or why the code is not valid.
    pub(crate) fn pair(&self, code: &str, called: &str) -> client::Result<Result<(String, Device), Invalid>> {
        let dir = &self.0.dir;
        let given = match codes::redeem(dir, code)? {
            Ok(given) => given,
            Err(invalid) => return Ok(Err(invalid)),
        };
        let token = secret::random::<TOKEN>()?;
        let called = given.name.or_else(|| name(called));
        let id = secret::random::<ID>()?;
        let now = clock::now().0;
        let device = change(dir, |devices| {
            let paired = Paired {
                id,
                name: unique(devices, called.as_deref().unwrap_or("a browser")),
                scope: given.scope,
                token: secret::hash(&token),
                paired_ms: now,
                used_ms: now,
            };
            let device = paired.device();
            devices.push(paired);
            Ok(device)
        })?;
        Ok(Ok((token, device)))
    }

    /// Revokes a device; false where none has the id.
    pub(crate) fn revoke(&self, id: &str) -> client::Result<bool> {
        let is_revoked = change(&self.0.dir, |devices| {
            let before = devices.len();
            devices.retain(|device| device.id != id);
            Ok(devices.len() < before)
        })?;
        self.look()?;
        Ok(is_revoked)
    }

    /// Counts a stream of a device until what is returned is dropped; none where it has as many as it may.
    pub(crate) fn hold_stream(&self, id: &str) -> Option<Held> {
        let mut streams = self.0.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let count = streams.entry(id.to_owned()).or_default();
        if *count >= STREAMS {
            return None;
        }
        *count += 1;
        Some(Held {
            devices: self.clone(),
            id: id.to_owned(),
        })
    }
}

impl Held {
    /// Waits until the device is revoked.
    pub(crate) async fn revoked(self) {
        let mut known = self.devices.0.known.subscribe();
        let is_gone = |known: &Known| !known.devices.iter().any(|paired| paired.id == self.id);
        // The list lives as long as the stream.
        let _ = known.wait_for(is_gone).await;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut streams = self
            .devices
            .0
            .streams
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = streams.get_mut(&self.id) {
            *count -= 1;
            if *count == 0 {
                streams.remove(&self.id);
            }
        }
    }
}

/// The devices of a folder that are paired, and used lately enough to be known.
///
/// # Errors
/// The file cannot be read.
pub fn list(dir: &Path) -> client::Result<Vec<Paired>> {
    let mut devices: Vec<Paired> = folder::read(&path(dir))?;
    devices.retain(Paired::is_known);
    Ok(devices)
}

/// Revokes the device of a folder that a person names by its name or id. A server notices by itself.
///
/// # Errors
/// No device has that name or id, or the file cannot be changed.
pub fn revoke(dir: &Path, named: &str) -> client::Result<Paired> {
    let missing = || {
        client::Error::refused(
            format!("no device is called {}", text::quoted(named)),
            "`crew web devices` lists them",
        )
    };
    if list(dir)?.is_empty() {
        return Err(missing());
    }
    change(dir, |devices| {
        let is_it = |device: &Paired| device.id == named || device.name == named;
        let at = devices.iter().position(is_it).ok_or_else(missing)?;
        Ok(devices.remove(at))
    })
}

/// Changes the devices of a folder; those that nobody has used for long are left out on the occasion.
fn change<R>(dir: &Path, change: impl FnOnce(&mut Vec<Paired>) -> client::Result<R>) -> client::Result<R> {
    folder::change(&path(dir), |devices: &mut Vec<Paired>| {
        devices.retain(Paired::is_known);
        change(devices)
    })
}

/// A name that no other device has: a person revokes one by it.
fn unique(devices: &[Paired], called: &str) -> String {
    let is_free = |name: &str| {
        devices
            .iter()
            .all(|device| device.name != name && device.id != name)
    };
    let numbered = (2_u32..).map(|number| format!("{called} {number}"));
    let mut names = std::iter::once(called.to_owned()).chain(numbered);
    names.find(|name| is_free(name)).unwrap_or_default()
}

fn path(dir: &Path) -> PathBuf {
    dir.join("devices")
}

fn stamp(path: &Path) -> Option<Stamp> {
    let file = std::fs::metadata(path).ok()?;
    Some((file.ino(), file.mtime(), file.mtime_nsec(), file.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Scope;

    fn code(dir: &Path, scope: Scope) -> String {
        codes::give(dir, scope, None).unwrap()
    }

    #[tokio::test]
    async fn a_token_is_kept_as_its_hash_and_ends_when_it_is_revoked_or_forgotten() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path();
        let devices = Devices::follow(dir.to_owned()).unwrap();
        assert_eq!(devices.pair("wrong", "x").unwrap(), Err(Invalid::Unknown));
        let (token, phone) = devices.pair(&code(dir, Scope::Look), "phone").unwrap().unwrap();
        assert_eq!(token.len(), 2 * TOKEN);
        assert!(!std::fs::read_to_string(path(dir)).unwrap().contains(&token));
        assert_eq!(devices.of_token(&token).unwrap(), Some(phone.clone()));
        assert_eq!(devices.of_token(&token[1..]).unwrap(), None);
        assert_eq!(devices.of_token("").unwrap(), None);

        // Another one of the name.
        let (other, second) = devices.pair(&code(dir, Scope::Act), "phone").unwrap().unwrap();
        assert_eq!((second.name.as_str(), second.scope), ("phone 2", Scope::Act));

        // A stream of the revoked one ends, and its token is refused at once.
        let held = devices.hold_stream(&phone.id).unwrap();
        revoke(dir, "phone").unwrap();
        held.revoked().await;
        assert_eq!(devices.of_token(&token).unwrap(), None);
        revoke(dir, "phone").unwrap_err();

        // Not used for so long.
        change(dir, |devices| {
            devices[0].used_ms -= 91 * 24 * 60 * 60 * 1000;
            Ok(())
        })
        .unwrap();
        assert_eq!(devices.of_token(&other).unwrap(), None);
        assert_eq!(list(dir).unwrap(), []);
    }

    #[tokio::test]
    async fn a_device_has_so_many_streams_at_once() {
        let scratch = tempfile::tempdir().unwrap();
        let devices = Devices::follow(scratch.path().to_owned()).unwrap();
        let mut held: Vec<_> = (0..STREAMS).map(|_| devices.hold_stream("a").unwrap()).collect();
        assert!(devices.hold_stream("a").is_none());
        assert!(devices.hold_stream("b").is_some());
        held.pop();
        assert!(devices.hold_stream("a").is_some());
    }
}
