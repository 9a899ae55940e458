//! Output: bounded, lossless where it fits, readable from anywhere.

use std::fs;

use process::{Error, Stream, Tail};

use crate::support::{LONG, World, exit, shim, text, until};

const MIB: u64 = 1 << 20;

fn high_water(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

#[test]
fn a_hundred_megabytes_are_cut_with_a_notice_and_their_end_kept() {
    let world = World::new();
    let mut spec = world.sh(
        "yes 'a line of output' | head -c 104857600; echo; echo DONE; while [ ! -e go ]; do sleep 0.01; done",
    );
    spec.output_cap = MIB;
    let run = world.create(&spec);
    let watch = run.start(&shim()).unwrap();
    until("all was printed", || {
        run.beat().unwrap().filter(|beat| beat.out_bytes == 100 * MIB + 6)
    });
    let process::Status::Running {
        started: Some(started),
    } = run.status().unwrap()
    else {
        panic!()
    };
    let memory = high_water(started.shim.pid).unwrap();
    assert!(memory < 32 * MIB, "the shim took {memory} bytes");
    fs::write(world.path("go"), "").unwrap();
    let exit = exit(watch.wait(LONG).unwrap().unwrap());
    assert_eq!(exit.out.bytes, 100 * MIB + 6);
    let file = fs::read(run.dir().join("out")).unwrap();
    assert!(file.len() as u64 <= 2 * MIB, "{}", file.len());
    let text = String::from_utf8(file).unwrap();
    let notice = format!("\n[crew: {} bytes of output left out here]\n", exit.out.dropped);
    assert!(text.contains(&notice), "{notice}");
    assert!(
        text.ends_with("a line of output\na \nDONE\n"),
        "{:?}",
        &text[text.len() - 60..]
    );
}

#[test]
fn a_line_of_a_hundred_megabytes_is_cut_too() {
    let world = World::new();
    let mut spec = world.sh("head -c 104857600 /dev/zero | tr '\\0' x; printf '\\nDONE\\n'");
    spec.output_cap = MIB;
    let (run, exit) = world.run(&spec);
    assert_eq!(exit.out.bytes, 100 * MIB + 6);
    let text = fs::read_to_string(run.dir().join("out")).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{}", lines.len());
    assert_eq!(lines[2], "DONE");
}

#[test]
fn silence_and_both_streams_are_kept_apart() {
    let world = World::new();
    let (run, exit) = world.run(&world.sh("true"));
    assert_eq!((exit.out.bytes, exit.err.bytes), (0, 0));
    assert_eq!(text(&run, Stream::Out), "");
    let (run, exit) = world.run(&world.sh("printf one; printf two >&2"));
    assert_eq!((exit.out.bytes, exit.err.bytes), (3, 3));
    assert_eq!(
        (text(&run, Stream::Out), text(&run, Stream::Err)),
        ("one".into(), "two".into())
    );
}

#[test]
fn output_is_kept_byte_for_byte_and_read_as_text_lossily() {
    let world = World::new();
    let (run, _) = world.run(&world.sh("printf 'a\\0b\\377\\360\\237\\230\\200c\\342\\202'"));
    let raw = b"a\0b\xff\xf0\x9f\x98\x80c\xe2\x82";
    assert_eq!(fs::read(run.dir().join("out")).unwrap(), raw);
    // Whatever the pieces, a character across an edge comes out whole, what is invalid as U+FFFD.
    for max in 1..=raw.len() + 1 {
        let mut tail = Tail::new(&run, Stream::Out, 0);
        let mut all = String::new();
        while tail.offset() < raw.len() as u64 {
            all.push_str(&tail.read_ended_text(max).unwrap());
        }
        assert_eq!(all, "a\0b\u{fffd}😀c\u{fffd}", "in pieces of {max}");
    }
    // What may still be completed waits.
    let mut tail = Tail::new(&run, Stream::Out, 0);
    assert_eq!(tail.read_text(100).unwrap(), "a\0b\u{fffd}😀c");
    assert_eq!(tail.read_text(100).unwrap(), "");
    assert_eq!(tail.offset(), raw.len() as u64 - 2);
}

#[test]
fn output_is_read_on_while_it_comes() {
    let world = World::new();
    let run = world.create(&world.sh("echo one; while [ ! -e go ]; do sleep 0.01; done; echo two"));
    let mut tail = Tail::new(&run, Stream::Out, 0);
    assert_eq!(tail.read(100).unwrap(), b"");
    let watch = run.start(&shim()).unwrap();
    until("one", || (tail.read(100).unwrap() == b"one\n").then_some(()));
    assert_eq!(tail.read(100).unwrap(), b"");
    fs::write(world.path("go"), "").unwrap();
    watch.wait(LONG).unwrap().unwrap();
    let mut tail = Tail::new(&run, Stream::Out, tail.offset());
    assert_eq!(tail.read(2).unwrap(), b"tw");
    assert_eq!(tail.read(100).unwrap(), b"o\n");
    assert_eq!(tail.offset(), 8);
}

/// A program runs as the user who reads what is told of it, and can put anything in its place. The naive
/// version waits for whoever may write into a pipe, or reads as long as there is something.
#[test]
fn what_a_program_puts_in_the_place_of_a_record_is_refused_and_never_waited_for() {
    for (put, what) in [
        ("mkfifo", "it is not a regular file"),
        ("mkdir", "it is not a regular file"),
        ("ln -s /dev/zero", "it is not a regular file"),
        ("truncate -s 65M", "it is larger than any record"),
    ] {
        let world = World::new();
        let (run, _) = world.run(&world.sh("true"));
        let replace = |name: &str| {
            let path = run.dir().join(name);
            fs::remove_file(&path).ok();
            let script = format!("{put} \"$1\"");
            let mut shell = std::process::Command::new("/bin/sh");
            let done = shell.args(["-c", &script, "sh"]).arg(&path).status().unwrap();
            assert!(done.success(), "{put}");
        };
        for name in ["beat.json", "exit.json"] {
            replace(name);
        }
        for error in [run.beat().unwrap_err(), run.status().unwrap_err()] {
            let Error::Damaged { source, .. } = error else {
                panic!("{put}: {error:?}");
            };
            assert!(source.to_string().contains(what), "{put}: {source}");
        }
        run.stop().unwrap_err();
        if !put.starts_with("truncate") {
            replace("out");
            Tail::new(&run, Stream::Out, 0).read(1).unwrap_err();
        }
    }
}

#[test]
fn heartbeats_tell_what_runs_below_the_program() {
    let world = World::new();
    let run = world.create(&world.sh("echo hello; sleep 1000 & wait"));
    run.start(&shim()).unwrap();
    let beat = until("the child is seen", || {
        run.beat()
            .unwrap()
            .filter(|beat| beat.command() == Some("sleep 1000") && beat.out_bytes == 6)
    });
    assert_eq!((beat.children_count, beat.children.len()), (1, 1));
    assert!(beat.at > 0 && beat.output_at > 0);
    until("it goes on beating", || {
        run.beat().unwrap().filter(|next| next.at > beat.at)
    });
}

#[test]
fn a_busy_child_shows_in_cpu_time() {
    let world = World::new();
    let run = world.create(&world.sh("sh -c 'while :; do :; done' & wait"));
    run.start(&shim()).unwrap();
    until("its CPU time grows", || {
        run.beat().unwrap().filter(|beat| beat.children_cpu_ms >= 50)
    });
}

#[test]
fn a_full_disk_does_not_stop_the_program() {
    let world = World::new();
    let run = world.create(&world.sh("yes | head -c 300000; echo; echo DONE; exit 4"));
    // A limit on the size of files stands for a disk that is full: 32 KiB and no byte more.
    let script = format!(
        "ulimit -f 64; export {}={}; exec {}",
        process::RUN_DIR,
        run.dir().display(),
        shim().program.display()
    );
    let ran = std::process::Command::new("sh")
        .args(["-c", &script])
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let exit = exit(run.status().unwrap());
    assert_eq!((exit.code, exit.out.bytes), (Some(4), 300_006));
    assert_eq!(
        exit.out.bytes - exit.out.dropped,
        run.dir().join("out").metadata().unwrap().len()
    );
    assert!(exit.out.dropped > 200_000, "{exit:?}");
}
