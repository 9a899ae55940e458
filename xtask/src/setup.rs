//! What a fresh machine needs before anything can be tested.

use std::path::Path;

use crate::tiers::Tier;
use crate::{Outcome, program};

/// The oldest git that crew works with: the `git` crate's own minimum.
const GIT: (u32, u32) = (2, 41);

/// A program that is needed: how to ask for it, why, and the packages that bring it on Debian.
struct Need {
    /// The first tier of tests that needs it.
    tier: Tier,
    program: &'static str,
    arguments: &'static [&'static str],
    why: &'static str,
    debian: &'static [&'static str],
}

const NEEDS: &[Need] = &[
    Need {
        tier: Tier::First,
        program: "git",
        arguments: &["version"],
        why: "the tests run on real repositories",
        debian: &["git", "ca-certificates"],
    },
    Need {
        tier: Tier::First,
        program: "cc",
        // Not just there, but with the headers of a C library.
        arguments: &["-x", "c", "-include", "stdio.h", "-fsyntax-only", "/dev/null"],
        why: "SQLite is compiled from C",
        debian: &["gcc", "libc6-dev"],
    },
    Need {
        tier: Tier::First,
        program: "strace",
        arguments: &["-V"],
        why: "a test reads from it in which order what lands is made durable",
        debian: &["strace"],
    },
    Need {
        tier: Tier::First,
        program: "git-lfs",
        arguments: &["version"],
        why: "tests land files that are in Git LFS",
        debian: &["git-lfs"],
    },
    Need {
        tier: Tier::First,
        program: "zsh",
        arguments: &["--version"],
        why: "tests complete command lines in it",
        debian: &["zsh"],
    },
    Need {
        tier: Tier::First,
        program: "fish",
        arguments: &["--version"],
        why: "tests complete command lines in it",
        debian: &["fish"],
    },
    Need {
        tier: Tier::First,
        program: "chromium",
        arguments: &["--version"],
        why: "tests open the web page in it",
        debian: &["chromium", "fonts-dejavu-core"],
    },
    Need {
        tier: Tier::Deep,
        program: "c++",
        arguments: &["-x", "c++", "-include", "cstdio", "-fsyntax-only", "/dev/null"],
        why: "libFuzzer is compiled from C++",
        debian: &["g++"],
    },
    Need {
        tier: Tier::First,
        program: "mount",
        arguments: &["--version"],
        why: "tests fill a disk of their own",
        debian: &["mount"],
    },
    Need {
        tier: Tier::First,
        program: "unshare",
        arguments: &["--version"],
        why: "what tests mount is nobody else's",
        debian: &["util-linux"],
    },
    Need {
        tier: Tier::First,
        program: "prlimit",
        arguments: &["--version"],
        why: "tests run out of descriptors and processes",
        debian: &["util-linux"],
    },
    Need {
        tier: Tier::First,
        program: "setpriv",
        arguments: &["--version"],
        why: "as root, tests run out of processes as another user",
        debian: &["util-linux"],
    },
];

/// Checks that the machine has all of it, and brings what is missing where that is a matter of course: on
/// Debian, as root.
pub(crate) fn check(root: &Path, tier: Tier) -> Outcome {
    for need in NEEDS.iter().filter(|need| need.tier <= tier) {
        if !program::works(root, need.program, need.arguments) {
            bring(root, need)?;
            program::output(root, need.program, need.arguments)?;
        }
    }
    may_mount(root)?;
    let version = program::output(root, "git", &["version"])?;
    if !is_new_enough(&version) {
        let (major, minor) = GIT;
        return Err(format!(
            "git {major}.{minor} or newer is needed, and this is {}: install a newer one",
            version.trim()
        ));
    }
    for component in ["fmt", "clippy"] {
        if !program::works(root, "cargo", &[component, "--version"]) {
            let name = if component == "fmt" { "rustfmt" } else { component };
            return Err(format!(
                "`cargo {component}` does not work: `rustup component add {name}` (rust-toolchain.toml asks for it)"
            ));
        }
    }
    println!(
        "{}; {}",
        version.trim(),
        program::output(root, "rustc", &["--version"])?.trim()
    );
    Ok(())
}

/// Tries what the tests do: a file system in a mount namespace, and for anyone but root in a user namespace.
fn may_mount(root: &Path) -> Outcome {
    let how = if is_root(root) { "-m" } else { "-rm" };
    let tried = ["mount", "-t", "tmpfs", "crew-set-up", "/tmp"];
    if program::works(root, "unshare", &[&[how], &tried[..]].concat()) {
        return Ok(());
    }
    Err(format!(
        "this machine lets nobody mount: `unshare {how} {}` fails, and tests fill disks of their own. Allow user namespaces \
         (`sysctl kernel.unprivileged_userns_clone=1`, on Ubuntu `sysctl kernel.apparmor_restrict_unprivileged_userns=0`), or, \
         in a container, run it with CAP_SYS_ADMIN",
        tried.join(" ")
    ))
}

fn is_root(root: &Path) -> bool {
    program::output(root, "id", &["-u"]).is_ok_and(|id| id.trim() == "0")
}

fn bring(root: &Path, need: &Need) -> Outcome {
    let Need {
        program, why, debian, ..
    } = need;
    let packages = debian.join(" ");
    let debian_like = Path::new("/etc/debian_version").exists();
    if !debian_like || !is_root(root) {
        let how = if debian_like {
            format!("`sudo apt-get install {packages}`")
        } else {
            format!("your system's package manager ({packages} on Debian)")
        };
        return Err(format!(
            "`{program}` is missing, and needed because {why}: install it with {how}"
        ));
    }
    println!("`{program}` is missing: installing {packages}");
    program::run(root, "apt-get", &["update", "--quiet"])?;
    let mut arguments = vec!["install", "--quiet", "--yes", "--no-install-recommends"];
    arguments.extend(*debian);
    program::run(root, "apt-get", &arguments)
}

/// Reads the answer of `git version`.
fn is_new_enough(answer: &str) -> bool {
    let numbers = answer.trim().strip_prefix("git version ").unwrap_or_default();
    let mut numbers = numbers
        .split(|c: char| !c.is_ascii_digit())
        .map_while(|number| number.parse::<u32>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) => (major, minor) >= GIT,
        (Some(_) | None, Some(_) | None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_git_are_compared_as_numbers() {
        for good in [
            "git version 2.41.0\n",
            "git version 2.47.3",
            "git version 3.0",
            "git version 2.50.1 (Apple Git-155)",
        ] {
            assert!(is_new_enough(good), "{good}");
        }
        for bad in [
            "git version 2.40.9",
            "git version 2.5.0",
            "git version 1.99",
            "",
            "2.41",
            "git version two",
        ] {
            assert!(!is_new_enough(bad), "{bad}");
        }
    }

    #[test]
    fn the_minimum_is_that_of_the_git_crate() {
        let source = std::fs::read_to_string(crate::root().join("crates/git/src/types/version.rs")).unwrap();
        let source: String = source.split_whitespace().collect();
        let (major, minor) = GIT;
        let minimum = format!("MINIMUM:Self=Self{{major:{major},minor:{minor},");
        assert!(source.contains(&minimum), "GIT is not the git crate's MINIMUM");
    }
}
