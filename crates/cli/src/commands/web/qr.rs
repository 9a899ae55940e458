//! A link as a picture that the camera of a phone reads.

use fast_qr::QRBuilder;

/// The modules of light around the picture.
const MARGIN: usize = 2;

/// The picture of a link in lines for a terminal, black on white whatever its colours are; none where the
/// link is too long.
pub(super) fn picture(link: &str) -> Option<String> {
    let code = QRBuilder::new(link).build().ok()?;
    let size = code.size + 2 * MARGIN;
    let is_dark = |row: usize, column: usize| {
        let row = row.checked_sub(MARGIN).filter(|row| *row < code.size);
        let column = column.checked_sub(MARGIN).filter(|column| *column < code.size);
        row.zip(column)
            .is_some_and(|(row, column)| code[row][column].value())
    };
    let mut lines = String::new();
    for row in (0..size).step_by(2) {
        lines.push_str("  \u{1b}[38;5;16;48;5;231m");
        for column in 0..size {
            lines.push(match (is_dark(row, column), is_dark(row + 1, column)) {
                (true, true) => '█',
                (true, false) => '▀',
                (false, true) => '▄',
                (false, false) => ' ',
            });
        }
        lines.push_str("\u{1b}[0m\n");
    }
    Some(lines)
}
