//! Mounts: file systems that somebody has mounted inside of a folder. What is in them is not the folder's.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// The places inside of `folder` at which something is mounted; none where the system does not say.
pub(crate) fn mounts_in(folder: &Path) -> Vec<PathBuf> {
    let (Ok(real), Ok(table)) = (folder.canonicalize(), std::fs::read("/proc/self/mountinfo")) else {
        return Vec::new();
    };
    let places = table.split(|byte| *byte == b'\n').filter_map(|line| {
        let place = line.split(|byte| *byte == b' ').nth(4)?;
        let place = PathBuf::from(OsString::from_vec(unescaped(place)));
        let inside = place.strip_prefix(&real).ok()?;
        (!inside.as_os_str().is_empty()).then(|| folder.join(inside))
    });
    places.collect()
}

/// The kernel writes blanks, line ends and backslashes as three octal digits after a backslash.
fn unescaped(place: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(place.len());
    let mut rest = place;
    while let [first, tail @ ..] = rest {
        let digits = tail.get(..3).filter(|_| *first == b'\\');
        let code = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        plain.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[3..] } else { tail };
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_in_a_place_is_read_as_the_kernel_writes_it() {
        assert_eq!(unescaped(br"/a\040b\134c\x"), br"/a b\c\x");
    }

    #[test]
    fn what_is_mounted_below_a_folder_is_found_and_the_folder_itself_is_not() {
        assert!(mounts_in(Path::new("/")).contains(&PathBuf::from("/proc")));
        assert!(!mounts_in(Path::new("/proc")).contains(&PathBuf::from("/proc")));
    }
}
