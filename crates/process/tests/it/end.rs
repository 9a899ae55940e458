//! How runs end by themselves.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use process::{Error, Fault, Reason, Run, Status, Stream};

use crate::support::{LONG, World, bare_shim, shim, text};

#[test]
fn exit_codes_are_told() {
    let world = World::new();
    for code in [0, 1, 7, 255] {
        let (_, exit) = world.run(&world.sh(&format!("exit {code}")));
        assert_eq!(
            (exit.reason.clone(), exit.code, exit.signal),
            (Reason::Exited, Some(code), None)
        );
        assert_eq!(exit.is_success(), code == 0);
        assert!(exit.started_at > 0 && exit.ended_at >= exit.started_at);
    }
}

#[test]
fn signals_are_told() {
    let world = World::new();
    for (name, number) in [("KILL", 9), ("SEGV", 11), ("TERM", 15)] {
        let (_, exit) = world.run(&world.sh(&format!("kill -{name} $$")));
        assert_eq!(
            (exit.reason, exit.code, exit.signal),
            (Reason::Exited, None, Some(number))
        );
    }
}

#[test]
fn what_cannot_be_started_says_which_thing_and_why() {
    let world = World::new();
    let plain = world.path("plain");
    fs::write(&plain, "#!/bin/sh\n").unwrap();
    let executable = |name: &str, content: &str| {
        let path = world.path(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let no_interpreter = executable("no-interpreter", "#!/no/such/interpreter\n");
    let no_program = executable("no-program", "\u{1}\u{2}binary");
    let mut cases = vec![
        (
            world.spec("no-such-program-anywhere", &[]),
            Fault::Missing,
            "no-such-program-anywhere",
        ),
        (world.spec("./missing", &[]), Fault::Missing, "missing"),
        (world.spec("./plain", &[]), Fault::NotExecutable, "chmod"),
        (world.spec("/", &[]), Fault::NotExecutable, "not a file"),
        (world.spec(&no_interpreter, &[]), Fault::Missing, "interpreter"),
        (world.spec(&no_program, &[]), Fault::NotExecutable, "#!"),
    ];
    let mut bad_cwd = world.sh("true");
    bad_cwd.cwd = world.path("no-such-directory");
    cases.push((bad_cwd, Fault::WorkingDirectory, "no-such-directory"));
    let mut file_cwd = world.sh("true");
    file_cwd.cwd = plain;
    cases.push((file_cwd, Fault::WorkingDirectory, "not a directory"));
    let mut no_path = world.sh("true");
    no_path.env.clear();
    cases.push((no_path, Fault::Missing, "not set"));

    for (number, (mut spec, fault, part)) in cases.into_iter().enumerate() {
        spec.run_id = format!("{}-{number}", spec.run_id);
        let (run, exit) = world.run(&spec);
        let Reason::SpawnFailed { fault: found, error } = exit.reason else {
            panic!("{part}: {exit:?}")
        };
        assert_eq!(found, fault, "{error}");
        assert!(error.contains(part), "{error}");
        assert!(!run.dir().join("env.json").exists());
    }
}

#[test]
fn a_relative_path_entry_is_not_searched() {
    let world = World::new();
    fs::write(world.path("planted"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(world.path("planted"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut spec = world.spec("planted", &[]);
    spec.env.insert("PATH".into(), ":.:/usr/bin".into());
    let (_, exit) = world.run(&spec);
    assert!(
        matches!(
            exit.reason,
            Reason::SpawnFailed {
                fault: Fault::Missing,
                ..
            }
        ),
        "{exit:?}"
    );
}

#[test]
fn what_no_run_can_be_made_of_is_refused_with_nothing_written() {
    let world = World::new();
    let good = world.sh("true");
    let broken: [fn(&mut process::Spec); 8] = [
        |spec| spec.run_id = String::new(),
        |spec| spec.run_id = "../up".into(),
        |spec| spec.run_id = "a\nb".into(),
        |spec| spec.program = "".into(),
        |spec| spec.cwd = "relative".into(),
        |spec| spec.args = vec!["nul\0".into()],
        |spec| drop(spec.env.insert("A=B".into(), "x".into())),
        |spec| drop(spec.env.insert("A".into(), "nul\0".into())),
    ];
    for (number, breaks) in broken.into_iter().enumerate() {
        let mut spec = good.clone();
        breaks(&mut spec);
        let dir = world.path(&format!("runs/{number}"));
        assert!(
            matches!(Run::create(&dir, &spec, None), Err(Error::BadSpec { .. })),
            "{spec:?}"
        );
        assert!(!dir.exists());
    }
    assert!(matches!(
        Run::create("relative", &good, None),
        Err(Error::BadSpec { .. })
    ));
    assert!(matches!(
        Run::open(world.path("nothing")),
        Err(Error::NoRun { .. })
    ));
}

#[test]
fn the_environment_is_exactly_the_one_given_and_the_marker() {
    let world = World::new();
    let mut spec = world.spec("env", &["-0"]);
    spec.env.insert("CREW_TICKET_ID".into(), "a b'c\"\n$d".into());
    spec.env.insert("SECRET".into(), "canary-5f1".into());
    let odd = std::os::unix::ffi::OsStringExt::from_vec(b"\xff\xfe".to_vec());
    spec.env.insert("ODD".into(), odd);
    let (run, exit) = world.run(&spec);
    assert!(exit.is_success(), "{exit:?}");
    let path = spec
        .env
        .get(std::ffi::OsStr::new("PATH"))
        .unwrap()
        .as_encoded_bytes()
        .to_owned();
    let mut expected = vec![
        b"CREW_TICKET_ID=a b'c\"\n$d".to_vec(),
        b"ODD=\xff\xfe".to_vec(),
        b"SECRET=canary-5f1".to_vec(),
        [b"PATH=".to_vec(), path].concat(),
        format!("CREW_RUN_ID={}", spec.run_id).into_bytes(),
    ];
    expected.sort();
    let mut found: Vec<Vec<u8>> = fs::read(run.dir().join("out"))
        .unwrap()
        .split(|byte| *byte == 0)
        .map(<[u8]>::to_vec)
        .collect();
    found.sort();
    found.retain(|entry| !entry.is_empty());
    assert_eq!(found, expected);
    // It may hold secrets: gone from disk by now, but for what the program itself printed.
    for file in fs::read_dir(run.dir()).unwrap().map(|file| file.unwrap().path()) {
        let kept = String::from_utf8_lossy(&fs::read(&file).unwrap()).contains("canary-5f1");
        assert_eq!(kept, file.ends_with("out"), "{}", file.display());
    }
}

#[test]
fn arguments_and_input_arrive_as_they_are() {
    let world = World::new();
    let args = [
        "-c",
        "for a in \"$0\" \"$@\"; do printf '<%s>' \"$a\"; done; cat",
        "--",
        "a b",
        "",
        "-x",
        "$(id)",
        "é",
    ];
    let spec = world.spec("sh", &args);
    let input = vec![b'p'; 300_000];
    let run = world.create_with(&spec, Some(&input));
    let exit = run.start(&shim()).unwrap().wait(LONG).unwrap().unwrap();
    assert!(matches!(exit, Status::Ended(exit) if exit.is_success()));
    let out = text(&run, Stream::Out);
    assert!(out.starts_with("<--><a b><><-x><$(id)><é>ppp"), "{}", &out[..60]);
    assert!(out.len() > 300_000);
}

#[test]
fn signals_that_crew_ignores_are_not_ignored_by_the_program() {
    let world = World::new();
    // A shell that ignores INT starts a shim, as `nohup` or a background job would.
    let spec = world.sh("grep -E '^Sig(Ign|Blk)' /proc/self/status");
    let run = world.create(&spec);
    let script = format!(
        "trap '' INT HUP QUIT CHLD USR1; export {}={}; exec {}",
        process::RUN_DIR,
        run.dir().display(),
        shim().program.display()
    );
    let ran = std::process::Command::new("sh")
        .args(["-c", &script])
        .status()
        .unwrap();
    assert!(ran.success());
    let out = text(&run, Stream::Out);
    for line in out.lines() {
        let mask = u64::from_str_radix(line.split_whitespace().last().unwrap(), 16).unwrap();
        // 32 and 33 are the C library's own and out of everybody's reach.
        assert_eq!(mask & !(0b11 << 31), 0, "{out}");
    }
    assert_eq!(out.lines().count(), 2);
}

#[test]
fn the_directory_is_private() {
    let world = World::new();
    let (run, _) = world.run(&world.sh("echo out; echo err >&2; ls -l /proc/$$/fd | wc -l"));
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(run.dir()), 0o700);
    let files: Vec<_> = fs::read_dir(run.dir())
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    assert!(files.len() >= 6, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn the_program_gets_no_descriptor_of_ours() {
    let world = World::new();
    let (run, exit) = world.run(&world.spec("ls", &["-l", "/proc/self/fd"]));
    assert!(exit.is_success());
    let out = text(&run, Stream::Out);
    let links: Vec<_> = out.lines().filter(|line| line.contains("->")).collect();
    // The fourth is `ls` reading the directory.
    assert_eq!(links.len(), 4, "{out}");
    assert!(!out.contains("lock"), "{out}");
}

#[test]
fn an_ended_run_is_never_started_again() {
    let world = World::new();
    let spec = world.sh("echo ran >> ran");
    let (run, first) = world.run(&spec);
    for _ in 0..3 {
        let status = run.start(&shim()).unwrap().wait(LONG).unwrap().unwrap();
        assert_eq!(status, Status::Ended(first.clone()));
    }
    // Nor by a shim that is started all the same, nor by making it again.
    Run::create(run.dir(), &spec, None).unwrap();
    let code = bare_shim(&run).status().unwrap().code();
    assert_eq!(code, Some(3));
    assert_eq!(fs::read_to_string(world.path("ran")).unwrap(), "ran\n");
}

#[test]
fn many_shims_on_one_run_start_one_program() {
    let world = World::new();
    let run = world.create(&world.sh("echo ran >> ran; while [ ! -e go ]; do sleep 0.01; done"));
    let mut shims: Vec<_> = (0..8).map(|_| bare_shim(&run).spawn().unwrap()).collect();
    // A ninth, as the engine does it, with the status looked at all the time by others.
    let watch = std::thread::scope(|scope| {
        scope.spawn(|| (0..200).for_each(|_| drop(run.status().unwrap())));
        run.start(&shim()).unwrap()
    });
    assert!(matches!(
        run.status().unwrap(),
        Status::Running { started: Some(_) }
    ));
    fs::write(world.path("go"), "").unwrap();
    let mut codes: Vec<_> = shims
        .iter_mut()
        .map(|shim| shim.wait().unwrap().code().unwrap())
        .collect();
    codes.sort_unstable();
    watch.wait(LONG).unwrap().unwrap();
    assert!(matches!(run.status().unwrap(), Status::Ended(_)));
    assert_eq!(codes[1..], [3; 7], "{codes:?}");
    assert_eq!(fs::read_to_string(world.path("ran")).unwrap(), "ran\n");
}

#[test]
fn a_probe_of_the_lock_does_not_keep_a_run_from_starting() {
    let world = World::new();
    for _ in 0..5 {
        let run = world.create(&world.sh("true"));
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    run.status().unwrap();
                }
            });
            let status = run.start(&shim()).unwrap().wait(LONG).unwrap().unwrap();
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(matches!(status, Status::Ended(exit) if exit.is_success()));
        });
    }
}

#[test]
fn a_background_process_does_not_outlive_the_run_or_hold_it_up() {
    let world = World::new();
    // It holds standard output open and would do so for ever.
    let (run, exit) = world.run(&world.sh("sleep 1000 & echo $! > pid; echo done"));
    assert_eq!((exit.code, exit.survivors), (Some(0), 1));
    assert_eq!(text(&run, Stream::Out), "done\n");
    assert!(!crate::support::lives(crate::support::pid_in(&world.path("pid"))));
    assert_eq!(run.find_marked().unwrap(), Vec::<u32>::new());
}

#[test]
fn a_shim_that_is_none_is_an_error_and_the_run_can_still_be_started() {
    let world = World::new();
    let run = world.create(&world.sh("true"));
    let missing = process::Shim {
        program: world.path("no-shim"),
        args: Vec::new(),
    };
    assert!(matches!(run.start(&missing), Err(Error::SpawnShim { .. })));
    let wrong = process::Shim {
        program: "/bin/echo".into(),
        args: vec!["nonsense".into()],
    };
    let error = run.start(&wrong).unwrap_err();
    assert!(
        matches!(&error, Error::ShimGaveUp { why, errno: None, .. } if why.contains("nonsense")),
        "{error}"
    );
    assert_eq!(run.status().unwrap(), Status::NotStarted);
    let status = run.start(&shim()).unwrap().wait(LONG).unwrap().unwrap();
    assert!(matches!(status, Status::Ended(exit) if exit.is_success()));
}

#[test]
fn a_damaged_directory_is_a_record_not_a_hang() {
    let world = World::new();
    let run = world.create(&world.sh("true"));
    fs::write(run.dir().join("spec.json"), "{\"run_id\":").unwrap();
    let status = run.start(&shim()).unwrap().wait(LONG).unwrap().unwrap();
    let Status::Ended(exit) = status else {
        panic!("{status:?}")
    };
    assert!(
        matches!(
            exit.reason,
            Reason::SpawnFailed {
                fault: Fault::Record,
                ..
            }
        ),
        "{exit:?}"
    );
}
