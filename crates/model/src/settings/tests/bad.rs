//! Bad files: each with all of its diagnostics, and the text that they point at.

use std::fmt::Write;

use proptest::prelude::*;

use crate::settings::{Settings, keys};

const CORPUS: &[(&str, &str)] = &[
    ("unknown key", "[run]\nmax_worker = 3\n"),
    ("unknown key, nothing like it", "[run]\ncolour = \"red\"\n"),
    ("unknown key at the top", "prompt_dir = \"prompts\"\n"),
    (
        "unknown key, quoted and odd",
        "[run]\n\"max\\tsteps\\u001b[31m\" = 3\n",
    ),
    ("a key's old name", "[run]\nsettle = \"500ms\"\n"),
    ("unknown table", "[runs]\nmax_workers = 3\n"),
    (
        "unknown table, nothing like it",
        "[notifications]\nby = \"mail\"\n",
    ),
    ("key of another table", "[run]\ncount = 3\n"),
    (
        "top key below a table",
        "[land]\nhold_paths = []\nprompts_dir = \"prompts\"\n",
    ),
    ("table's key at the top", "max_steps = 3\n"),
    ("harness key outside", "[agents]\npass_env = [\"A\"]\n"),
    ("number as text", "[run]\nmax_workers = \"3\"\n"),
    ("number as a word", "[run]\nmax_workers = \"many\"\n"),
    ("number as a decimal", "[run]\nmax_steps = 1.5\n"),
    (
        "zero",
        "[run]\nmax_workers = 0\nmax_steps = 0\nattempts = 0\n[agents]\ncount = 0\n",
    ),
    (
        "negative",
        "[run]\nmax_steps = -1\nrecoveries = -1\nconflict_resolutions = -20\n",
    ),
    (
        "overflow",
        "[run]\nmax_steps = 4294967297\nattempts = 99999999999999999999999999999999999999999999999\n",
    ),
    ("overflow in hex", "[run]\nmax_workers = 0xffffffffff\n"),
    ("too many agents", "[agents]\ncount = 100000\n"),
    ("boolean for a number", "[run]\nattempts = true\n"),
    ("duration without quotes", "[run]\nstep_timeout = 60\n"),
    ("duration without unit", "[run]\nstep_timeout = \"60\"\n"),
    ("duration with a fraction", "[run]\nstall_after = \"1.5h\"\n"),
    (
        "duration in words",
        "[run]\nstall_after = \"5 minutes\"\ndebounce = \"soon\"\n",
    ),
    ("duration, negative", "[run]\ndebounce = \"-5s\"\n"),
    (
        "duration of nothing",
        "[run]\nstep_timeout = \"0s\"\n[checks]\ntimeout = \"0m\"\n",
    ),
    ("duration, empty", "[checks]\ntimeout = \"\"\n"),
    (
        "inputs and folders of checks",
        "[checks]\nsetup_inputs = [\"*.lock\", \"/etc\", \"\"]\nkeep = [\"**/target\", \"..\", \".git\", \"!a\"]\n",
    ),
    (
        "variables of checks",
        "[checks]\nenv = { \"A-B\" = \"1\", CREW_RUN_ID = \"x\" }\npass_env = [\"A=B\"]\n",
    ),
    (
        "duration, wrong order",
        "[run]\nstep_timeout = \"30m1h\"\nstall_after = \"5m5m\"\n",
    ),
    (
        "duration too long",
        "[run]\nstep_timeout = \"99999999999999999999h\"\nstall_after = \"400d\"\n",
    ),
    ("duration, capital unit", "[run]\nstall_after = \"5M\"\n"),
    ("on_stop unknown", "[run]\non_stop = \"abandon\"\n"),
    ("on_stop mistyped", "[run]\non_stop = false\n"),
    (
        "empty check",
        "[checks]\nsetup = [\"\"]\ncommands = [\"cargo test\", \"  \\t\", \"\"]\n",
    ),
    ("check as text", "[checks]\ncommands = \"cargo test\"\n"),
    ("check as a number", "[checks]\ncommands = [\"cargo test\", 7]\n"),
    ("check with NUL", "[checks]\ncommands = [\"cargo\\u0000test\"]\n"),
    (
        "agents named badly",
        "[agents]\nnames = [\"\", \"../x\", \"-rf\", \".a\", \"a b\", \"a|b\", \"a\\nb\", \"é\", \"a..b\"]\n",
    ),
    (
        "agent's name too long",
        "[agents]\nnames = [\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"]\n",
    ),
    (
        "agents named twice",
        "[agents]\nnames = [\"ada\", \"bob\", \"ada\", \"Bob\"]\n",
    ),
    ("no names", "[agents]\nnames = []\n"),
    (
        "names of another type",
        "[agents]\nnames = [\"ada\", 3, [\"bob\"]]\n",
    ),
    (
        "count and names",
        "[agents]\ncount = 3\nnames = [\"ada\", \"bob\"]\n",
    ),
    ("target begins with a dash", "[project]\ntarget = \"--force\"\n"),
    ("target empty", "[project]\ntarget = \"\"\n"),
    ("target as a ref", "[project]\ntarget = \"refs/heads/main\"\n"),
    ("target is HEAD", "[project]\ntarget = \"HEAD\"\n"),
    ("target with a space", "[project]\ntarget = \"my main\"\n"),
    (
        "target with a control character",
        "[project]\ntarget = \"ma\\u0007in\"\n",
    ),
    ("target with dots", "[project]\ntarget = \"a..b\"\n"),
    ("target with a lock", "[project]\ntarget = \"main.lock\"\n"),
    ("target with an empty part", "[project]\ntarget = \"a//b\"\n"),
    ("target is crew's", "[project]\ntarget = \"agent/ada-1\"\n"),
    ("target in the way", "[project]\ntarget = \"agent\"\n"),
    ("harness without a table", "[agents]\nharness = \"scripted\"\n"),
    (
        "harness slip",
        "[agents]\nharness = \"scriptd\"\n[harness.scripted]\nkind = \"command\"\ncommand = [\"./a\"]\n",
    ),
    (
        "harness that comes later",
        "[agents]\nharness = \"codex\"\n[harness.codex]\nmodel = \"x\"\n",
    ),
    (
        "harness that comes later, no table",
        "[agents]\nharness = \"codex\"\n",
    ),
    ("claude without a table", "[agents]\nharness = \"claude\"\n"),
    (
        "claude's own keys elsewhere",
        "[harness.a]\nkind = \"command\"\ncommand = [\"./a\"]\nmodel = \"x\"\nprice = { input = 1 }\n",
    ),
    (
        "claude's keys",
        "[harness.claude]\ncommand = []\nmodel = \"\"\nprice = { input = -1, output = \"3\", cache = 2 }\n",
    ),
    ("price of half", "[harness.claude]\nprice = { input = 3 }\n"),
    ("price as a number", "[harness.claude]\nprice = 3\n"),
    (
        "kind that comes later",
        "[harness.a]\nkind = \"codex\"\n[harness.b]\nkind = \"pi\"\n[harness.c]\nkind = \"acp\"\n",
    ),
    ("kind unknown", "[harness.a]\nkind = \"gpt\"\n"),
    ("kind missing", "[harness.scripted]\ncommand = [\"./agent.sh\"]\n"),
    ("harness empty name", "[agents]\nharness = \"\"\n"),
    (
        "harness odd name",
        "[harness.\"../x\"]\nkind = \"command\"\ncommand = [\"./a\"]\n",
    ),
    ("harness as text", "harness = \"claude\"\n"),
    ("harness entry as text", "[harness]\nclaude = \"opus\"\n"),
    ("harness list of tables", "[[harness]]\nkind = \"command\"\n"),
    ("no command", "[harness.scripted]\nkind = \"command\"\n"),
    (
        "command empty",
        "[harness.scripted]\nkind = \"command\"\ncommand = []\n",
    ),
    (
        "command entry empty",
        "[harness.scripted]\nkind = \"command\"\ncommand = [\"\", \"-x\", \" \"]\n",
    ),
    (
        "command as text",
        "[harness.scripted]\nkind = \"command\"\ncommand = \"./agent.sh\"\n",
    ),
    (
        "model for a command",
        "[harness.scripted]\nkind = \"command\"\ncommand = [\"./a\"]\nmodel = \"x\"\n",
    ),
    (
        "environment",
        "[harness.scripted]\nkind = \"command\"\ncommand = [\"./a\"]\nenv = { \"A-B\" = \"1\", N = 5, CREW_RUN_ID = \"x\", Z = \"a\\u0000\" }\npass_env = [\"A=B\", \"\", \"TICKETS_DIR\", \"1A\"]\n",
    ),
    (
        "environment as text",
        "[harness.scripted]\nkind = \"command\"\ncommand = [\"./a\"]\nenv = \"A=1\"\n",
    ),
    (
        "unknown harness key",
        "[harness.scripted]\nkind = \"command\"\ncommand = [\"./a\"]\narg = [\"x\"]\n",
    ),
    ("workspaces leave", "workspace_dir = \"../agents\"\n"),
    ("workspaces absolute", "workspace_dir = \"/srv/agents\"\n"),
    ("workspaces at home", "workspace_dir = \"~/agents\"\n"),
    ("workspaces in git", "workspace_dir = \"a/.GIT/b\"\n"),
    ("workspaces in the queue", "workspace_dir = \".tickets/ws\"\n"),
    ("workspaces everywhere", "workspace_dir = \"./\"\n"),
    ("prompts leave", "prompts_dir = \"a/../../b\"\n"),
    (
        "held paths",
        "[land]\nhold_paths = [\"\", \"../x\", \"/etc\", \"src/**\", \"a\\nb\", 3]\nmax_file_mib = 2048\n",
    ),
    (
        "pull requests",
        "[land]\nmode = \"pr\"\npr = { draft = 1, labels = [\"a,b\", \"\"], after = \"green\", title = \"x\" }\n",
    ),
    (
        "no way to land",
        "[land]\nmode = \"pull\"\nremote = \"https://host/x\"\n",
    ),
    ("an author without an address", "[land]\nauthor = \"Ada\"\n"),
    (
        "an author of two lines",
        "[land]\nauthor = \"Ada <ada@example.com>\\nTicket: x <y>\"\n",
    ),
    (
        "trailers that are none, or crew's own",
        "[land]\ntrailers = [\"Reviewed-by\", \"no key: x\", \"Co: a\\nb\", \"Empty: \", \"ticket: t-1\", 3]\n",
    ),
    ("a remote that is an option", "[land]\nremote = \"--mirror\"\n"),
    (
        "review by nobody",
        "[review]\nwhen = \"often\"\nharness = \"gemini\"\ncount = 1\nagree = 2\ntries = 0\n",
    ),
    (
        "review by path and size",
        "[review]\nwhen = { paths = [\"src/*\", \"../x\"], lines = 0 }\nagree = 0\n",
    ),
    ("review of nothing", "[review]\nwhen = {}\n"),
    (
        "review of empty lists",
        "[review]\nwhen = { labels = [], paths = [], lines = 3 }\n",
    ),
    (
        "review of what",
        "[review]\nwhen = { labels = [\"\"], label = \"risky\" }\ncount = 1001\n",
    ),
    ("review by a worker", "[agents]\nnames = [\"gate-1\"]\n"),
    ("review typo", "[review]\nwhn = \"never\"\n"),
    ("budget", "[budget]\nticket_usd = \"five\"\nday_usd = -1\n"),
    ("budget of nothing", "[budget]\nticket_usd = 0\nday_usd = 0.0\n"),
    (
        "budget, odd numbers",
        "[budget]\nticket_usd = 1e3\nday_usd = 0.0000001\nper_ticket = 3\n",
    ),
    (
        "budget without end",
        "[budget]\nticket_usd = inf\nday_usd = 5_000_000\n",
    ),
    ("train", "[train]\nbatch = 0\nslots = 1000\nsize = 4\n"),
    ("later tables", "[sandbox]\non = true\n[commitments]\n"),
    ("later tables, as keys", "budget = 5\nsandbox.on = true\n"),
    ("table as a number", "run = 3\n"),
    ("list of tables", "[[run]]\nmax_steps = 3\n"),
    ("not TOML", "this is not a settings file\n"),
    (
        "string not closed",
        "[project]\ntarget = \"main\n[run]\nmax_steps = 3\n",
    ),
    ("half written", "[project]\ntarget = \"main\"\n[run"),
    ("key twice", "[run]\nmax_steps = 3\nmax_steps = 4\n"),
    ("table twice", "[run]\nmax_steps = 3\n[run]\nattempts = 4\n"),
    ("two broken lines", "[run]\nmax_steps = \n[agents]\ncount = = 3\n"),
    (
        "conflict markers",
        "[run]\n<<<<<<< HEAD\nmax_steps = 3\n=======\nmax_steps = 4\n>>>>>>> theirs\n",
    ),
    (
        "columns count characters",
        "# é\n[agents]\nnames = [\"ada\", \"日本\", \"-x\"]\r\n\tharness =\t\"é\"\r\n",
    ),
    (
        "everything at once",
        "workspace_dir = \"..\"\n[project]\ntarget = \"-x\"\n[run]\nmax_steps = 0\ndebounce = 5\non_stp = \"kill\"\n[agents]\ncount = 2\nnames = [\"a/b\"]\nharness = \"x\"\n[checks]\ncommands = [\"\"]\n[budget]\nday_usd = 1\n",
    ),
];

#[test]
fn each_bad_file_gives_all_of_its_problems() {
    let mut listed = String::new();
    for (name, text) in CORPUS {
        let found = Settings::parse(text, "crew.toml").expect_err(name);
        assert!(!found.is_empty(), "{name}: refused without a word");
        let _ = writeln!(listed, "── {name}");
        for diagnostic in found {
            let _ = writeln!(
                listed,
                "{diagnostic}\n      at: {:?}",
                &text[diagnostic.span.clone()]
            );
        }
    }
    insta::assert_snapshot!(listed);
}

#[test]
fn line_and_column_are_those_of_the_span() {
    for (name, text) in CORPUS {
        for diagnostic in Settings::parse(text, "crew.toml").expect_err(name) {
            let line = text.split('\n').nth(diagnostic.line - 1).expect(name);
            let before: usize = text
                .split_inclusive('\n')
                .take(diagnostic.line - 1)
                .map(str::len)
                .sum();
            let column = diagnostic.column - 1;
            let within: usize = line.chars().take(column).map(char::len_utf8).sum();
            assert_eq!(before + within, diagnostic.span.start, "{name}: {diagnostic}");
        }
    }
}

#[test]
fn messages_never_carry_control_characters() {
    for (name, text) in CORPUS {
        for diagnostic in Settings::parse(text, "crew.toml").expect_err(name) {
            let text = format!("{}{}", diagnostic.message, diagnostic.hint.unwrap_or_default());
            assert!(!text.chars().any(char::is_control), "{name}: {text:?}");
        }
    }
}

#[test]
fn bytes_that_are_not_text_are_refused_at_their_place() {
    let found = Settings::parse_bytes(b"[run]\nmax_steps = 3 # \xff\n", "crew.toml").unwrap_err();
    insta::assert_snapshot!(found[0], @r"
    crew.toml:2:17: the file is not UTF-8 text
      hint: save the file as UTF-8 text
    ");
}

#[test]
fn every_old_name_is_refused_and_its_new_name_is_known() {
    for (table, old, new) in keys::RENAMED {
        let found = Settings::parse(&format!("[{table}]\n{old} = 1\n"), "crew.toml").unwrap_err();
        let message = format!("crew.toml:2:1: `{old}` is now called `{new}`");
        assert!(found[0].to_string().starts_with(&message), "{}", found[0]);
        assert!(keys::of(table).contains(new) && !keys::of(table).contains(old));
    }
}

#[test]
fn a_slip_of_a_key_of_another_table_is_told_where_it_belongs() {
    let found = Settings::parse("[hooks]\nhold_path = [\"a\"]\n", "crew.toml").unwrap_err();
    let hint = found[0].hint.as_deref().unwrap();
    assert_eq!(hint, "did you mean `hold_paths`? `hold_paths` belongs in [land]");
}

#[test]
fn a_huge_key_is_refused_in_few_words() {
    let text = format!("[run]\n{} = 3\n", "k".repeat(1 << 20));
    let found = Settings::parse(&text, "crew.toml").unwrap_err();
    assert!(found[0].to_string().len() < 500, "{}", found[0].to_string().len());
}

#[test]
fn deep_nesting_is_refused() {
    let text = format!("run = {}1{}\n", "[".repeat(100_000), "]".repeat(100_000));
    assert!(Settings::parse(&text, "crew.toml").is_err());
    let text = format!("[{}]\n", vec!["run"; 50_000].join("."));
    assert!(Settings::parse(&text, "crew.toml").is_err());
}

/// Files that are nearly right: known and unknown keys with values of every type.
fn nearly_right() -> impl Strategy<Value = String> {
    let keys: Vec<&str> = keys::KNOWN
        .iter()
        .flat_map(|(_, keys)| keys.iter().copied())
        .collect();
    let tables = [
        "project",
        "run",
        "agents",
        "harness",
        "harness.scripted",
        "checks",
        "review",
        "land",
        "budget",
    ];
    let value = prop_oneof![
        Just("\"command\"".to_owned()),
        any::<i64>().prop_map(|n| n.to_string()),
        "\"[0-9]{0,22}(ms|s|m|h|d|x)?\"",
        "\"[a-z./\\-]{0,8}\"",
        Just("[]".to_owned()),
        "\\[\"[a-z./ \\-]{0,5}\", [0-9]\\]",
        Just("{ a = 1 }".to_owned()),
        Just("true".to_owned()),
        Just("1979-05-27".to_owned()),
        Just("nan".to_owned()),
    ];
    let line = prop_oneof![
        1 => prop::sample::select(tables.to_vec()).prop_map(|table| format!("[{table}]")),
        4 => (prop::sample::select(keys), value).prop_map(|(key, value)| format!("{key} = {value}")),
    ];
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = Settings::parse(&text, "crew.toml");
    }

    #[test]
    fn no_bytes_panic(bytes in any::<Vec<u8>>()) {
        let _ = Settings::parse_bytes(&bytes, "crew.toml");
    }

    #[test]
    fn nearly_right_files_are_read_or_refused_in_order(text in nearly_right()) {
        if let Err(found) = Settings::parse(&text, "crew.toml") {
            prop_assert!(!found.is_empty());
            prop_assert!(found.is_sorted_by_key(|diagnostic| diagnostic.span.start));
            for diagnostic in found {
                prop_assert!(text.get(diagnostic.span.clone()).is_some(), "{diagnostic:?}");
            }
        }
    }

    #[test]
    fn cut_anywhere_a_file_is_read_or_refused(cut in 0_usize..600) {
        let whole = "[project]\ntarget = \"main\"\n[run]\nstep_timeout = \"1h30m\"\n[agents]\nnames = [\"ada\", \"日本\"]\n\
                     harness = \"s\"\n[harness.s]\nkind = \"command\"\ncommand = [\"./a\"]\nenv = { A = \"é\" }\n";
        let _ = Settings::parse(&whole[..whole.floor_char_boundary(cut)], "crew.toml");
    }
}
