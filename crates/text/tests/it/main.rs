//! The sanitiser: a corpus of dangerous text, and properties of all text.

use proptest::prelude::*;
use text::sanitise::{EXCERPT, excerpt, fit, indented_line, line, output_line, text};
use unicode_width::UnicodeWidthStr as _;

/// A description, the printed text, and the text that is shown in one line.
const CORPUS: &[(&str, &str, &str)] = &[
    ("plain", "plain text", "plain text"),
    ("accents", "Grüße, naïve café", "Grüße, naïve café"),
    ("combining marks", "e\u{301}a\u{308}", "e\u{301}a\u{308}"),
    ("wide", "日本語", "日本語"),
    ("emoji", "ok 🎉", "ok 🎉"),
    ("replacement", "a\u{fffd}b", "a\u{fffd}b"),
    ("no sequence", "a [31m b", "a [31m b"),
    // C0
    ("nul", "a\0b", "ab"),
    ("bell", "a\u{7}b", "ab"),
    (
        "backspaces that hide",
        "rm -rf\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}ls",
        "rm -rfls",
    ),
    ("tab", "a\tb", "a b"),
    ("newline", "a\nb", "a b"),
    ("vertical tab and form feed", "a\u{b}b\u{c}c", "a b c"),
    ("return that would hide", "evil\rgood", "evil good"),
    ("return at the end", "done\r\n", "done"),
    ("shift out", "a\u{e}b\u{f}c", "abc"),
    ("xon xoff", "a\u{11}b\u{13}c", "abc"),
    ("cancel and substitute", "a\u{18}b\u{1a}c", "abc"),
    ("delete", "a\u{7f}b", "ab"),
    ("lone escape", "a\u{1b}", "a"),
    ("two escapes", "a\u{1b}\u{1b}[31mb", "ab"),
    ("escape before a letter of another script", "\u{1b}é", "é"),
    // CSI
    ("colour", "\u{1b}[31mred\u{1b}[0m", "red"),
    ("true colour", "\u{1b}[38;2;1;2;3mx", "x"),
    ("colon colour", "\u{1b}[38:2::1:2:3mx", "x"),
    ("cursor up", "a\u{1b}[5Ab", "ab"),
    ("cursor home", "\u{1b}[Hx", "x"),
    ("clear screen", "\u{1b}[2J\u{1b}[3Jx", "x"),
    ("clear line", "a\u{1b}[2Kb", "ab"),
    ("scroll region", "\u{1b}[1;5rx", "x"),
    ("alternate screen", "\u{1b}[?1049hx", "x"),
    ("hidden cursor", "\u{1b}[?25lx", "x"),
    ("mouse reports", "\u{1b}[?1003;1006hx", "x"),
    ("bracketed paste", "\u{1b}[200~rm\u{1b}[201~", "rm"),
    ("device status", "\u{1b}[6nx", "x"),
    ("device attributes", "\u{1b}[>0cx", "x"),
    ("window size", "\u{1b}[8;1;1tx", "x"),
    ("title report", "\u{1b}[21tx", "x"),
    ("intermediates", "\u{1b}[!px\u{1b}[2 qy", "xy"),
    ("invisible text", "a\u{1b}[8mhidden\u{1b}[28mb", "ahiddenb"),
    ("repeat", "a\u{1b}[999999999bx", "ax"),
    ("csi cut short", "a\u{1b}[31", "a"),
    ("csi with a control in it", "a\u{1b}[3\u{7}1mb", "a1mb"),
    ("csi with another alphabet in it", "a\u{1b}[3éb", "aéb"),
    ("8-bit csi", "a\u{9b}31mb", "ab"),
    // OSC
    ("window title", "\u{1b}]0;evil\u{7}x", "x"),
    ("window title, ST", "\u{1b}]2;evil\u{1b}\\x", "x"),
    (
        "hyperlink",
        "\u{1b}]8;;http://evil\u{1b}\\text\u{1b}]8;;\u{1b}\\",
        "text",
    ),
    ("clipboard", "\u{1b}]52;c;ZXZpbA==\u{7}x", "x"),
    ("clipboard query", "\u{1b}]52;c;?\u{1b}\\x", "x"),
    ("palette", "\u{1b}]4;1;rgb:00/00/00\u{7}x", "x"),
    ("colour query", "\u{1b}]10;?\u{7}x", "x"),
    (
        "notification",
        "\u{1b}]9;evil\u{7}\u{1b}]777;notify;a;b\u{7}x",
        "x",
    ),
    ("working directory", "\u{1b}]7;file:///etc\u{7}x", "x"),
    ("inline file", "\u{1b}]1337;File=name=eA==:AAAA\u{7}x", "x"),
    ("shell integration", "\u{1b}]133;A\u{7}x", "x"),
    ("8-bit osc and st", "\u{9d}0;evil\u{9c}x", "x"),
    ("osc left open", "a\u{1b}]0;evil", "a"),
    ("osc left open, next line", "a\u{1b}]0;evil\nb", "a b"),
    ("osc cancelled", "\u{1b}]0;evil\u{18}x", "x"),
    ("osc ended by another sequence", "\u{1b}]0;evil\u{1b}[31mx", "x"),
    ("osc in osc", "\u{1b}]0;a\u{1b}]0;b\u{7}x", "x"),
    // Other strings
    ("dcs", "\u{1b}P1$r0m\u{1b}\\x", "x"),
    ("sixel", "\u{1b}Pq#0;2;0;0;0#0~~\u{1b}\\x", "x"),
    (
        "tmux passthrough",
        "\u{1b}Ptmux;\u{1b}\u{1b}]52;c;eA==\u{7}\u{1b}\\x",
        "x",
    ),
    ("8-bit dcs", "\u{90}q\u{9c}x", "x"),
    ("apc, kitty graphics", "\u{1b}_Ga=T;AAAA\u{1b}\\x", "x"),
    ("8-bit apc", "\u{9f}Gx\u{9c}y", "y"),
    ("pm", "\u{1b}^evil\u{1b}\\x", "x"),
    ("8-bit pm", "\u{9e}evil\u{9c}x", "x"),
    ("sos", "\u{1b}Xevil\u{1b}\\x", "x"),
    ("8-bit sos", "\u{98}evil\u{9c}x", "x"),
    // Short escapes
    ("reset", "\u{1b}cx", "x"),
    ("save and restore", "\u{1b}7a\u{1b}8b", "ab"),
    ("keypad", "\u{1b}=a\u{1b}>b", "ab"),
    ("reverse index", "\u{1b}Mx", "x"),
    ("character set", "\u{1b}(0lqk\u{1b}(B", "lqk"),
    ("alignment test", "\u{1b}#8x", "x"),
    ("8-bit controls", "\u{1b} Gx", "x"),
    ("utf-8 switch", "\u{1b}%Gx", "x"),
    ("other c1", "a\u{84}\u{8d}\u{8e}\u{99}b", "ab"),
    ("next line", "a\u{85}b", "a b"),
    // Reordering and hiding
    ("right-to-left override", "user\u{202e}gpj.exe", "usergpj.exe"),
    ("embeddings", "\u{202a}a\u{202b}b\u{202c}\u{202d}c", "abc"),
    ("isolates", "\u{2066}a\u{2067}b\u{2068}c\u{2069}", "abc"),
    ("marks of direction", "a\u{200e}\u{200f}\u{61c}b", "ab"),
    ("zero width", "D\u{200b}O\u{200c}N\u{200d}E", "DONE"),
    (
        "word joiner and operators",
        "a\u{2060}\u{2061}\u{2062}\u{2063}\u{2064}b",
        "ab",
    ),
    ("byte order mark", "\u{feff}a\u{feff}b", "ab"),
    ("soft hyphen", "pass\u{ad}word", "password"),
    ("fillers", "a\u{3164}\u{115f}\u{1160}\u{ffa0}b", "ab"),
    ("empty braille", "a\u{2800}b", "ab"),
    ("tags", "a\u{e0041}\u{e0042}\u{e007f}b", "ab"),
    ("variation selectors", "a\u{fe0f}\u{e0100}\u{e01ef}b", "ab"),
    ("line and paragraph separators", "a\u{2028}b\u{2029}c", "a b c"),
    ("annotations", "a\u{fff9}b\u{fffa}c\u{fffb}", "abc"),
    ("grapheme joiner", "a\u{34f}b", "ab"),
    ("deprecated format characters", "a\u{206a}\u{206f}b", "ab"),
    ("mongolian", "a\u{180e}b", "ab"),
    ("musical", "a\u{1d173}\u{1d17a}b", "ab"),
    ("marks on nothing", "\u{301}\u{302}a", "a"),
    (
        "a tower of marks",
        "a\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}b",
        "a\u{301}\u{302}\u{303}\u{304}b",
    ),
    ("a sequence in a sequence", "\u{1b}[3\u{1b}[31m1mx", "1mx"),
    ("blank at the edges", "\t \u{200b} a \u{1b}[0m ", "a"),
];

#[test]
fn the_corpus_is_shown_harmlessly() {
    assert!(CORPUS.len() >= 60);
    for (name, printed, shown) in CORPUS {
        assert_eq!(line(printed), *shown, "{name}");
    }
}

#[test]
fn a_flood_of_marks_is_cut() {
    assert_eq!(line(&format!("a{}", "\u{301}".repeat(1000))).chars().count(), 5);
}

#[test]
fn several_lines_keep_their_lines_only() {
    assert_eq!(text("a\r\nb\tc\n\u{1b}[31md\u{1b}]0;evil\ne"), "a\nb    c\nd\ne");
    assert_eq!(excerpt("\n  a\nb \n"), "a\nb");
    let long = excerpt(&"ü".repeat(EXCERPT + 1));
    assert_eq!((long.chars().count(), long.ends_with('…')), (EXCERPT + 1, true));
    assert_eq!(excerpt(&"ü".repeat(EXCERPT)).chars().count(), EXCERPT);
    assert_eq!(excerpt("\u{1b}\u{200b} \n"), "");
}

#[test]
fn text_is_cut_to_columns_not_characters() {
    assert_eq!(fit("hello", 5), "hello");
    assert_eq!(fit("hello", 4), "hel…");
    assert_eq!(fit("日本語", 6), "日本語");
    assert_eq!(fit("日本語", 5), "日本…");
    assert_eq!(fit("日本語", 4), "日…");
    assert_eq!(fit("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
    assert_eq!(
        (fit("hello", 1), fit("hello", 0), fit("", 0)),
        ("…".into(), String::new(), String::new())
    );
}

/// Text with many of the characters that the sanitiser handles.
fn hostile() -> impl Strategy<Value = String> {
    let bit = prop_oneof![
        3 => any::<char>().prop_map(String::from),
        3 => "[\u{0}-\u{9f}]",
        1 => "[\u{2000}-\u{206f}\u{fe00}-\u{feff}\u{300}-\u{30f}]",
        2 => proptest::sample::select(vec!["\u{1b}[", "\u{1b}]", "\u{1b}P", "\u{9b}", "\u{9d}", "\u{1b}\\", "\u{7}", "1;2m", "\n", "\r", "a"])
            .prop_map(String::from),
    ];
    proptest::collection::vec(bit, 0..40).prop_map(|bits| bits.concat())
}

fn is_harmless(character: char) -> bool {
    !character.is_control()
        && !matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}')
}

proptest! {
    #[test]
    fn nothing_harmful_is_ever_shown(printed in hostile()) {
        let one = line(&printed);
        prop_assert!(one.chars().all(is_harmless), "{one:?}");
        let several = text(&printed);
        prop_assert!(several.chars().all(|character| character == '\n' || is_harmless(character)), "{several:?}");
        // Sanitising again changes nothing: removing a part never joins the rest to something harmful.
        prop_assert_eq!(line(&one), one.clone());
        prop_assert_eq!(text(&several), several.clone());
    }

    #[test]
    fn what_is_cut_fits(printed in hostile(), columns in 0_usize..30) {
        let cut = fit(&line(&printed), columns);
        prop_assert!(cut.width() <= columns, "{cut:?} has {} columns", cut.width());
    }
}

#[test]
fn of_a_line_that_overwrote_itself_the_last_is_shown() {
    let rows = [
        ("10 %\r20 %", "20 %"),
        ("done\r\n", "done"),
        ("evil\rgood", "good"),
        ("text\r   \r", "text"),
        ("\u{1b}[31mred\rb\u{7}lue", "blue"),
    ];
    for (said, shown) in rows {
        assert_eq!(output_line(said), shown, "{said:?}");
    }
}

#[test]
fn a_line_of_output_that_points_at_the_one_above_it_keeps_its_place() {
    let rows = [
        ("  |     ^^^ here\r\n", "  |     ^^^ here"),
        ("\tat line 3  ", "    at line 3"),
        ("10 %\r  20 %", "  20 %"),
        ("a\u{1b}[2J\u{b}b", "a b"),
    ];
    for (said, shown) in rows {
        assert_eq!(indented_line(said), shown, "{said:?}");
    }
}
