//! The user's settings for files: filters, line endings, encodings, links, ignore rules and Git LFS hold
//! wherever crew or an agent reads and writes files, so that the work lands as git would commit it.

use std::fs;
use std::path::Path;

use testkit::world::World;

/// Fails unless git, which must read every file again, sees no change.
const CLEAN: &str = "find . -name .git -prune -o -type f -exec touch {} +\n\
                     git status --porcelain > \"$LOGS/status\"\n\
                     [ ! -s \"$LOGS/status\" ] || { cat \"$LOGS/status\"; exit 9; }\n";

/// A repository whose checks fail where git sees a change in the checkout of the check.
fn world(attributes: &str, file: &str, content: &[u8]) -> World {
    let world = World::with(|s| {
        s.checks = "commands = [\"find . -name .git -prune -o -type f -exec touch {} + && test -z \\\"$(git status --porcelain)\\\"\"]".to_owned();
    });
    if !attributes.is_empty() {
        world.commit(".gitattributes", attributes);
    }
    fs::create_dir_all(world.project(file).parent().unwrap()).unwrap();
    fs::write(world.project(file), content).unwrap();
    world.git(&["add", file]);
    world.git(&["commit", "-q", "-m", "a file"]);
    // The file as a clone has it.
    fs::remove_file(world.project(file)).unwrap();
    world.git(&["checkout", "-q", "--", file]);
    world
}

/// Has two agents change a file one after the other: the first leaves it uncommitted, the second commits it.
fn land_twice(world: &World, change: &str) {
    let left = format!("{CLEAN}n=1\n{change}\necho DONE");
    world.ticket("t-1").agent(&left).write();
    world.drain_all();
    let committed = format!("{CLEAN}n=2\n{change}\ngit add -A\ngit commit -qm work\n{CLEAN}echo DONE");
    world.ticket("t-2").agent(&committed).write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1", "t-2"]);
    assert_clean(world);
}

/// Checks that git sees no change in the user's checkout, reading every file again.
fn assert_clean(world: &World) {
    for name in world.git(&["ls-files"]).lines() {
        let path = world.project(name);
        if path.symlink_metadata().unwrap().is_file() {
            let file = fs::File::options().append(true).open(&path).unwrap();
            file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        }
    }
    assert_eq!(world.git(&["status", "--porcelain", "--", ":!.tickets"]), "");
}

/// Bytes of a file in the user's checkout.
fn bytes(world: &World, file: &str) -> Vec<u8> {
    fs::read(world.project(file)).unwrap()
}

#[test]
fn line_endings_of_attributes_hold_in_workspaces_and_in_the_checkout() {
    let world = world("* text=auto eol=crlf\n", "a.txt", b"one\r\n");
    land_twice(
        &world,
        "[ \"$(head -n 1 a.txt)\" = \"$(printf 'one\\r')\" ] || exit 9\nprintf \"$n\\r\\n\" >> a.txt",
    );
    assert_eq!(world.on_main("a.txt").unwrap(), "one\n1\n2\n");
    assert_eq!(bytes(&world, "a.txt"), b"one\r\n1\r\n2\r\n");
}

#[test]
fn autocrlf_of_the_repository_holds_in_workspaces_and_in_the_checkout() {
    let world = world("", "a.txt", b"one\n");
    world.git(&["config", "core.autocrlf", "true"]);
    fs::remove_file(world.project("a.txt")).unwrap();
    world.git(&["checkout", "-q", "--", "."]);
    land_twice(
        &world,
        "[ \"$(head -n 1 a.txt)\" = \"$(printf 'one\\r')\" ] || exit 9\nprintf \"$n\\r\\n\" >> a.txt",
    );
    assert_eq!(world.on_main("a.txt").unwrap(), "one\n1\n2\n");
    assert_eq!(bytes(&world, "a.txt"), b"one\r\n1\r\n2\r\n");
}

#[test]
fn autocrlf_input_of_the_user_takes_carriage_returns_out() {
    let world = world("", "a.txt", b"one\n");
    fs::write(world.path("home/.gitconfig"), "[core]\n\tautocrlf = input\n").unwrap();
    land_twice(
        &world,
        "printf \"$n\\r\\n\" >> a.txt\nprintf 'new\\r\\n' > \"new$n.txt\"",
    );
    assert_eq!(world.on_main("a.txt").unwrap(), "one\n1\n2\n");
    assert_eq!(world.on_main("new1.txt").unwrap(), "new\n");
    assert_eq!(world.on_main("new2.txt").unwrap(), "new\n");
}

#[test]
fn a_file_that_was_committed_with_carriage_returns_keeps_them_under_text_auto() {
    let world = world("", "a.txt", b"one\r\n");
    world.commit(".gitattributes", "* text=auto\n");
    assert_clean(&world);
    land_twice(&world, "printf \"$n\\r\\n\" >> a.txt");
    assert_eq!(world.on_main("a.txt").unwrap(), "one\r\n1\r\n2\r\n");
}

#[test]
fn a_filter_of_the_repositorys_settings_is_run_wherever_files_are() {
    let world = world("*.txt filter=case\n", "a.txt", b"ONE\n");
    world.git(&["config", "filter.case.clean", "tr a-z A-Z"]);
    world.git(&["config", "filter.case.smudge", "tr A-Z a-z"]);
    world.git(&["config", "filter.case.required", "true"]);
    fs::remove_file(world.project("a.txt")).unwrap();
    world.git(&["checkout", "-q", "--", "a.txt"]);
    land_twice(
        &world,
        "[ \"$(head -n 1 a.txt)\" = one ] || exit 9\necho \"more$n\" >> a.txt\necho new > \"new$n.txt\"",
    );
    assert_eq!(world.on_main("a.txt").unwrap(), "ONE\nMORE1\nMORE2\n");
    assert_eq!(world.on_main("new1.txt").unwrap(), "NEW\n");
    assert_eq!(bytes(&world, "a.txt"), b"one\nmore1\nmore2\n");
    assert_eq!(bytes(&world, "new2.txt"), b"new\n");
}

#[test]
fn ident_is_expanded_in_files_alone() {
    let world = world("*.txt ident\n", "a.txt", b"$Id$\n");
    land_twice(
        &world,
        "grep -q '^.Id: [0-9a-f]* .$' a.txt || exit 9\necho \"more$n\" >> a.txt",
    );
    assert_eq!(world.on_main("a.txt").unwrap(), "$Id$\nmore1\nmore2\n");
    assert!(world.read("a.txt").starts_with("$Id: "));
}

#[test]
fn an_encoding_of_the_work_tree_holds_in_workspaces_and_in_the_checkout() {
    let utf16 = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let world = world("*.txt working-tree-encoding=UTF-16LE\n", "a.txt", &utf16("one\n"));
    land_twice(&world, "printf \"$n\\0\\n\\0\" >> a.txt");
    assert_eq!(world.on_main("a.txt").unwrap(), "one\n1\n2\n");
    assert_eq!(bytes(&world, "a.txt"), utf16("one\n1\n2\n"));
}

#[test]
fn a_link_without_links_stays_a_link() {
    let world = world("", "a.txt", b"one\n");
    std::os::unix::fs::symlink("a.txt", world.project("link")).unwrap();
    world.git(&["add", "link"]);
    world.git(&["commit", "-qm", "a link"]);
    world.git(&["config", "core.symlinks", "false"]);
    fs::remove_file(world.project("link")).unwrap();
    world.git(&["checkout", "-q", "--", "link"]);
    land_twice(
        &world,
        "[ ! -h link ] && [ -f link ] || exit 9\nprintf \"to$n\" > link",
    );
    assert_eq!(world.on_main("link").unwrap(), "to2");
    assert!(world.git(&["ls-tree", "main", "link"]).starts_with("120000 "));
    assert_eq!(bytes(&world, "link"), b"to2");
}

#[test]
fn files_that_the_user_ignores_do_not_land() {
    let world = world("", "a.txt", b"one\n");
    fs::create_dir_all(world.path("home/.config/git")).unwrap();
    fs::write(world.path("home/.config/git/ignore"), "usual.secret\n").unwrap();
    let exclude = world.project(".git/info/exclude");
    let text = fs::read_to_string(&exclude).unwrap_or_default() + "\nrepositorys.secret\n";
    fs::write(exclude, text).unwrap();
    let script = "for name in usual repositorys; do echo secret > $name.secret; done\n\
                  git status --porcelain > \"$LOGS/seen\"\n[ ! -s \"$LOGS/seen\" ] || exit 9\n\
                  echo two > b.txt\necho DONE";
    world.ticket("t-1").agent(script).write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    fs::write(world.path("ignored"), "named.secret\n").unwrap();
    let config = format!("[core]\n\texcludesFile = {}\n", world.path("ignored").display());
    fs::write(world.path("home/.gitconfig"), config).unwrap();
    let script = "echo secret > named.secret\ngit status --porcelain > \"$LOGS/seen\"\n\
                  [ ! -s \"$LOGS/seen\" ] || exit 9\necho two > c.txt\necho DONE";
    world.ticket("t-2").agent(script).write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1", "t-2"]);
    assert!(
        !world
            .git(&["ls-tree", "-r", "--name-only", "main"])
            .contains("secret")
    );
}

#[test]
fn files_that_every_clone_shows_as_changed_hinder_no_check() {
    let world = World::with(|s| s.checks = "commands = [\"grep -q one raw.bin\"]".to_owned());
    world.git(&["lfs", "install", "--local"]);
    world.commit("raw.bin", "one\n");
    world.commit(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
    for id in ["t-1", "t-2"] {
        let script = format!("work {id}.txt {id}; echo DONE");
        world.ticket(id).agent(&script).write();
        world.drain_all();
    }
    assert_eq!(world.landed(), ["t-1", "t-2"]);
    assert_eq!(world.on_main("t-2.txt").as_deref(), Some("t-2\n"));
}

/// Carriage returns go one by one each time that git reads such a file: a binary was new with every ticket.
#[test]
fn a_file_that_every_clone_shows_as_changed_lands_with_no_ticket_that_does_not_touch_it() {
    let world = World::new();
    fs::write(world.project("binary"), b"\0\r\r\r\n").unwrap();
    world.git(&["add", "binary"]);
    world.git(&["commit", "-q", "-m", "a binary"]);
    world.commit(".gitattributes", "* text eol=lf\n");
    let blob = || world.git(&["rev-parse", "main:binary"]);
    let before = blob();
    for (id, how) in [
        ("t-1", "echo one > one"),
        ("t-2", "echo two > two\ngit add -A\ngit commit -q -m two"),
    ] {
        world.ticket(id).agent(&format!("{how}\necho DONE")).write();
        world.drain_all();
        assert!(world.is_landed(id));
        assert_eq!(blob(), before, "{id}");
    }
    world.assert_at_rest();
}

#[test]
fn the_tags_are_where_a_version_is_taken_from_them() {
    let world = World::with(|s| s.checks = "commands = [\"git describe --tags --match 'v*'\"]".to_owned());
    world.git(&["tag", "-a", "-m", "first", "v1.2.3"]);
    let script = "git describe --tags > \"$LOGS/version\"\ngit tag mine\nwork a.txt a\necho DONE";
    world.ticket("t-1").agent(script).write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    let version = fs::read_to_string(world.path("logs/version")).unwrap();
    assert!(version.starts_with("v1.2.3"), "{version}");
    assert_eq!(
        world.git(&["tag"]).trim(),
        "v1.2.3",
        "an agent's tags stay its own"
    );
}

#[test]
fn settings_that_variables_name_hold_as_the_files_do() {
    let world = World::new();
    for name in ["global", "pair"] {
        fs::write(world.path(name), format!("{name}.secret\n")).unwrap();
    }
    let excludes = |name: &str| world.path(name).display().to_string();
    let config = format!("[core]\n\texcludesFile = {}\n", excludes("global"));
    fs::write(world.path("elsewhere"), config).unwrap();
    let land = |name: &str| {
        let (file, id) = (format!("{name}.secret"), format!("t-{name}"));
        let script = format!("echo secret > {file}\necho {name} > {name}.txt\necho DONE");
        world.ticket(&id).agent(&script).write();
        world.drain_all();
        assert_eq!(world.on_main(&format!("{name}.txt")), Some(format!("{name}\n")));
        assert_eq!(world.on_main(&file), None);
    };
    world.around("GIT_CONFIG_GLOBAL", world.path("elsewhere").display().to_string());
    land("global");
    world.around("GIT_CONFIG_COUNT", "1");
    world.around("GIT_CONFIG_KEY_0", "core.excludesFile");
    world.around("GIT_CONFIG_VALUE_0", excludes("pair"));
    land("pair");
}

#[test]
fn a_filter_that_an_agent_sets_up_is_not_run() {
    let world = world("*.txt filter=case\n", "a.txt", b"one\n");
    world.git(&["config", "filter.case.clean", "cat"]);
    world.git(&[
        "config",
        "filter.other.clean",
        "touch \"$HOME/other-was-run\"; cat",
    ]);
    world.change_settings("[land]\n", "[land]\nhold_paths = [\".gitattributes\"]\n");
    world.git(&["commit", "-qam", "hold"]);
    let script = "git config filter.case.clean 'touch \"$HOME/agents-was-run\"; tr a-z A-Z'\n\
                  git config filter.new.clean 'touch \"$HOME/agents-was-run\"; cat'\n\
                  if [ \"$RUN\" = 1 ]; then\n\
                  echo '*.txt filter=case' > .gitattributes\necho '*.other filter=other' >> .gitattributes\n\
                  echo '*.new filter=new' >> .gitattributes\n\
                  echo one > b.other\necho one > b.new\necho two >> a.txt\n\
                  else\ngit config --unset filter.case.clean\ngit config --unset filter.new.clean\n\
                  git add b.other\ngit commit -qm other\nfi\necho DONE";
    world.ticket("t-1").agent(script).write();
    world.drain_held();
    let told = world.prompt("t-1", 2);
    for (file, filter) in [("b.other", "other"), ("b.new", "new")] {
        let names = format!("\"{file}\" is to go through the filter \"{filter}\"");
        assert!(told.contains(&names), "{told}");
    }
    let branch = world.git(&["for-each-ref", "--format=%(refname)", "refs/heads/agent"]);
    assert_eq!(world.git(&["show", &format!("{branch}:a.txt")]), "one\ntwo");
    assert_eq!(world.git(&["show", &format!("{branch}:b.other")]), "one");
    assert_eq!(world.git(&["show", &format!("{branch}:b.new")]), "one");
    for name in ["agents-was-run", "other-was-run"] {
        assert!(!world.path("home").join(name).exists(), "{name}");
    }
}

#[test]
fn a_change_of_the_users_settings_is_told_and_counts_from_the_next_start() {
    let world = world("", "a.txt", b"one\n");
    let script = "until_there \"$GATES/go\"\nprintf 'new\\r\\n' > \"$CREW_TICKET_ID.txt\"\necho DONE";
    world.ticket("t-1").agent(script).write();
    let mut engine = world.engine();
    world.wait("the agent is at work", || world.runs("t-1") == 1);
    world.git(&["config", "core.autocrlf", "input"]);
    // The engine looks every half minute, and whenever crew.toml is written.
    world.write("crew.toml", &world.read("crew.toml"));
    world.wait("the change is told", || {
        let said = engine.said();
        said.err.contains("git's settings for files have changed")
            || said.out.contains("git's settings for files have changed")
    });
    world.open("go");
    world.wait("it has landed", || world.is_landed("t-1"));
    world.must(&["stop"]);
    assert_eq!(engine.end().code, Some(0));
    assert_eq!(world.on_main("t-1.txt").unwrap(), "new\r\n");
    world.ticket("t-2").agent(script).write();
    world.drain_all();
    assert_eq!(world.on_main("t-2.txt").unwrap(), "new\n");
}

/// A repository with a file in Git LFS.
fn lfs_world() -> World {
    let world = World::with(|s| {
        s.checks =
            "commands = [\"head -n 1 a.bin | grep -qx one && test -z \\\"$(git status --porcelain)\\\"\"]"
                .to_owned();
    });
    world.git(&["lfs", "install", "--skip-repo"]);
    world.commit(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
    world.commit("a.bin", "one\n");
    assert!(
        world
            .on_main("a.bin")
            .unwrap()
            .starts_with("version https://git-lfs")
    );
    world
}

/// The objects in the LFS store of a git directory, by their names.
fn lfs_objects(git_dir: &Path) -> usize {
    let mut open = vec![git_dir.join("lfs/objects")];
    let mut found = 0;
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else {
                found += 1;
            }
        }
    }
    found
}

#[test]
fn lfs_objects_come_along_with_the_pointers_that_land() {
    let world = lfs_world();
    land_twice(
        &world,
        "[ \"$(head -n 1 a.bin)\" = one ] || exit 9\necho \"more$n\" >> a.bin\necho new > \"new$n.bin\"",
    );
    assert!(
        world
            .on_main("a.bin")
            .unwrap()
            .starts_with("version https://git-lfs")
    );
    assert!(
        world
            .on_main("new2.bin")
            .unwrap()
            .starts_with("version https://git-lfs")
    );
    assert_eq!(world.read("a.bin"), "one\nmore1\nmore2\n");
    assert_eq!(world.read("new2.bin"), "new\n");
    assert_eq!(lfs_objects(&world.project(".git")), 4);
    world.git(&["lfs", "fsck"]);
}

#[test]
fn a_pointer_whose_object_is_nowhere_is_refused_and_told() {
    let world = lfs_world();
    let script = "if [ \"$RUN\" = 1 ]; then\n\
                  echo lost > b.bin\ngit add b.bin\ngit commit -qm lost\n\
                  git show HEAD:b.bin > \"$LOGS/pointer\"\ncat \"$LOGS/pointer\" > b.bin\n\
                  chmod -R u+w .git/lfs\nrm -rf .git/lfs/objects\n\
                  else\ngit rm -qf b.bin\ngit commit -q --amend -m kept --allow-empty\n\
                  echo kept > c.bin\nfi\necho DONE";
    world.ticket("t-1").agent(script).write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    let told = world.prompt("t-1", 2);
    assert!(told.contains("\"b.bin\" points to the LFS object"), "{told}");
    assert_eq!(world.on_main("b.bin"), None);
    assert_eq!(world.read("c.bin"), "kept\n");
    assert_clean(&world);
}

#[test]
fn an_lfs_object_with_another_content_is_not_taken() {
    let world = lfs_world();
    // A file that is as new as the index is cleaned once more when crew looks at it: that mends its object.
    let script = "if [ \"$RUN\" = 1 ]; then\n\
                  echo real > b.bin\ntouch -d '1 minute ago' b.bin\ngit add b.bin\ngit commit -qm real\n\
                  object=$(git show HEAD:b.bin | sed -n 's/oid sha256://p')\n\
                  file=$(find .git/lfs/objects -name \"$object\")\nchmod u+w \"$file\"\necho fake > \"$file\"\n\
                  else\nrm -rf .git/lfs/objects\necho real | git lfs clean > \"$LOGS/pointer\"\nfi\necho DONE";
    world.ticket("t-1").agent(script).write();
    world.drain_all();
    assert_eq!(world.runs("t-1"), 2);
    assert_eq!(world.read("b.bin"), "real\n");
    world.git(&["lfs", "fsck"]);
}

#[test]
fn an_agent_may_bring_git_lfs_into_a_repository() {
    let world = World::new();
    world.git(&["lfs", "install", "--skip-repo"]);
    let script = "git lfs track '*.bin' > \"$LOGS/track\"\necho one > a.bin\n\
                  git add -A\ngit commit -qm lfs\necho left > b.bin\necho DONE";
    world.ticket("t-1").agent(script).write();
    world.drain_all();
    assert_eq!(world.runs("t-1"), 1);
    assert!(
        world
            .on_main("b.bin")
            .unwrap()
            .starts_with("version https://git-lfs")
    );
    assert!(
        world
            .on_main("a.bin")
            .unwrap()
            .starts_with("version https://git-lfs")
    );
    assert_eq!(world.read("a.bin"), "one\n");
    world.git(&["lfs", "fsck"]);
    assert_clean(&world);
    // The target's attributes name it now.
    world.ticket("t-2").agent("echo two >> a.bin\necho DONE").write();
    world.drain_all();
    assert_eq!(world.read("a.bin"), "one\ntwo\n");
    assert!(
        world
            .on_main("a.bin")
            .unwrap()
            .starts_with("version https://git-lfs")
    );
    assert_clean(&world);
}

#[test]
fn an_lfs_object_that_was_never_fetched_stays_a_pointer() {
    let world = lfs_world();
    world.commit("far.bin", "far away\n");
    let pointer = world.on_main("far.bin").unwrap();
    let object = pointer
        .lines()
        .find_map(|line| line.strip_prefix("oid sha256:"))
        .unwrap();
    let place = format!(".git/lfs/objects/{}/{}/{object}", &object[..2], &object[2..4]);
    fs::remove_file(world.project(&place)).unwrap();
    world.write("far.bin", &pointer);
    let script = format!(
        "{CLEAN}head -n 1 far.bin | grep -q '^version' || exit 9\ngit mv far.bin moved.bin\ngit commit -qm move\necho new > b.bin\necho DONE"
    );
    world.ticket("t-1").agent(&script).write();
    world.drain_all();
    assert_eq!(world.read("moved.bin"), pointer);
    assert_eq!(world.read("b.bin"), "new\n");
    assert_clean(&world);
}

#[test]
fn a_file_that_a_filter_fails_on_is_told_to_its_agent() {
    let world = world("*.txt filter=picky\n", "a.txt", b"one\n");
    world.git(&[
        "config",
        "filter.picky.clean",
        "tee \"$HOME/last\" && ! grep -q bad \"$HOME/last\"",
    ]);
    world.git(&["config", "filter.picky.smudge", "cat"]);
    world.git(&["config", "filter.picky.required", "true"]);
    let script = "if [ \"$RUN\" = 1 ]; then\necho bad > b.txt\necho good > c.txt\nelse\necho good > b.txt\nfi\necho DONE";
    world.ticket("t-1").agent(script).write();
    world.drain_all();
    let told = world.prompt("t-1", 2);
    assert!(
        told.contains("a filter of git's fails on them") && told.contains("b.txt"),
        "{told}"
    );
    assert_eq!(world.on_main("b.txt").unwrap(), "good\n");
    assert_eq!(world.on_main("c.txt").unwrap(), "good\n");
}

#[test]
fn new_files_outside_of_a_sparse_checkout_stay_outside() {
    let world = world("", "in/a.txt", b"one\n");
    world.git(&["sparse-checkout", "set", "--cone", "in"]);
    let script = format!(
        "{CLEAN}mkdir out\necho new > out/b.txt\necho new > in/b.txt\necho two >> in/a.txt\necho DONE"
    );
    world.ticket("t-1").agent(&script).write();
    world.drain_all();
    assert_eq!(world.on_main("out/b.txt").unwrap(), "new\n");
    assert_eq!(
        (world.read("in/b.txt"), world.read("in/a.txt")),
        ("new\n".to_owned(), "one\ntwo\n".to_owned())
    );
    assert!(!world.project("out").exists());
    assert_eq!(world.git(&["ls-files", "-t", "out"]), "S out/b.txt");
    world.git(&["sparse-checkout", "disable"]);
    assert_eq!(world.read("out/b.txt"), "new\n");
    assert_clean(&world);
}
