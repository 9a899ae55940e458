//! What the web page costs: how soon it can be used, how old what it shows is, and what it takes.

use std::path::Path;

use serde_json::Value;

use super::{median, quantile};
use crate::web;

/// One thing that was measured.
pub(crate) struct Measured {
    what: String,
    /// Of the values and of the goals.
    unit: String,
    values: Vec<f64>,
    /// Of the one in the middle, and of 99 in 100, where there is one.
    goals: Vec<f64>,
}

/// Measures the page of a program in the system's browser.
pub(crate) fn run(root: &Path, crew: &Path, is_quick: bool) -> Result<Vec<Measured>, String> {
    let said = web::measured(root, crew, is_quick)?;
    let lines = said.lines().filter(|line| line.starts_with('{'));
    lines
        .map(|line| read(line).ok_or_else(|| format!("`{line}` is nothing that was measured")))
        .collect()
}

fn read(line: &str) -> Option<Measured> {
    let line: Value = serde_json::from_str(line).ok()?;
    let text = |key: &str| line.get(key)?.as_str().map(str::to_owned);
    let numbers =
        |key: &str| -> Option<Vec<f64>> { line.get(key)?.as_array()?.iter().map(Value::as_f64).collect() };
    Some(Measured {
        what: text("what")?,
        unit: text("unit")?,
        values: numbers("values")?,
        goals: numbers("goals")?,
    })
}

/// For the terminal.
pub(crate) fn told(measured: &[Measured]) -> String {
    let mut text = format!(
        "\n{:<64} {:>6} {:>9} {:>9} {:>12}",
        "web", "times", "p50", "p99", "goal"
    );
    for Measured {
        what,
        unit,
        values,
        goals,
    } in measured
    {
        text.push_str(&format!(
            "\n  {what:<62} {:>6} {:>9.1} {:>9.1} {:>12}",
            values.len(),
            median(values.iter().copied()),
            quantile(values.iter().copied(), 0.99),
            goal(goals, unit),
        ));
    }
    text
}

fn goal(goals: &[f64], unit: &str) -> String {
    let goals: Vec<String> = goals.iter().map(f64::to_string).collect();
    format!("{} {unit}", goals.join(" / ")).trim_end().to_owned()
}

/// For the page: its section.
pub(crate) fn page(measured: &[Measured]) -> String {
    if measured.is_empty() {
        return String::new();
    }
    let mut page = HEAD.to_owned();
    for Measured {
        what,
        unit,
        values,
        goals,
    } in measured
    {
        let share = |at: f64, nth: usize| {
            let of = goals.get(nth)?;
            Some(format!(
                "{:.0} %",
                100.0 * quantile(values.iter().copied(), at) / of
            ))
        };
        page.push_str(&format!(
            "| {what} | {} | {} | {} | {} |\n",
            values.len(),
            goal(goals, unit),
            share(0.5, 0).unwrap_or_default(),
            share(0.99, 1).unwrap_or_else(|| "–".to_owned()),
        ));
    }
    page
}

const HEAD: &str = "
## web

The [web page](web.md) in Chromium, with an engine and agents that are scripts, as parts of the goals. \"A phone on a slow line\" has 60 ms to the
server, 10 Mbit/s and a quarter of the processor. What is said to be shown is in a frame that the browser has drawn.

| what | times | goal | p50, of it | p99, of it |
|---|---|---|---|---|
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_is_read_and_told_as_a_part_of_its_goal() {
        let line = r#"{"what":"an act","unit":"ms","values":[10,20,30],"goals":[40,400]}"#;
        let measured = vec![read(line).unwrap()];
        assert!(told(&measured).contains("20.0"), "{}", told(&measured));
        assert!(
            page(&measured).ends_with("| an act | 3 | 40 / 400 ms | 50 % | 8 % |\n"),
            "{}",
            page(&measured)
        );
        assert!(read("{}").is_none());
    }
}
