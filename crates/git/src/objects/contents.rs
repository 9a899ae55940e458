//! The contents of files, read by the names of their blobs.

use crate::error::{Error, Result};
use crate::repository::Repository;
use crate::types::oid::Oid;

/// The greatest file whose content is read, in bytes.
pub const MOST_READ: usize = 4 << 20;
/// The number of files that are read with one process.
const AT_ONCE: usize = 16;
/// More than the line before an object: its name, its type and its size.
const HEAD_BYTES: usize = 128;

impl Repository {
    /// The contents of blobs or commits, in the order of `ids`; none for one that is larger than
    /// [`MOST_READ`].
    ///
    /// # Errors
    /// [`Error::Failed`], [`Error::Unreadable`] when one of them does not exist.
    pub fn contents(&self, ids: &[Oid]) -> Result<Vec<Option<Vec<u8>>>> {
        // Most are small, and are read without a process of their own.
        if let Some(found) = self.objects_of(ids) {
            return Ok(found.into_iter().map(|(_, content)| Some(content)).collect());
        }
        let sizes = self.cat_file("--batch-check=%(objectsize)", ids, 32 * ids.len() as u64)?;
        let sizes: Vec<usize> = String::from_utf8_lossy(&sizes)
            .lines()
            .map(|line| line.parse().map_err(|_| Error::unreadable("cat-file", line)))
            .collect::<Result<_>>()?;
        let is_read = |size: &&usize| **size <= MOST_READ;
        let small = ids.iter().zip(&sizes).filter(|(_, size)| is_read(size));
        let small: Vec<(Oid, usize)> = small.map(|(id, size)| (id.clone(), *size)).collect();
        let mut read = Vec::with_capacity(small.len());
        for part in small.chunks(AT_ONCE) {
            let names: Vec<Oid> = part.iter().map(|(id, _)| id.clone()).collect();
            let bytes: usize = part.iter().map(|(_, size)| size + HEAD_BYTES).sum();
            let said = self.cat_file("--batch", &names, bytes as u64)?;
            let mut rest = said.as_slice();
            for (id, size) in part {
                let content = next_object(&mut rest, *size);
                read.push(content.ok_or_else(|| Error::unreadable("cat-file", id.as_str()))?);
            }
        }
        let mut read = read.into_iter();
        Ok(sizes
            .iter()
            .map(|size| is_read(&size).then(|| read.next()).flatten())
            .collect())
    }

    fn cat_file(&self, how: &str, ids: &[Oid], limit: u64) -> Result<Vec<u8>> {
        let lines: String = ids.iter().map(|id| format!("{id}\n")).collect();
        self.call("cat-file")
            .arg(how)
            .input(lines.as_bytes())?
            .output_limit(limit.max(1 << 10))
            .ok()
    }
}

/// Takes the next object, of a known size, off what `cat-file --batch` has said.
fn next_object(said: &mut &[u8], size: usize) -> Option<Vec<u8>> {
    let head = said.iter().position(|byte| *byte == b'\n')? + 1;
    let content = said.get(head..head + size)?.to_vec();
    *said = said.get(head + size + 1..)?;
    Some(content)
}
