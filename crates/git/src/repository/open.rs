//! Opening a repository: finding it, and refusing one that crew cannot work on.

use std::path::{Path, PathBuf};

use crate::command::git::Git;
use crate::command::run::Output;
use crate::error::{Error, IoContext, Result};
use crate::repository::git_dir::MARKER;
use crate::repository::memory::Memories;
use crate::repository::root::{self, Noted};
use crate::repository::{Repository, StandingGits};
use crate::types::oid::Format;
use crate::types::shortened::shortened;

impl Repository {
    /// Finds the repository of `path` (absolute): from its root, any folder in it, or a linked worktree.
    ///
    /// # Errors
    /// [`Error::NotARepository`], [`Error::ForeignOwner`], [`Error::Bare`], [`Error::Empty`],
    /// [`Error::Shallow`], [`Error::PartialClone`], [`Error::InsideWorkspace`]. In each case nothing was
    /// written.
    pub fn open(git: &Git, path: &Path) -> Result<Self> {
        if !path.is_dir() {
            return Err(Error::NotARepository {
                path: path.to_owned(),
            });
        }
        let search = Search { git, path };
        let common = search.common()?;
        if common.join(MARKER).exists() {
            return Err(Error::InsideWorkspace { path: common });
        }
        let git_dir = search.ask("--absolute-git-dir")?.path();
        let shown = search.ask("--show-toplevel")?;
        let shown = (shown.code == Some(0)).then(|| shown.path());
        let noted = root::noted(&common);
        let main = match (search.main(&common)?, &noted) {
            (Main::At(main), _) => Some(main),
            (Main::None, _) => None,
            (Main::Unknown, _) if git_dir == common && shown.is_some() => shown.clone(),
            (Main::Unknown, Some(Noted::Main(main))) => Some(main.clone()),
            // Its checkout could not follow the branch that moves.
            (Main::Unknown, _) => return Err(Error::MainUnknown { path: common }),
        };
        let Some(here) = shown.or_else(|| main.clone()) else {
            return Err(Error::Bare { path: common });
        };
        let (root, root_git_dir) = match (noted, &main) {
            (Some(Noted::Worktree { root, git_dir }), _) => (root, git_dir),
            (_, Some(main)) => (main.clone(), common.clone()),
            (_, None) => (here.clone(), git_dir.clone()),
        };
        // In a linked worktree git has checked the owner of that worktree alone, and crew follows the main
        // checkout too.
        for other in main.iter().chain([&root]).filter(|other| **other != here) {
            if search.is_foreign(other)? {
                return Err(Error::ForeignOwner { path: other.clone() });
            }
        }
        if search.ask("--is-shallow-repository")?.stdout.starts_with(b"true") {
            return Err(Error::Shallow { path: root });
        }
        if search.is_partial(&common)? {
            return Err(Error::PartialClone { path: root });
        }
        let repository = Self {
            git: git.clone(),
            main,
            root,
            root_git_dir,
            here,
            git_dir,
            common,
            format: search.format()?,
            lock: None,
            memories: Memories::default(),
            standing_gits: StandingGits::default(),
            file_settings: std::sync::Arc::default(),
            scratch: None,
            pool_size: 0,
        };
        if repository.is_empty()? {
            return Err(Error::Empty {
                path: repository.root,
            });
        }
        Ok(repository)
    }

    fn is_empty(&self) -> Result<bool> {
        let any = self.call("rev-list").args(["--all", "--max-count=1"]).run()?;
        let head = self.rev_parse("HEAD^{commit}")?;
        // The call fails where a ref's commit is gone; such a repository had commits.
        Ok(any.code == Some(0) && any.stdout.is_empty() && head.is_none())
    }
}

/// The main checkout of a git directory.
enum Main {
    At(PathBuf),
    /// It has one that names the git directory, and not the other way round: `git init --separate-git-dir`.
    Unknown,
    /// It is bare.
    None,
}

/// Questions to git about a folder whose repository is not known yet.
struct Search<'a> {
    git: &'a Git,
    path: &'a Path,
}

impl Search<'_> {
    fn ask(&self, what: &str) -> Result<Output> {
        self.git
            .call("rev-parse")
            .users_settings()
            .may_find_bare()
            .cwd(self.path)
            .arg("--path-format=absolute")
            .arg(what)
            .run()
    }

    /// The git directory that all checkouts share.
    fn common(&self) -> Result<PathBuf> {
        let found = self.ask("--git-common-dir")?;
        if found.code == Some(0) {
            return Ok(found.path());
        }
        let path = self.path.to_owned();
        Err(if found.stderr.contains("dubious ownership") {
            Error::ForeignOwner { path }
        } else if found.stderr.contains("not a git repository") {
            Error::NotARepository { path }
        } else {
            let (code, said) = (found.code, found.stderr.clone());
            match found.failed() {
                failed if failed.is_passing() || code.is_none() => failed,
                _ => Error::Unusable {
                    path,
                    says: in_a_line(&said),
                },
            }
        })
    }

    fn config(&self, common: &Path, key: &str) -> Result<Option<String>> {
        let said = self
            .git
            .call("config")
            .git_dir(common)
            .args(["--get", key])
            .run()?;
        let value = String::from_utf8_lossy(&said.stdout)
            .trim_end_matches('\n')
            .to_owned();
        Ok((said.code == Some(0)).then_some(value))
    }

    /// What the git directory itself says of the main checkout.
    fn main(&self, common: &Path) -> Result<Main> {
        if let Some(tree) = self.config(common, "core.worktree")? {
            let tree = common.join(tree).canonicalize();
            return Ok(Main::At(tree.doing("find the work tree", common)?));
        }
        if self.config(common, "core.bare")?.as_deref() == Some("true") {
            return Ok(Main::None);
        }
        if common.file_name().is_some_and(|name| name == ".git") {
            return Ok(Main::At(common.parent().unwrap_or(common).to_owned()));
        }
        Ok(Main::Unknown)
    }

    /// Whether git considers this checkout to be another user's.
    fn is_foreign(&self, root: &Path) -> Result<bool> {
        let asked = self.git.call("rev-parse").users_settings().cwd(root);
        let said = asked.arg("--git-dir").run()?;
        Ok(said.stderr.contains("dubious ownership"))
    }

    fn is_partial(&self, common: &Path) -> Result<bool> {
        if self.config(common, "extensions.partialClone")?.is_some() {
            return Ok(true);
        }
        let promisors = ["--get-regexp", r"^remote\..*\.promisor$"];
        let said = self.git.call("config").git_dir(common).args(promisors).run()?;
        Ok(said.code == Some(0))
    }

    fn format(&self) -> Result<Format> {
        let said = self.ask("--show-object-format")?.stdout;
        let name = String::from_utf8_lossy(&said).trim().to_owned();
        Format::parse(&name).ok_or_else(|| {
            Error::unreadable(
                "rev-parse",
                format!("unknown object format {}", shortened(&name, 40)),
            )
        })
    }
}

/// A message of git's as one line, without its own word for an error.
fn in_a_line(said: &str) -> String {
    let said: Vec<&str> = said.split_whitespace().collect();
    let said = said.join(" ");
    match said.strip_prefix("fatal: ") {
        Some(why) => why.to_owned(),
        None if said.is_empty() => "it does not say why".to_owned(),
        None => said,
    }
}
