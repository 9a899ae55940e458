//! The files of the folder `page` that are served: none of its tests and tools.

use std::borrow::Cow;

use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "page/src"]
#[prefix = "src/"]
#[allow_missing = true]
struct Sources;

#[derive(RustEmbed)]
#[folder = "page/vendor"]
#[prefix = "vendor/"]
#[allow_missing = true]
struct Vendored;

#[derive(RustEmbed)]
#[folder = "page/css"]
#[prefix = "css/"]
#[allow_missing = true]
struct Styles;

/// The files of the folder itself, with their content.
macro_rules! top {
    ($($name:literal),* $(,)?) => {
        const TOP: &[&str] = &[$($name),*];

        #[cfg(not(debug_assertions))]
        fn top(name: &str) -> Option<Cow<'static, [u8]>> {
            match name {
                $($name => Some(Cow::Borrowed(include_bytes!(concat!("../../page/", $name)))),)*
                _ => None,
            }
        }
    };
}

top![
    "index.html",
    "app.css",
    "sw.js",
    "manifest.webmanifest",
    "icon.svg",
    "icon-180.png",
    "icon-192.png",
    "icon-512.png",
    "icon-maskable-512.png",
];

#[cfg(debug_assertions)]
fn top(name: &str) -> Option<Cow<'static, [u8]>> {
    let name = TOP.iter().find(|top| **top == name)?;
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/page");
    Some(Cow::Owned(
        std::fs::read(std::path::Path::new(folder).join(name)).ok()?,
    ))
}

/// A file by its path below the folder; none where it is missing, or not to be served.
pub(super) fn read(name: &str) -> Option<Cow<'static, [u8]>> {
    if !is_plain(name) {
        return None;
    }
    let file = Sources::get(name)
        .or_else(|| Vendored::get(name))
        .or_else(|| Styles::get(name));
    file.map(|file| file.data).or_else(|| top(name))
}

/// Every file with its path, in the order of the paths.
pub(super) fn all() -> Vec<(String, Cow<'static, [u8]>)> {
    let mut names: Vec<String> = Sources::iter()
        .chain(Vendored::iter())
        .chain(Styles::iter())
        .map(Cow::into_owned)
        .collect();
    names.extend(TOP.iter().map(|name| (*name).to_owned()));
    names.sort();
    let content = |name: String| Some((name.clone(), read(&name)?));
    names.into_iter().filter_map(content).collect()
}

/// Whether a path is made of plain names: none leads out of the folder.
fn is_plain(path: &str) -> bool {
    path.split('/').all(|name| {
        let letters = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        letters && !name.is_empty() && !name.starts_with('.')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_belongs_to_the_page_is_served() {
        assert!(read("index.html").is_some());
        for name in [
            "../Cargo.toml",
            "src/../../Cargo.toml",
            "/etc/passwd",
            "package.json",
            "tsconfig.json",
            "vendor.toml",
            "",
            "src",
            "src/",
            "src//main.js",
            "./index.html",
            "src/main.js\0",
            "src/%2e%2e/index.html",
        ] {
            assert!(read(name).is_none(), "{name}");
        }
    }
}
