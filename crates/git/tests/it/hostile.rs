//! Hostile agents, which plant, forge and tamper.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use git::{Error, Intent, Landing, Outcome, Refusal, Repository, Workspace};

use crate::support::{AT, World, limits, main_branch, merged, message, path_variable, put};

/// Makes an object in the workspace that no decent git would make, and returns its id.
fn forge(world: &World, at: &Path, kind: &str, content: &[u8]) -> String {
    #[expect(clippy::disallowed_methods, reason = "a test plays the agent")]
    let mut child = std::process::Command::new("git")
        .env_clear()
        .env("PATH", path_variable())
        .env("HOME", world.home())
        .current_dir(at)
        .args(["hash-object", "-w", "--literally", "--stdin", "-t", kind])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(content).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout)
        .unwrap()
        .trim()
        .to_owned()
}

fn entry(mode: &str, name: &[u8], oid: &str) -> Vec<u8> {
    let mut bytes = format!("{mode} ").into_bytes();
    bytes.extend(name);
    bytes.push(0);
    bytes.extend(
        (0..oid.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&oid[at..at + 2], 16).unwrap()),
    );
    bytes
}

/// Moves the agent's branch to a commit of this tree on the base.
fn commit_tree(world: &World, workspace: &Workspace, tree: &str) {
    let content = format!(
        "tree {tree}\nparent {}\nauthor a <a@a> 1700000000 +0000\ncommitter a <a@a> 1700000000 +0000\n\nforged\n",
        workspace.base()
    );
    let commit = forge(world, &workspace.path(), "commit", content.as_bytes());
    put(
        &workspace.path().join(".git/refs/heads/agent/ada-t-1"),
        &format!("{commit}\n"),
    );
}

/// The naive version fetches or merges what the agent has: `.git` in a tree merges well, and then nobody can
/// check the target out any more.
#[test]
fn hostile_trees_are_refused() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();
    let blob = forge(&world, &at, "blob", b"[core]\n\tfsmonitor = x\n");
    let link = forge(&world, &at, "blob", b"/etc/passwd");
    let modules = forge(
        &world,
        &at,
        "blob",
        b"[submodule \"x\"]\n\tpath = x\n\turl = --upload-pack=touch\n",
    );
    let inner = forge(&world, &at, "tree", &entry("100644", b"config", &blob));
    let missing = "1".repeat(40);
    let commit = workspace.base().as_str();
    let mut trees: Vec<(String, Vec<u8>)> = Vec::new();
    let dot_gits: [&[u8]; 12] = [
        b".git",
        b".GIT",
        b".Git",
        b"git~1",
        b"GIT~1",
        b".git ",
        b".git.",
        b".git...",
        b".git::$INDEX_ALLOCATION",
        b".g\xe2\x80\x8cit",
        b".\xe2\x80\x8cgit",
        b".git\\hooks",
    ];
    for name in dot_gits {
        trees.push((
            format!("file {}", String::from_utf8_lossy(name)),
            entry("100644", name, &blob),
        ));
        trees.push((
            format!("folder {}", String::from_utf8_lossy(name)),
            entry("40000", name, &inner),
        ));
    }
    for name in [&b".."[..], b".", b"", b"a/b", b"../x"] {
        trees.push((
            format!("name {:?}", String::from_utf8_lossy(name)),
            entry("100644", name, &blob),
        ));
    }
    let deep = forge(&world, &at, "tree", &entry("40000", b".git", &inner));
    let twice = [entry("100644", b"a", &blob), entry("100644", b"a", &link)].concat();
    let unsorted = [entry("100644", b"b", &blob), entry("100644", b"a", &link)].concat();
    let more = [
        ("deep .git", entry("40000", b"a", &deep)),
        (".gitmodules as a symlink", entry("120000", b".gitmodules", &link)),
        (
            ".gitmodules with an option",
            entry("100644", b".gitmodules", &modules),
        ),
        ("duplicate", twice),
        ("unsorted", unsorted),
        ("padded mode", entry("0100644", b"a", &blob)),
        ("no object", entry("100644", b"a", &"0".repeat(40))),
        ("missing object", entry("100644", b"a", &missing)),
        ("blob as a tree", entry("40000", b"a", &blob)),
        ("tree as a blob", entry("100644", b"a", &inner)),
        ("submodule", entry("160000", b"module", commit)),
        (".crew", entry("40000", b".crew", &inner)),
        (".CREW", entry("40000", b".CREW", &inner)),
        ("agents", entry("40000", b"agents", &inner)),
        ("cut off", b"100644 a".to_vec()),
    ];
    trees.extend(more.into_iter().map(|(name, tree)| (name.to_owned(), tree)));
    assert!(trees.len() >= 40);
    let refs = world.refs();
    for (name, content) in trees {
        let tree = forge(&world, &at, "tree", &content);
        commit_tree(&world, &workspace, &tree);
        match repository.import(&workspace, &limits()) {
            Err(Error::Refused { refusals, .. }) => assert!(!refusals.is_empty(), "{name}"),
            other => panic!("{name}: {other:?}"),
        }
        assert_eq!(world.refs(), refs, "{name}");
    }
}

#[test]
fn hostile_commits_are_refused() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let tree = world.git(&["rev-parse", "HEAD^{tree}"]);
    let who = "author a <a@a> 1700000000 +0000\ncommitter a <a@a> 1700000000 +0000\n";
    let base = workspace.base();
    let commits = [
        format!("tree {tree}\nparent {base}\n\nnobody\n"),
        format!("tree {tree}\nparent {}\n{who}\nmissing parent\n", "1".repeat(40)),
        format!("tree {}\nparent {base}\n{who}\nmissing tree\n", "1".repeat(40)),
        format!("tree {base}\nparent {base}\n{who}\ncommit as a tree\n"),
        format!(
            "tree {tree}\nparent {base}\nauthor a <a@a> 99999999999999999999999 +0000\ncommitter a <a@a> 1 +0000\n\ndate\n"
        ),
        format!(
            "tree {tree}\nparent {base}\nauthor a 1700000000 +0000\ncommitter a <a@a> 1 +0000\n\nno address\n"
        ),
        format!("tree {tree}\nparent {base}\nauthor a\0 <a@a> 1 +0000\ncommitter a <a@a> 1 +0000\n\nNUL\n"),
        format!("parent {base}\n{who}\nno tree\n"),
    ];
    let refs = world.refs();
    for content in commits {
        let commit = forge(&world, &workspace.path(), "commit", content.as_bytes());
        put(
            &workspace.path().join(".git/refs/heads/agent/ada-t-1"),
            &format!("{commit}\n"),
        );
        let said = repository.import(&workspace, &limits());
        assert!(matches!(said, Err(Error::Refused { .. })), "{content}: {said:?}");
        assert_eq!(world.refs(), refs);
    }
}

/// Every way a HEAD can be wrong; the files are saved all the same, and nothing hangs or is read from
/// elsewhere.
#[test]
fn a_head_that_leads_nowhere_loses_no_files() {
    let world = World::new();
    let repository = world.open_locked();
    let blob = world.git(&["rev-parse", "HEAD:README"]);
    let outside = world.folder.path().join("outside");
    put(&outside, &format!("{}\n", world.head()));
    let heads = [
        "ref: refs/heads/../../../outside\n".to_owned(),
        "ref: ../../outside\n".to_owned(),
        format!("ref: {}\n", outside.display()),
        "ref: refs/heads/unborn\n".to_owned(),
        "ref: HEAD\n".to_owned(),
        "ref: refs/heads/loop\n".to_owned(),
        "garbage".to_owned(),
        String::new(),
        "\0".repeat(100),
        "a".repeat(100_000),
        format!("{}\n", "1".repeat(40)),
        format!("{blob}\n"),
    ];
    for (number, head) in heads.iter().enumerate() {
        let spec = world.spec("ada", &format!("t-{number}"));
        let workspace = repository.prepare(&spec).unwrap();
        let git_dir = workspace.path().join(".git");
        put(&git_dir.join("refs/heads/loop"), "ref: refs/heads/loop\n");
        put(&git_dir.join("HEAD"), head);
        saved_as_files(&world, &repository, &workspace, head);
    }
    type Tamper = fn(&Path);
    let others: [(&str, Tamper); 5] = [
        ("symlink", |head| {
            std::os::unix::fs::symlink("../../../outside", head).unwrap();
        }),
        ("folder", |head| std::fs::create_dir(head).unwrap()),
        ("fifo", |head| rustix_fifo(head)),
        ("missing", |_| {}),
        ("git file", |head| {
            let git_dir = head.parent().unwrap();
            std::fs::remove_dir_all(git_dir).unwrap();
            std::fs::write(git_dir, "gitdir: /nonexistent\n").unwrap();
        }),
    ];
    for (name, tamper) in others {
        let workspace = repository
            .prepare(&world.spec("bob", &format!("x-{}", name.replace(' ', "-"))))
            .unwrap();
        let head = workspace.path().join(".git/HEAD");
        std::fs::remove_file(&head).unwrap();
        tamper(&head);
        saved_as_files(&world, &repository, &workspace, name);
    }
}

#[expect(clippy::disallowed_methods, reason = "a test plays the agent")]
fn rustix_fifo(path: &Path) {
    assert!(
        std::process::Command::new("mkfifo")
            .arg(path)
            .status()
            .unwrap()
            .success()
    );
}

fn saved_as_files(world: &World, repository: &Repository, workspace: &Workspace, what: &str) {
    put(&workspace.path().join("work.txt"), "work\n");
    let saved = repository.save(workspace, "leftovers", AT, &limits()).unwrap();
    assert!(saved.lost_head.is_some(), "{what:?}");
    assert_eq!(saved.imported.changes.len(), 1, "{what:?}");
    assert_eq!(
        world.git(&["show", &format!("{}:work.txt", saved.imported.tip)]),
        "work"
    );
}

/// Everything in a workspace that makes git run a program. Returns the file that any of them would write.
fn plant(world: &World, workspace: &Workspace) -> std::path::PathBuf {
    let proof = world.folder.path().join("executed");
    let at = workspace.path();
    let git_dir = at.join(".git");
    let run = world.folder.path().join("run");
    put(
        &run,
        &format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", proof.display()),
    );
    make_executable(&run);
    let run = run.display();
    let config = format!(
        "[core]\n\trepositoryFormatVersion = 0\n\tfsmonitor = {run}\n\thooksPath = {at}/.git/hooks\n\tsshCommand = {run}\n\tpager = {run}\n\
         \teditor = {run}\n\taskPass = {run}\n\talternateRefsCommand = {run}\n\tgitProxy = {run}\n\tattributesFile = {at}/.gitattributes\n\
         \tuntrackedCache = true\n\tsparseCheckout = true\n\
         [diff]\n\texternal = {run}\n[diff \"x\"]\n\tcommand = {run}\n\ttextconv = {run}\n\
         [filter \"x\"]\n\tclean = {run}\n\tsmudge = {run}\n\tprocess = {run}\n\trequired = true\n\
         [merge \"x\"]\n\tdriver = {run}\n[gpg]\n\tprogram = {run}\n[gpg \"ssh\"]\n\tprogram = {run}\n\
         [commit]\n\tgpgSign = true\n[log]\n\tshowSignature = true\n[credential]\n\thelper = {run}\n\
         [uploadpack]\n\tpackObjectsHook = {run}\n[alias]\n\tstatus = !{run}\n\tupdate-ref = !{run}\n\
         [interactive]\n\tdiffFilter = {run}\n[sequence]\n\teditor = {run}\n[protocol]\n\tallow = always\n\
         [gc]\n\tauto = 1\n[trailer \"x\"]\n\tcommand = {run}\n[submodule]\n\trecurse = true\n\
         [extensions]\n\tworktreeConfig = true\n[include]\n\tpath = {at}/more.config\n",
        at = at.display()
    );
    put(&git_dir.join("config"), &config);
    put(&git_dir.join("config.worktree"), &config);
    put(&at.join("more.config"), &format!("[core]\n\tfsmonitor = {run}\n"));
    put(&at.join(".gitattributes"), "* filter=x diff=x merge=x\n");
    put(
        &at.join(".gitmodules"),
        "[submodule \"x\"]\n\tpath = x\n\turl = ../x\n\tupdate = checkout\n",
    );
    put(&git_dir.join("info/attributes"), "* filter=x diff=x merge=x\n");
    for hook in [
        "pre-commit",
        "commit-msg",
        "prepare-commit-msg",
        "post-commit",
        "post-checkout",
        "post-merge",
        "pre-merge-commit",
        "reference-transaction",
        "post-index-change",
        "pre-push",
        "pre-auto-gc",
        "post-rewrite",
        "update",
        "fsmonitor-watchman",
    ] {
        let file = git_dir.join("hooks").join(hook);
        put(
            &file,
            &format!("#!/bin/sh\necho '{hook}' >> '{}'\n", proof.display()),
        );
        make_executable(&file);
    }
    // A bare repository and a nested one, buried in the tree.
    for inside in ["buried", "nested/.git"] {
        let folder = at.join(inside);
        put(&folder.join("HEAD"), "ref: refs/heads/main\n");
        put(&folder.join("config"), &config);
        std::fs::create_dir_all(folder.join("objects")).unwrap();
        std::fs::create_dir_all(folder.join("refs/heads")).unwrap();
    }
    put(&at.join("nested/file.txt"), "nested\n");
    put(&at.join("src/lib.txt"), "planted\n");
    proof
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// The naive version runs git in the workspace: 43 of 110 combinations ran the agent's code.
#[test]
fn nothing_planted_in_a_workspace_runs_in_crew() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    put(&workspace.path().join("committed.txt"), "c\n");
    world.git_at(&workspace.path(), &["add", "-A"]);
    world.git_at(&workspace.path(), &["commit", "-q", "-m", "work"]);
    let proof = plant(&world, &workspace);

    repository.import(&workspace, &limits()).unwrap();
    let said = repository.save(&workspace, "leftovers", AT, &limits());
    assert!(
        matches!(&said, Err(Error::Refused { refusals, .. })
            if matches!(refusals[0], Refusal::AgentsFilter { .. })),
        "{said:?}"
    );
    let said = std::fs::read_to_string(&proof).unwrap_or_default();
    assert_eq!(said, "", "executed in crew");
    // The agent commits the files without its programs.
    let off = [
        "filter.x.clean=",
        "filter.x.process=",
        "filter.x.required=false",
        "core.fsmonitor=false",
        "core.hooksPath=/dev/null",
        "user.name=ada",
        "user.email=ada@example.org",
    ];
    let off: Vec<&str> = off.into_iter().flat_map(|one| ["-c", one]).collect();
    let files = [".gitattributes", ".gitmodules", "buried", "more.config", "src"];
    let add = [&off[..], &["add", "--sparse"], &files].concat();
    world.git_at(&workspace.path(), &add);
    let commit = [&off[..], &["commit", "-q", "--no-gpg-sign", "-m", "planted"]].concat();
    world.git_at(&workspace.path(), &commit);
    std::fs::remove_file(&proof).ok();
    let saved = repository.save(&workspace, "leftovers", AT, &limits()).unwrap();
    assert!(
        saved
            .imported
            .changes
            .iter()
            .any(|change| change.path.ends_with("src/lib.txt"))
    );
    assert_eq!(saved.nested.len(), 1);
    workspace.write_instructions(b"again\n").unwrap();
    repository.prepare(&world.spec("ada", "t-1")).unwrap();
    let old = world.head();
    let candidate = merged(&repository, &old, &saved.imported.tip);
    let check = repository
        .check_checkout(
            &world.folder.path().join("check"),
            &candidate.commit,
            git::Stay::Everything,
        )
        .unwrap();
    drop(check);
    let intent = Intent {
        target: main_branch(),
        old,
        new: candidate.commit,
    };
    assert_eq!(
        repository.land(&intent).unwrap(),
        Landing::Landed { left: vec![] }
    );
    repository.rescue(&workspace).unwrap();
    let said = std::fs::read_to_string(&proof).unwrap_or_default();
    assert_eq!(said, "", "executed in crew");

    // The naive version.
    world.try_git_at(&workspace.path(), &["status"]);
    assert!(
        proof.exists(),
        "the plants do not work, so the test proves nothing"
    );
    std::fs::remove_file(&proof).unwrap();
    repository.remove(&workspace).unwrap();
    assert!(!proof.exists());
    assert_eq!(world.status(), "");
}

/// An agent that hides edits from its own git does not hand them in. The naive version loses them with the
/// workspace.
#[test]
fn edits_that_an_agents_index_hides_do_not_land_and_are_kept() {
    let world = World::new();
    world.write("gone.txt", "gone\n");
    world.commit_all("gone");
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();
    world.git_at(&at, &["update-index", "--assume-unchanged", "README"]);
    world.git_at(
        &at,
        &["update-index", "--skip-worktree", "src/lib.txt", "gone.txt"],
    );
    put(&at.join("README"), "hidden\n");
    put(&at.join("src/lib.txt"), "hidden too\n");
    std::fs::remove_file(at.join("gone.txt")).unwrap();
    put(&at.join("work.txt"), "work\n");
    for _ in 0..2 {
        let saved = repository.save(&workspace, "leftovers", AT, &limits()).unwrap();
        let changes = saved.imported.changes.iter();
        let changed: Vec<&Path> = changes.map(|change| change.path.as_path()).collect();
        assert_eq!(changed, [Path::new("work.txt")]);
    }
    assert_eq!(world.git_at(&at, &["status", "--porcelain"]), "");
    let rescued = repository.remove(&workspace).unwrap();
    let [kept] = rescued.kept.as_slice() else {
        panic!("{rescued:?}");
    };
    let edits = world.git(&["diff", "--name-only", &format!("{}^", kept.name), &kept.name]);
    assert_eq!(edits, "README\nsrc/lib.txt");
}

/// The naive version takes the agent's object directory as it is: its alternates make crew fetch from
/// anywhere.
#[test]
fn alternates_of_an_agent_bring_nothing_in() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let victim = world.folder.path().join("victim");
    std::fs::create_dir(&victim).unwrap();
    world.git_at(&victim, &["init", "-q"]);
    put(&victim.join("secret"), "secret\n");
    let secret = world.git_at(&victim, &["hash-object", "-w", "secret"]);
    let alternates = workspace.path().join(".git/objects/info/alternates");
    let more = format!(
        "{}{}\n",
        std::fs::read_to_string(&alternates).unwrap(),
        victim.join(".git/objects").display()
    );
    put(&alternates, &more);
    let tree = forge(
        &world,
        &workspace.path(),
        "tree",
        &entry("100644", b"stolen", &secret),
    );
    commit_tree(&world, &workspace, &tree);
    assert_eq!(
        world.git_at(&workspace.path(), &["show", "agent/ada-t-1:stolen"]),
        "secret"
    );
    assert!(matches!(
        repository.import(&workspace, &limits()),
        Err(Error::Refused { .. })
    ));
    assert!(
        !world
            .try_git_at(&world.root(), &["cat-file", "-e", &secret])
            .status
            .success()
    );
}

/// The agent has a repository of its own, so its changes to refs stay in that.
#[test]
fn moving_main_and_replacing_objects_in_a_workspace_moves_nothing_of_the_users() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let at = workspace.path();
    let refs = world.refs();
    put(&at.join("evil.txt"), "evil\n");
    world.git_at(&at, &["add", "-A"]);
    world.git_at(&at, &["commit", "-q", "-m", "evil"]);
    world.git_at(&at, &["branch", "-f", "main", "HEAD"]);
    world.git_at(&at, &["replace", workspace.base().as_str(), "HEAD", "-f"]);
    world.git_at(&at, &["tag", "v1"]);
    assert_eq!(world.refs(), refs);
    let imported = repository.import(&workspace, &limits()).unwrap();
    assert_eq!(imported.changes.len(), 1);
    assert_eq!(world.oid("main"), *workspace.base());
    assert_eq!(world.git(&["for-each-ref", "refs/replace", "refs/tags"]), "");
}

/// A replacement in the *user's* repository would make crew merge something else than what it checks.
#[test]
fn replaced_objects_and_grafts_do_not_count() {
    let world = World::new();
    world.git(&["checkout", "-q", "-b", "side"]);
    world.write("good.txt", "good\n");
    world.commit_all("good");
    let good = world.head();
    world.git(&["checkout", "-q", "-b", "evil", "main"]);
    world.write("evil.txt", "evil\n");
    world.commit_all("evil");
    world.git(&["checkout", "-q", "main"]);
    world.git(&["replace", good.as_str(), "evil"]);
    let candidate = merged(&world.open(), &world.head(), &good);
    assert_eq!(candidate.changes.len(), 1);
    assert_eq!(candidate.changes[0].path.to_str(), Some("good.txt"));
}

/// The caller sees every changed path, so that a candidate with `crew.toml` in it is held.
#[test]
fn a_change_of_the_settings_is_seen_in_the_candidate() {
    let world = World::new();
    world.write("crew.toml", "[checks]\ncommands = [\"make test\"]\n");
    world.commit_all("settings");
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    world.git_at(&workspace.path(), &["mv", "crew.toml", "elsewhere.toml"]);
    let saved = repository.save(&workspace, "moved", AT, &limits()).unwrap();
    let who = git::Identity::new("crew", "crew@example.org");
    let outcome = repository
        .candidate(&world.head(), &saved.imported.tip, &message(), &who, &who, AT)
        .unwrap();
    let Outcome::Candidate(candidate) = outcome else {
        panic!("{outcome:?}")
    };
    assert!(
        candidate
            .changes
            .iter()
            .any(|change| change.path == Path::new("crew.toml"))
    );
}

/// Names that git's work tree functions pass over are named, not lost in silence.
#[test]
fn a_file_that_git_does_not_take_keeps_the_workspace() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    put(&workspace.path().join("sub/.GIT/notes.txt"), "notes\n");
    put(&workspace.path().join("git~1"), "x\n");
    let saved = repository.save(&workspace, "leftovers", AT, &limits()).unwrap();
    assert_eq!(saved.unsaved.len(), 2, "{:?}", saved.unsaved);
    assert!(matches!(
        repository.remove(&workspace),
        Err(Error::Unsaved { .. })
    ));
    assert!(workspace.path().join("git~1").exists());
}

/// Work that cannot be kept stays, and is in nobody's way.
#[test]
fn a_workspace_set_aside_makes_room_for_the_next_attempt() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let root = workspace.path().parent().unwrap().to_owned();
    put(&workspace.path().join("git~1"), "x\n");
    let archived = repository.archive_workspace(&workspace).unwrap();
    assert_eq!(std::fs::read_to_string(archived.join("git~1")).unwrap(), "x\n");
    let next = world.workspace(&repository);
    assert_eq!(next.path(), workspace.path());
    put(&next.path().join("git~1"), "y\n");
    let second = repository.archive_workspace(&next).unwrap();
    assert_eq!(
        Repository::archived_workspaces(&root).unwrap(),
        [archived, second]
    );
}

#[test]
fn a_thousand_races_never_lead_a_write_out() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let victim = world.folder.path().join("victim");
    std::fs::create_dir(&victim).unwrap();
    let (git_dir, real) = (workspace.path().join(".git"), workspace.path().join("real"));
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let racer = scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                std::fs::rename(&git_dir, &real).unwrap();
                std::os::unix::fs::symlink(&victim, &git_dir).unwrap();
                std::fs::remove_file(&git_dir).unwrap();
                std::fs::rename(&real, &git_dir).unwrap();
            }
        });
        let (mut written, mut refused) = (0_u32, 0_u32);
        // All may fall into one moment in which the other stands still.
        while written + refused < 1000 || (written.min(refused) == 0 && written + refused < 1_000_000) {
            match workspace.write_instructions(b"x\n") {
                Ok(()) => written += 1,
                Err(_) => refused += 1,
            }
            assert!(!racer.is_finished());
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(written.min(refused) > 0, "{written} written, {refused} refused");
    });
    assert_eq!(std::fs::read_dir(&victim).unwrap().count(), 0);
}

#[test]
fn a_refused_submodule_names_its_path() {
    let world = World::new();
    let repository = world.open_locked();
    let workspace = world.workspace(&repository);
    let inside = workspace.path().join("sub");
    put(&inside.join("x"), "x\n");
    world.git_at(&inside, &["init", "-q"]);
    world.git_at(&inside, &["add", "-A"]);
    world.git_at(
        &inside,
        &[
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@x",
            "commit",
            "-q",
            "-m",
            "inner",
        ],
    );
    world.git_at(&workspace.path(), &["add", "-A"]);
    world.git_at(&workspace.path(), &["commit", "-q", "-m", "with an empty link"]);
    match repository.save(&workspace, "leftovers", AT, &limits()) {
        Err(Error::Refused { refusals, .. }) => {
            let refused = Refusal::Submodule {
                path: "sub".into(),
                recorded: None,
            };
            assert_eq!(refusals, [refused]);
        }
        other => panic!("{other:?}"),
    }
    // Its files are kept before the workspace goes.
    repository.remove(&workspace).unwrap();
    let kept = repository.kept(Some(workspace.ticket())).unwrap();
    let holds = |path: &str| {
        kept.iter().any(|one| {
            world
                .try_git_at(
                    &world.root(),
                    &["cat-file", "-e", &format!("{}:{path}", one.name)],
                )
                .status
                .success()
        })
    };
    assert!(holds("x"), "{kept:?}");
}

/// The naive version takes refused objects for lost ones: the files land without their commits, which are in
/// no ref.
#[test]
fn an_earlier_commit_that_git_refuses_loses_no_commits() {
    let world = World::new();
    let repository = world.open_locked();
    let refused = |ticket: &str, begin: &dyn Fn(&Workspace)| {
        let workspace = repository.prepare(&world.spec("ada", ticket)).unwrap();
        let at = workspace.path();
        begin(&workspace);
        put(&at.join("work.txt"), "work\n");
        world.git_at(&at, &["add", "-A"]);
        world.git_at(&at, &["commit", "-q", "-m", "work"]);
        put(&at.join("more.txt"), "more\n");
        let refs = world.refs();
        let head = world.git_at(&at, &["rev-parse", "HEAD"]);
        let why = match repository.save(&workspace, "leftovers", AT, &limits()) {
            Err(Error::Refused { refusals, .. }) => match &refusals[..] {
                [Refusal::Unsound { why }] => why.clone(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        };
        assert_eq!(world.refs(), refs);
        assert_eq!(world.git_at(&at, &["rev-parse", "HEAD"]), head);
        // The commits are nowhere else, so the workspace stays.
        let removed = repository.remove(&workspace);
        assert!(matches!(removed, Err(Error::Unsaved { .. })), "{removed:?}");
        why
    };
    let why = refused("t-1", &|workspace| {
        let at = workspace.path();
        let modules = "[submodule \"lib\"]\n\tpath = lib\n\turl = https://github.com:owner/lib.git\n";
        put(&at.join(".gitmodules"), modules);
        world.git_at(&at, &["add", "-A"]);
        world.git_at(&at, &["commit", "-q", "-m", "modules"]);
        world.git_at(&at, &["rm", "-q", ".gitmodules"]);
        world.git_at(&at, &["commit", "-q", "-m", "no modules"]);
    });
    assert!(why.contains("gitmodulesUrl"), "{why}");
    assert!(why.contains("rewrite that commit"), "{why}");
    let why = refused("t-2", &|workspace| {
        let tree = world.git(&["rev-parse", "HEAD^{tree}"]);
        let content = format!(
            "tree {tree}\nparent {}\nauthor a a@a 1700000000 +0000\ncommitter a <a@a> 1700000000 +0000\n\nforged\n",
            workspace.base()
        );
        let commit = forge(&world, &workspace.path(), "commit", content.as_bytes());
        world.git_at(&workspace.path(), &["reset", "-q", "--hard", &commit]);
    });
    assert!(
        why.contains("missingEmail") || why.contains("missingSpaceBeforeEmail"),
        "{why}"
    );
}
