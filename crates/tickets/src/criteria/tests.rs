//! What is a commitment, what is none, and what is said of it.

use super::*;

/// The commands that are read from a body; `?` is a commitment that nothing verifies.
fn commands(body: &str) -> Vec<String> {
    let run = |one: &Commitment| match &one.run {
        Some(Run::Shell(run)) => run.clone(),
        Some(Run::Argv(words)) => words.join(" "),
        None => "?".to_owned(),
    };
    read(body).commitments.iter().map(run).collect()
}

fn section(text: &str) -> String {
    format!("# Title\n\nWhat to do.\n\n## Acceptance Criteria\n\n{text}\n\n## Notes\n\n- `$ note`\n")
}

fn says(body: &str) -> Vec<String> {
    read(body).commitments.into_iter().map(|one| one.says).collect()
}

#[test]
fn each_command_of_an_item_is_a_commitment() {
    let table: &[(&str, &[&str])] = &[
        ("- a: `$ x`", &["x"]),
        ("* a: `$ x`\n* b: `$ y`", &["x", "y"]),
        ("+ a: `$ x`", &["x"]),
        ("1. a: `$ x`\n2) b: `$ y`", &["x", "y"]),
        ("- [ ] a: `$ x`\n- [x] b: `$ y`\n- [X] `$ z`", &["x", "y", "z"]),
        ("- both: `$ x` and `$ y`", &["x", "y"]),
        ("- the command is on\n  the next line: `$ x -e y`", &["x -e y"]),
        ("- the command is on\nthe next line: `$ x -e y`", &["x -e y"]),
        ("- wrapped span: `$ x -e\n  y`", &["x -e y"]),
        ("- a paragraph\n\n  `$ x`", &["x"]),
        (
            "- outer: `$ x`\n  - inner: `$ y`\n  - and `$ z`",
            &["x", "y", "z"],
        ),
        ("- ``$ echo `date` ``", &["echo `date`"]),
        ("- **bold** `$ x`, [a link](u) and *`$ y`*", &["x", "y"]),
        (
            "- it builds:\n  ```sh\n  # first\n  $ x\n  out\n  $ y a \\\n  > b\n  ```",
            &["x", "y a b"],
        ),
        ("- it builds:\n\n      $ x\n      out", &["x"]),
        ("- it builds:\n  ```\n  $ x\n  ```\n- b `$ y`", &["x", "y"]),
        ("### Build\n\n- a: `$ x`\n\n### Test\n\n- b: `$ y`", &["x", "y"]),
        ("<!-- AC:BEGIN -->\n- [ ] #1 a: `$ x`\n<!-- AC:END -->", &["x"]),
        (
            "- run `make` by hand\n- it looks friendly\n- a lone ` and `` `$ ``\n- as `` `$ x` ``",
            &[],
        ),
    ];
    for (text, wanted) in table {
        let body = section(text);
        assert_eq!(commands(&body), *wanted, "{text}");
        assert_eq!(read(&body).faults, [], "{text}");
        assert_eq!(commands(&body.replace('\n', "\r\n")), *wanted, "{text}");
    }
}

#[test]
fn what_is_hidden_or_an_example_is_no_commitment() {
    for text in [
        "- ~~gone: `$ x`~~",
        "- gone: ~~`$ x`~~ by now",
        "<!--\n- `$ x`\n-->",
        "- a <!-- `$ x` --> b",
        "> - `$ x`",
        "- as they say\n  > `$ x`",
        "```\n- `$ x`\n```",
        "    - `$ x`",
        "- an example:\n  ```python\n  $ x\n  ```",
        "- an example:\n\n      - `$ x`",
        "```markdown\n- `$ x`\n$ x\n```",
        "- the price is 5 $ a piece, `$HOME` and `$total = 5`",
    ] {
        let read = read(&section(text));
        assert_eq!(read.commitments, [], "{text}");
        assert_eq!(read.faults, [], "{text}");
    }
}

#[test]
fn the_heading_is_known_as_people_write_it() {
    for heading in [
        "## Acceptance Criteria",
        "## Acceptance criteria",
        "## ACCEPTANCE CRITERIA:",
        "## Acceptance",
        "# Acceptance Criteria",
        "### Acceptance Criteria",
        "## Acceptance Criteria ##",
        "## **Acceptance Criteria**",
        "## ✅ Acceptance Criteria",
        "## 3. Acceptance  Criteria",
        "Acceptance Criteria\n---",
        "**Acceptance Criteria**",
        "**Acceptance Criteria:**",
        "Acceptance criteria:",
        "## Acceptance Criteria\n\nNone.\n\n## Acceptance Criteria",
        "```sh\nnever closed\n\n## Acceptance Criteria",
    ] {
        let body = format!("# Acceptance of it\n\nDo.\n\n{heading}\n- a: `$ x`\n");
        assert_eq!(commands(&body), ["x"], "{heading}");
        assert!(
            read(&body).text.is_some_and(|text| text.ends_with("- a: `$ x`")),
            "{heading}"
        );
        for end in ["# End", "## Notes", "## Design"] {
            let body = format!("{body}\n{end}\n\n- `$ y`\n");
            let ends = end != "## Design" || !heading.starts_with("# ");
            assert_eq!(commands(&body).len(), if ends { 1 } else { 2 }, "{heading} {end}");
        }
    }
    assert_eq!(
        commands("# Acceptance criteria\n\n- `$ x`\n"),
        [""; 0],
        "the title"
    );
    assert_eq!(
        commands("> ## Acceptance Criteria\n\n- `$ x`\n"),
        [""; 0],
        "quoted"
    );
    assert_eq!(
        commands("- ## Acceptance Criteria\n- `$ x`\n"),
        [""; 0],
        "in an item"
    );
}

#[test]
fn what_looks_like_a_commitment_and_is_none_is_said() {
    let section = |text: &str| format!("# T\n\n## Acceptance Criteria\n\n{text}\n");
    let table: &[(String, &[&str], &str)] = &[
        (section("All of it: `$ x`"), &["?"], "in no item of a list"),
        (section("```sh\n$ x\n```"), &["?"], "in no item of a list"),
        (
            section("| a | `$ x` |\n|---|---|\n| b | c |"),
            &["?"],
            "in no item of a list",
        ),
        (section("- a: `$ x"), &["?"], "stands in backticks"),
        (section("- $ x"), &["?"], "stands in backticks"),
        (section("- a `$ x` and `$ y"), &["x", "?"], "stands in backticks"),
        (section("- a: `$test -e x`"), &["?"], "with a blank"),
        (
            section("- a:\n  ```sh\n  test -e x\n  ```"),
            &[],
            "no line of its code block",
        ),
        (section("<!-- open\n\n- `$ x`"), &[], "never closed"),
        (
            "# T\n\n## Success criteria\n\n- `$ x`\n".into(),
            &[],
            "not under a heading",
        ),
        (
            "# T\n\n**Definition of done:**\n- `$ x`\n".into(),
            &[],
            "not under a heading",
        ),
        ("# T\n\nAcceptance: `$ x`\n".into(), &[], "not under a heading"),
        (
            "# T\n\n## Acceptance Tests\n\n```\n$ x\n```\n".into(),
            &[],
            "not under a heading",
        ),
    ];
    for (body, wanted, said) in table {
        assert_eq!(commands(body), *wanted, "{body}");
        let faults = read(body).faults;
        let (line, text, why, counts) = match faults.as_slice() {
            [(line, ProblemKind::NoCommitment { text, why })] => (line, text, why, false),
            [(line, ProblemKind::UnreadCommitment { text, why })] => (line, text, why, true),
            _ => panic!("{body}: {faults:?}"),
        };
        assert_eq!(
            counts,
            wanted.contains(&"?"),
            "{body}: it is a commitment, or it is none"
        );
        assert!(why.contains(said) && !text.is_empty(), "{body}: {text} {why}");
        let lines: Vec<&str> = body.lines().collect();
        assert!(
            lines[*line..].join("\n").contains('x') && !lines[..*line].join("\n").contains("`$"),
            "{body}: {line}"
        );
    }
    for body in [
        "# T\n\n## Steps to reproduce\n\n1. `$ x`\n",
        "# T\n\nRun `$ x`, which is accepted by nobody at all today.\n",
        "# T\n\n## Accepted risks\n\nNone.\n\n## Design\n\n- `$ x`\n",
    ] {
        assert_eq!(read(body).faults, [], "{body}");
    }
    let many = section(&"- $ x\n".repeat(100));
    assert_eq!(read(&many).faults.len(), MOST_FAULTS);
}

#[test]
fn a_commitment_is_said_in_its_items_words() {
    let body = section(
        "- [ ] The page\n  says  **hello**: `$ grep hello page`\n- both: `$ true` and ``$ echo `x` ``\n- `$ a`\n- ```\n  $ b\n  ```\n- It builds:\n  ```\n  $ c\n  ```\n- esc &#27;[31m `$ d`",
    );
    assert_eq!(
        says(&body),
        [
            "The page says hello: `$ grep hello page`",
            "both: `$ true` and …",
            "both: … and ``$ echo `x```",
            "`$ a`",
            "b",
            "It builds:",
            "esc ␛[31m `$ d`",
        ]
    );
}
