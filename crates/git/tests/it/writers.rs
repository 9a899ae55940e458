//! Writers: a landing waits for a git of the user's that is at work in the checkout, and for no other.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use git::{Intent, Landing, Obstacle};

use crate::support::{World, main_branch, merged, path_variable, put};

/// A merge that changes `README`.
fn to_land(world: &World) -> Intent {
    let old = world.oid("main");
    world.git(&["checkout", "-q", "-b", "side"]);
    world.write("README", "theirs\n");
    let tip = world.commit_all("side");
    world.git(&["checkout", "-q", "main"]);
    let candidate = merged(&world.open(), &old, &tip);
    Intent {
        target: main_branch(),
        old,
        new: candidate.commit,
    }
}

/// A script that names its parent in a file, and ends when that file is gone.
fn waiting(world: &World, script: &Path, first: &str, last: &str) -> PathBuf {
    let gate = world.folder.path().join("gate");
    let text = format!(
        "#!/bin/sh\n{first}\necho $PPID >{0}.new && mv {0}.new {0}\nwhile test -e {0}; do sleep 0.1; done\n{last}\n",
        gate.display()
    );
    put(script, &text);
    std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
    gate
}

/// A git of the user's that goes on while the test looks, in a shell: a child of this process would be
/// crew's.
fn begin(world: &World, folder: &Path, args: &[&str], gate: &Path) -> Child {
    #[expect(clippy::disallowed_methods, reason = "a test plays the user")]
    let child = Command::new("/bin/sh")
        .env_clear()
        .env("PATH", path_variable())
        .env("HOME", world.home())
        .current_dir(folder)
        .args(["-c", "git \"$@\" & wait $!", "sh"])
        .args(args)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let limit = SystemTime::UNIX_EPOCH.elapsed().unwrap() + Duration::from_secs(30);
    while !gate.exists() {
        assert!(
            SystemTime::UNIX_EPOCH.elapsed().unwrap() < limit,
            "waited in vain"
        );
        std::thread::yield_now();
    }
    child
}

fn process(gate: &Path) -> u32 {
    std::fs::read_to_string(gate).unwrap().trim().parse().unwrap()
}

fn is_waited_for(world: &World, intent: &Intent, process: u32) {
    let before = (world.read("README"), world.refs());
    let Landing::InTheWay(blocked) = world.open_locked().land(intent).unwrap() else {
        panic!("it landed");
    };
    let [one] = blocked.as_slice() else {
        panic!("{blocked:?}");
    };
    let obstacle = Obstacle::Git {
        command: "commit",
        process,
    };
    assert_eq!((&one.checkout, one.obstacle), (&world.root(), obstacle));
    assert_eq!((world.read("README"), world.refs()), before, "something moved");
    assert!(!world.root().join(".git/index.lock").exists());
}

/// A hook hides the edits that are not staged, as the pre-commit framework does, and brings them back. The
/// naive version writes the file meanwhile, and then the edit is in no checkout.
#[test]
fn an_edit_that_a_hook_hides_is_not_written_over() {
    let world = World::new();
    let intent = to_land(&world);
    let aside = world.folder.path().join("aside");
    let hide = format!(
        "git diff --no-ext-diff >{0} && git checkout -q -- .",
        aside.display()
    );
    let show = format!("git apply {}", aside.display());
    let hook = world.root().join(".git/hooks/pre-commit");
    let gate = waiting(&world, &hook, &hide, &show);
    world.write("staged.txt", "mine\n");
    world.git(&["add", "staged.txt"]);
    world.write("README", "mine\n");
    let mut commit = begin(&world, &world.root(), &["commit", "-q", "-m", "mine"], &gate);
    assert_eq!(world.read("README"), "hello\n", "it is hidden");
    is_waited_for(&world, &intent, process(&gate));
    std::fs::remove_file(&gate).unwrap();
    assert!(commit.wait().unwrap().success());
    assert_eq!(world.read("README"), "mine\n");
    assert_eq!(world.git(&["show", "HEAD:staged.txt"]), "mine");
}

#[test]
fn a_commit_with_its_editor_open_is_waited_for_in_a_linked_worktree_too() {
    for linked in [false, true] {
        let world = World::new();
        let intent = to_land(&world);
        let mut folder = world.root();
        if linked {
            world.git(&["switch", "-q", "--detach"]);
            folder = world.folder.path().join("linked");
            world.git(&["worktree", "add", "-q", folder.to_str().unwrap(), "main"]);
        }
        let editor = world.folder.path().join("editor");
        let gate = waiting(&world, &editor, "", "echo mine >\"$1\"");
        let core = format!("core.editor={}", editor.display());
        let args = ["-c", &core, "commit", "-q", "--allow-empty"];
        let mut commit = begin(&world, &folder, &args, &gate);
        let Landing::InTheWay(blocked) = world.open_locked().land(&intent).unwrap() else {
            panic!("it landed");
        };
        assert!(matches!(blocked[0].obstacle, Obstacle::Git { .. }), "{blocked:?}");
        assert_eq!(blocked[0].checkout, folder);
        // Given up, it is waited for no longer.
        let pid = rustix::process::Pid::from_raw(process(&gate).try_into().unwrap());
        rustix::process::kill_process(pid.unwrap(), rustix::process::Signal::KILL).unwrap();
        commit.wait().unwrap();
        let landed = world.open_locked().land(&intent).unwrap();
        assert_eq!(landed, Landing::Landed { left: vec![] }, "{linked}");
        std::fs::remove_file(&gate).unwrap();
    }
}

/// A diff that a person reads, a commit on another branch in another worktree, and one in a repository that
/// stands in the checkout.
#[test]
fn a_git_that_reads_or_works_elsewhere_holds_no_landing_up() {
    let cases: [(&str, &[&str]); 3] = [
        ("", &["-c", "diff.external={script}", "diff"]),
        ("../linked", &["commit", "-q", "--allow-empty", "-m", "mine"]),
        ("nested", &["commit", "-q", "--allow-empty", "-m", "mine"]),
    ];
    for (folder, args) in cases {
        let world = World::new();
        let intent = to_land(&world);
        world.git(&["worktree", "add", "-q", "-b", "other", "../linked", "main"]);
        world.git(&["init", "-q", "nested"]);
        for key in ["user.name", "user.email"] {
            world.git_at(&world.root().join("nested"), &["config", key, "mine@example.org"]);
        }
        let script = match folder {
            "" => world.folder.path().join("viewer"),
            "nested" => world.root().join("nested/.git/hooks/pre-commit"),
            _ => world.root().join(".git/hooks/pre-commit"),
        };
        let gate = waiting(&world, &script, "", "");
        world.write("src/lib.txt", "mine\n");
        let args: Vec<String> = args
            .iter()
            .map(|word| word.replace("{script}", &script.display().to_string()))
            .collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut git = begin(&world, &world.root().join(folder), &args, &gate);
        let landed = world.open_locked().land(&intent).unwrap();
        assert_eq!(landed, Landing::Landed { left: vec![] }, "{args:?}");
        std::fs::remove_file(&gate).unwrap();
        assert!(git.wait().unwrap().success(), "{args:?}");
        assert_eq!(world.read("src/lib.txt"), "mine\n");
    }
}
