//! Measurement of a heartbeat: the processor time that the shim of a run takes for one, where so many
//! processes are below it.
//!
//! `cargo run --release -p process --example beats FOLDER PROCESSES BEATS`: a line with the number of
//! processes and the milliseconds of each heartbeat. Without arguments it is the shim.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use process::{RUN_DIR, Run, Shim, Spec, Status};

type Failed = Box<dyn std::error::Error>;

/// Milliseconds between two heartbeats.
const BEAT_MS: u64 = 100;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    #[expect(clippy::disallowed_methods, reason = "a program of its own")]
    let run = std::env::var_os(RUN_DIR);
    if let (true, Some(dir)) = (args.is_empty(), run) {
        return process::shim_main(Path::new(&dir));
    }
    match measure(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(args: &[String]) -> Result<(), Failed> {
    let [folder, processes, beats] = args else {
        return Err("usage: beats FOLDER PROCESSES BEATS".into());
    };
    let (processes, beats): (u32, usize) = (processes.parse()?, beats.parse()?);
    let folder = PathBuf::from(folder).canonicalize()?;
    let mut spec = Spec::new(format!("beats-{}", std::process::id()), "/bin/sh", &folder);
    let script =
        format!("i=1; while [ $i -lt {processes} ]; do sleep 1000 & i=$((i+1)); done; exec sleep 1000");
    spec.args = vec!["-c".into(), script.into()];
    spec.env = [("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())].into();
    (spec.beat_ms, spec.grace_ms) = (BEAT_MS, 100);
    let run = Run::create(folder.join(&spec.run_id), &spec, None)?;
    let watch = run.start(&Shim::this_executable(Vec::<String>::new()))?;
    let measured = each(&run, processes, beats);
    run.stop()?;
    watch.wait(Duration::from_secs(60))?;
    std::fs::remove_dir_all(run.dir())?;
    let times: Vec<String> = measured?.iter().map(|ms| format!("{ms:.3}")).collect();
    println!("{processes} {}", times.join(" "));
    Ok(())
}

/// The processor time of so many heartbeats, in milliseconds.
fn each(run: &Run, processes: u32, beats: usize) -> Result<Vec<f64>, Failed> {
    let Status::Running {
        started: Some(started),
    } = run.status()?
    else {
        return Err("the run was not started".into());
    };
    // One process of them is the program itself, which is not counted.
    let is_full = |count: u32| count + 1 >= processes;
    let mut times = Vec::new();
    let mut last = (0, None);
    for _ in 0..600 * 100 {
        rest();
        let Some(beat) = run.beat()?.filter(|beat| beat.at != last.0) else {
            continue;
        };
        let used = used(started.shim.pid)?;
        if let (true, Some(before)) = (is_full(beat.children_count), last.1) {
            times.push((used - before) / 1e6);
        }
        last = (beat.at, is_full(beat.children_count).then_some(used));
        if times.len() == beats {
            return Ok(times);
        }
    }
    Err("the heartbeats do not come".into())
}

/// The processor time of a process, in nanoseconds.
fn used(pid: u32) -> Result<f64, Failed> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat"))?;
    Ok(text.split_whitespace().next().unwrap_or_default().parse()?)
}

#[expect(
    clippy::disallowed_methods,
    reason = "another program is waited for, with a deadline"
)]
fn rest() {
    std::thread::sleep(Duration::from_millis(1));
}
