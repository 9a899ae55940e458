//! Disk use: the bytes of files below a folder, and a number of bytes in words.

use std::path::Path;

/// Bytes of the files below a folder; links are not followed.
pub fn bytes_below(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => bytes_below(&entry.path()),
            Ok(_) => entry.metadata().map_or(0, |meta| meta.len()),
            Err(_) => 0,
        })
        .sum()
}

/// A number of bytes in its largest unit: `950 B`, `1.5 MiB`.
pub fn in_words(bytes: u64) -> String {
    let (mut unit, mut short) = (1_u64, "B");
    for (larger, name) in [(1 << 10, "KiB"), (1 << 20, "MiB"), (1 << 30, "GiB")] {
        if bytes >= larger {
            (unit, short) = (larger, name);
        }
    }
    match unit {
        1 => format!("{bytes} B"),
        _ => format!("{}.{} {short}", bytes / unit, bytes % unit * 10 / unit),
    }
}
