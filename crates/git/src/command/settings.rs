//! The settings that every call of git pins, and why.
//!
//! A pin is an argument `-c`, which is stronger than the files of the system, of the user and of the
//! repository. Each pin is there because a value that somebody may well have changes an answer, runs a
//! program, or waits for a person.

/// The beginning of a command of the user's in crew's calls: it lets the command see the user's settings,
/// which git itself does not read there.
pub(crate) const AS_THE_USERS: &str = "unset GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM GIT_ATTR_NOSYSTEM; \
     [ -z \"$CREW_GIT_CONFIG_GLOBAL\" ] || export GIT_CONFIG_GLOBAL=\"$CREW_GIT_CONFIG_GLOBAL\"; ";
/// The same for a filter's command: it runs in the user's checkout, since a command such as `./tools/x` would
/// otherwise be a program that an agent can write.
pub(crate) const IN_THE_CHECKOUT: &str =
    "export GIT_WORK_TREE=\"$CREW_CHECKOUT\"; unset CREW_CHECKOUT; cd \"$GIT_WORK_TREE\" || exit; ";
/// The variable in which such a command finds the file of the user's settings, where a variable names one.
pub(super) const USERS_GLOBAL: &str = "CREW_GIT_CONFIG_GLOBAL";
/// The variable that names the user's checkout to a filter's command.
pub(super) const CHECKOUT: &str = "CREW_CHECKOUT";

/// Settings that are pinned on every call.
pub(super) const PINS: &[&str] = &[
    // A hook is a program. Hooks of the user's are for the user's own commands, and crew moves refs often.
    "core.hooksPath=/dev/null",
    // Any value but a boolean is a command that git runs as it reads an index. `true` starts a daemon, which
    // has made programs hang that wait for their git: jj-vcs/jj#6440, bazelbuild/bazel#21438.
    "core.fsmonitor=false",
    // These two write more into an index than its entries. crew reads the indexes that it writes without git,
    // and the user's index keeps the form that the user's git gave it.
    "core.untrackedCache=false",
    "core.splitIndex=false",
    // With it, `update-index` puts entries behind the sparse folder that holds their old ones, and the user's
    // next commit loses what landed (git 2.47). An index that crew wrote is whole; the user's git folds it.
    "index.sparse=false",
    // A program that shows or asks something would wait for a person who is not there.
    "core.pager=cat",
    "core.editor=false",
    "core.askPass=",
    "credential.helper=",
    // git prints names as C strings by default; crew reads names as bytes.
    "core.quotePath=false",
    // A warning about a name that is a branch and a tag goes to standard error, which crew shows when a call
    // fails. Every name that crew gives is a full one.
    "core.warnAmbiguousRefs=false",
    // A tree may hold `.GIT` or `git~1`, which other file systems take for `.git` (CVE-2014-9390). The first
    // is off by default on Linux, and what lands here is checked out elsewhere.
    "core.protectHFS=true",
    "core.protectNTFS=true",
    // git waits this many milliseconds for another git's lock of a ref or of the packed refs. By default it
    // gives up after 100 ms and 1,000 ms, and a user's commit takes longer than that on a slow disk.
    "core.filesRefLockTimeout=1000",
    "core.packedRefsTimeout=5000",
    // After a power cut a ref must not name an object that is not there. By default git flushes packs and no
    // refs or loose objects.
    "core.fsync=all",
    "core.fsyncMethod=fsync",
    // A loose object is put in place by a link, which fails where the object is there already. The other way
    // replaces the object.
    "core.createObject=link",
    // The user's repository may have packs that only a multi-pack index makes quick to search.
    "core.multiPackIndex=true",
    // A bare repository that is committed as plain files brings its own configuration, which git would take
    // up in that folder: libgit2/libgit2#6400 tells how that runs a program.
    "safe.bareRepository=explicit",
    // No call needs another host. A submodule or a promisor remote must not make one.
    "protocol.allow=never",
    // A collection of garbage takes the locks of all refs, takes minutes, and may run on after the call has
    // ended.
    "gc.auto=0",
    "maintenance.auto=false",
    // A signature is a person's, and asks for a passphrase: jesseduffield/lazygit#30.
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    // This one prints the output of gpg into the output of `git log`, which crew reads.
    "log.showSignature=false",
    // With it, git goes into submodules as it reads a tree or looks at files, and fails or destroys where
    // they are not as it expects: jj-vcs/jj#7565, pre-commit/pre-commit#2063.
    "submodule.recurse=false",
    // Escape sequences in what crew reads.
    "color.ui=false",
    // The bytes of a message are UTF-8 as crew writes them, and are read as they are.
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
    // An agent decides how much is packed. One thread, so that an import does not take the machine from the
    // agents.
    "pack.threads=1",
    // Git LFS asks no server for an object that the user's store does not have: the file stays a pointer.
    "lfs.url=file:///dev/null",
    "lfs.skipDownloadErrors=true",
    // The merge of two commits must be the same whoever asks for it: these are git's own defaults, and users
    // change them.
    "merge.renames=true",
    "merge.directoryRenames=conflict",
    "merge.conflictStyle=merge",
    "merge.renormalize=false",
    "diff.renames=true",
];

/// Settings that are pinned on all calls but those about the user's own checkout, which leave these to the
/// user.
pub(super) const RAW_PINS: &[&str] = &[
    // A line ending that changes with the way to the repository and back is no error.
    "core.safecrlf=false",
    // A repository that came from another system may have this off. Workspaces stand on a file system that
    // has modes.
    "core.fileMode=true",
    // A workspace has every file of its commit.
    "core.sparseCheckout=false",
];

/// Settings that are pinned on calls without files: merges, and the reading of objects.
///
/// Calls about the files of workspaces and check checkouts get the user's instead.
pub(super) const FILE_PINS: &[&str] = &[
    // The bytes of a file are the bytes of its blob.
    "core.autocrlf=false",
    "core.eol=lf",
    "core.symlinks=true",
    // Attributes in the user's home name filters and merge drivers, which are programs.
    "core.attributesFile=/dev/null",
];

/// Pins that calls to a remote do without: they keep a call from the network and from credentials.
pub(super) const NOT_TO_REMOTES: &[&str] = &[
    "credential.helper=",
    "protocol.allow=never",
    "lfs.url=file:///dev/null",
    "lfs.skipDownloadErrors=true",
];

/// Settings that are pinned on calls to a remote alone.
pub(super) const REMOTE_PINS: &[&str] = &[
    // A helper of credentials may open a window, and nobody sits in front of it.
    "credential.interactive=false",
    // A connection over which nothing comes is given up long before the deadline.
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=30",
    // crew pushes one branch, unsigned and alone.
    "push.gpgSign=false",
    "push.followTags=false",
    "push.recurseSubmodules=no",
    // With it, Git LFS calls a push without all of its objects a success.
    "lfs.allowIncompletePush=false",
    // A fetch takes one branch, and deletes nothing.
    "fetch.prune=false",
    "fetch.pruneTags=false",
    "fetch.recurseSubmodules=false",
    "fetch.writeCommitGraph=false",
];

/// The protocols of calls to a remote. Not `ext`, whose address is a command.
pub(super) const PROTOCOLS: &str = "file:git:http:https:ssh";
