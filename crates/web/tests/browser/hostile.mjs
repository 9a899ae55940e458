// Text that means harm: the sequences that crew's sanitiser is tested with, and what means something in HTML.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const source = join(dirname(fileURLToPath(import.meta.url)), "../../../text/tests/it/main.rs");

/** A string literal of Rust's as its text. */
const unescaped = literal =>
  literal.replace(/\\(u\{([0-9a-fA-F_]+)\}|x([0-9a-fA-F]{2})|(.))/g, (_, _all, code, byte, one) => {
    if (code ?? byte) return String.fromCodePoint(parseInt((code ?? byte).replaceAll("_", ""), 16));
    return { n: "\n", r: "\r", t: "\t", 0: "\0", "\\": "\\", '"': '"', "'": "'" }[one] ?? one;
  });

/** The corpus of `crates/text`: a name and the text. */
export const CORPUS = (() => {
  const [, table] = readFileSync(source, "utf8").match(/const CORPUS[^=]*= &\[([\s\S]*?)\n\];/);
  const rows = [...table.matchAll(/\(\s*"((?:[^"\\]|\\.)*)",\s*"((?:[^"\\]|\\.)*)",/g)];
  return rows.map(([, name, text]) => ({ name: unescaped(name), text: unescaped(text) }));
})();

/** What a browser would take as more than text, if it were let. */
export const MARKUP = [
  "<img src=x onerror=globalThis.pwned=1>",
  "<script>globalThis.pwned=1</script>",
  "\"><svg onload=globalThis.pwned=1>",
  "</title></textarea></style><iframe srcdoc='<script>parent.pwned=1</script>'>",
  "<a href=\"javascript:globalThis.pwned=1\">press</a>",
  "[press](javascript:globalThis.pwned=1)",
  "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>",
  "<link rel=stylesheet href=http://127.0.0.1:9/x.css>",
  "<base href=http://127.0.0.1:9/>",
  "<form action=http://127.0.0.1:9/><input autofocus onfocus=globalThis.pwned=1>",
  "<math><mtext><table><mglyph><style><!--</style><img src=x onerror=globalThis.pwned=1>",
  "{{constructor.constructor('globalThis.pwned=1')()}} ${globalThis.pwned=1}",
  "&lt;b&gt; &#x3c;i&#x3e; &amp;",
  "__proto__ constructor toString",
];

/** What must not be in any text of a page: it would hide, reorder, or steer. */
export const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\u{e0000}-\u{e0fff}]/u;
