//! The scripted model service as a program: prints its address, and each request as a line of JSON.

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use model_server::{Result, Server};

const USAGE: &str = "\
a scripted model service on loopback

usage: model-server [--port PORT] [--log FILE]

The newest user text of a request that holds @@[ steps ]@@ is the script. A step is an object, or an array of them for
parallel calls:
  {\"text\":\"DONE\"}  {\"bash\":\"ls\"}  {\"write\":[\"path\",\"content\"]}  {\"tool\":\"Name\",\"input\":{}}
and these beside:
  delay_ms chunk_ms stall_ms   waits: before the answer, between events, after the first event
  cut                          true: the connection breaks off after the first event
  status retry_after message   a failure of the service, in place of the answer: the HTTP status, a header in seconds, the
                               error's text. Without `times` it is the same however often it is asked; with it, the rest
                               of the step is said once it has failed so often
  times                        a status, a cut or a stall happens only so many times
  stop usage thinking          {\"in\":1000,\"out\":50,\"cache_read\":0,\"cache_write\":0}

--log appends what is noted of each request to FILE, as lines of JSON; without it they go to the standard output.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut port = 0;
    let mut log = PathBuf::from("/dev/stdout");
    for pair in arguments.chunks(2) {
        match pair {
            [name, value] if name == "--log" => log = PathBuf::from(value),
            [name, value] if name == "--port" => match value.parse() {
                Ok(number) => port = number,
                Err(_) => return usage(&format!("`{value}` is no port")),
            },
            [help] if help == "--help" || help == "-h" => {
                print!("{USAGE}");
                return ExitCode::SUCCESS;
            }
            other => return usage(&format!("`{}` is unknown", other.join(" "))),
        }
    }
    match serve(port, &log) {
        Ok(never) => never,
        Err(error) => {
            eprintln!("error: {error}");
            let mut source = std::error::Error::source(&error);
            while let Some(cause) = source {
                eprintln!("  {cause}");
                source = cause.source();
            }
            ExitCode::FAILURE
        }
    }
}

fn serve(port: u16, log: &std::path::Path) -> Result<ExitCode> {
    let server = Server::start_at(port, Some(log))?;
    println!("{}", server.url());
    loop {
        thread::park();
    }
}

fn usage(why: &str) -> ExitCode {
    eprintln!("error: {why}\n\n{USAGE}");
    ExitCode::from(2)
}
