//! Target `sanitiser`: sanitised text controls no terminal, and sanitising it again changes nothing.

use text::sanitise;
use unicode_width::UnicodeWidthStr as _;

use crate::shown;

type Sanitise = fn(&str) -> String;

pub(crate) fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let functions: [(&str, Sanitise); 5] = [
        ("line", sanitise::line),
        ("output_line", sanitise::output_line),
        ("indented_line", sanitise::indented_line),
        ("text", sanitise::text),
        ("excerpt", sanitise::excerpt),
    ];
    for (name, sanitise) in functions {
        let once = sanitise(&text);
        shown::harmless(&once);
        assert_eq!(sanitise(&once), once, "{name} of its own result");
    }
    shown::one_line(&sanitise::line(&text));
    shown::one_line(&sanitise::output_line(&text));
    shown::one_line(&sanitise::indented_line(&text));
    for sanitise in [sanitise::prompt, sanitise::code] {
        let shown = sanitise(&text).replace('\t', " ");
        shown::harmless(&shown);
        let lines = text.replace("\r\n", "\n").matches('\n').count();
        assert!(shown.matches('\n').count() <= lines, "a line more in {shown:?}");
    }
    assert!(
        sanitise::excerpt(&text).chars().count() <= sanitise::EXCERPT + 1,
        "an excerpt is short"
    );
    let line = sanitise::line(&text);
    for columns in [0, 1, 2, usize::from(bytes.first().copied().unwrap_or(7))] {
        let fitted = sanitise::fit(&line, columns);
        let width: usize = fitted.chars().map(|c| c.to_string().width()).sum();
        assert!(width <= columns, "{width} columns of {columns}: {fitted:?}");
    }
}
