//! Addresses of GitHub's: those of remotes and of pull requests.

/// Whether a text is the address of a pull request, and so no option of `gh`.
pub(crate) fn is_address(url: &str) -> bool {
    place_of(url).is_some()
}

/// The number in the address of a pull request.
pub(crate) fn number_of(url: &str) -> Option<u64> {
    place_of(url).map(|place| place.number)
}

/// The place of a pull request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PullPlace<'a> {
    pub(super) host: &'a str,
    /// `owner/name`.
    pub(super) repository: &'a str,
    pub(super) number: u64,
}

/// Reads the address of a pull request: `https://host/owner/name/pull/12`.
pub(super) fn place_of(url: &str) -> Option<PullPlace<'_>> {
    let (host, path) = url.strip_prefix("https://")?.split_once('/')?;
    let (repository, number) = path.split_once("/pull/")?;
    let (owner, name) = repository.split_once('/')?;
    let is_sound = is_host(host) && is_word(owner) && is_word(name);
    let number = number.parse().ok().filter(|_| is_sound)?;
    Some(PullPlace {
        host,
        repository,
        number,
    })
}

/// `host/owner/name` of a remote's address; none for a folder, or an abbreviation of ssh's.
pub(super) fn repository_of(address: &str) -> Option<String> {
    let rest = ["https://", "ssh://", "git://"]
        .iter()
        .find_map(|scheme| address.strip_prefix(scheme));
    let (host, path) = match rest {
        Some(rest) => rest.split_once('/')?,
        None => address.split_once(':')?,
    };
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    let host = if host == "ssh.github.com" {
        "github.com"
    } else {
        host
    };
    let path = path.trim_matches('/');
    let (owner, name) = path.strip_suffix(".git").unwrap_or(path).split_once('/')?;
    let is_sound = is_host(host) && is_word(owner) && is_word(name);
    is_sound.then(|| format!("{host}/{owner}/{name}"))
}

fn is_host(host: &str) -> bool {
    host.contains('.') && !host.starts_with('.') && is_word(host)
}

pub(super) fn is_word(word: &str) -> bool {
    let is_sound = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    !["", ".", ".."].contains(&word) && !word.starts_with('-') && word.chars().all(is_sound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_remote_names_the_repository_where_it_is_one_of_a_host() {
        let named = Some("github.com/team/it".to_owned());
        for address in [
            "git@github.com:team/it.git",
            "https://github.com/team/it",
            "https://ann:secret@github.com/team/it.git",
            "ssh://git@ssh.github.com:443/team/it.git",
        ] {
            assert_eq!(repository_of(address), named, "{address}");
        }
        for address in [
            "../remote.git",
            "/srv/it.git",
            "work:team/it",
            "git@github.com:it",
            "https://x.y/a/b/c",
            "https://x.y/a/..",
        ] {
            assert_eq!(repository_of(address), None, "{address}");
        }
    }

    #[test]
    fn the_address_of_a_pull_request_has_its_place() {
        let place = place_of("https://github.com/team/it/pull/12").unwrap();
        assert_eq!(
            (place.host, place.repository, place.number),
            ("github.com", "team/it", 12)
        );
        assert_eq!(
            place_of("https://github.com/team/.github/pull/1").map(|place| place.repository),
            Some("team/.github")
        );
        for bad in [
            "https://github.com/team/it/issues/12",
            "https://github.com/team/../pull/12",
            "--repo",
            "https://github.com/team/pull/12",
            "file:///x",
        ] {
            assert_eq!(place_of(bad), None, "{bad}");
        }
    }
}
