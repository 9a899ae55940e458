//! Whether there is any example in a docstring that cargo would run.

use std::path::Path;

use crate::sources;

/// Looks for a code block of Rust in a docstring below `crates/`.
pub(crate) fn any(root: &Path) -> Result<bool, String> {
    for file in sources::below(&root.join("crates"))? {
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        if has_example(&text) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn has_example(source: &str) -> bool {
    let mut inside = false;
    source.lines().any(|line| {
        let line = line.trim_start();
        let Some(doc) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            return false;
        };
        let Some(language) = doc.trim().strip_prefix("```") else {
            return false;
        };
        inside = !inside;
        let rust = ["", "rust", "should_panic", "no_run", "compile_fail"];
        inside && rust.contains(&language.split(',').next().unwrap_or_default().trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rust_in_docstrings_is_an_example() {
        assert!(has_example("/// ```\n/// f();\n/// ```\n"));
        assert!(has_example("    //! ```no_run\n"));
        assert!(has_example("/// ```text\n/// a\n/// ```\n/// ```rust\n"));
        assert!(!has_example("/// ```text\n/// a\n/// ```\n"));
        assert!(!has_example("// ```\n"));
        assert!(!has_example("let fence = \"```\";\n"));
    }
}
