// The page's vendored files: npm's bytes, with their bare imports made relative and without the line that names the source map.
//
//   node vendor.mjs NODE_MODULES           says which vendored file is not what npm has, and fails
//   node vendor.mjs NODE_MODULES --write   writes the files, the licences beside them and vendor.toml
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const page = join(dirname(fileURLToPath(import.meta.url)), "../../page");

/** Which module of which package each vendored file is. */
export const FILES = [
  { file: "preact.js", package: "preact", from: "dist/preact.mjs", module: "preact", notice: "LICENSE-preact" },
  { file: "hooks.js", package: "preact", from: "hooks/dist/hooks.mjs", module: "preact/hooks", notice: "LICENSE-preact" },
  { file: "signals-core.js", package: "@preact/signals-core", from: "dist/signals-core.mjs", module: "@preact/signals-core", notice: "LICENSE-signals" },
  { file: "signals.js", package: "@preact/signals", from: "dist/signals.mjs", module: "@preact/signals", notice: "LICENSE-signals" },
];

/** The licences that a vendored file may have. */
const LICENCES = new Set(["MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "0BSD"]);

/** What has to be in the page: the path below it, and the text. */
export function wanted(modules) {
  const files = new Map();
  const entries = [];
  for (const { file, package: name, from, module, notice } of FILES) {
    const folder = join(modules, name);
    const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    if (!LICENCES.has(about.license)) throw new Error(`${name} has the licence ${about.license}, which none of ours may have`);
    const original = readFileSync(join(folder, from), "utf8");
    // The source map is not vendored: a browser's tools would ask for it in vain.
    const whole = original.replace(/\n?\/\/# sourceMappingURL=.*\s*$/, "\n");
    const text = whole.replace(/\b(from|import)\s*(["'])([^."'/][^"']*)\2/g, (_, word, quote, bare) => {
      const other = FILES.find((one) => one.module === bare);
      if (!other) throw new Error(`${name} imports ${bare}, which is not vendored`);
      return `${word}${quote}./${other.file}${quote}`;
    });
    files.set(`vendor/${file}`, text);
    files.set(`vendor/${file.replace(/\.js$/, ".d.ts")}`, `export * from '${module}';\n`);
    files.set(`vendor/${notice}`, readFileSync(join(folder, "LICENSE"), "utf8"));
    entries.push(
      `[[file]]\nname = "${file}"\npackage = "${name}"\nversion = "${about.version}"\nfrom = "${from}"\nlicence = "${about.license}"\n` +
        `notice = "${notice}"\nsha256 = "${createHash("sha256").update(original).digest("hex")}"\n`,
    );
  }
  files.set("vendor.toml", `# Written by \`cargo xtask web --vendor\` from the packages that package-lock.json pins; sha256 is of npm's own file.\n\n${entries.join("\n")}`);
  return files;
}

/** What is there, and is not as it has to be. */
export function differences(modules) {
  const files = wanted(modules);
  const lines = [];
  for (const [path, text] of files) {
    const there = join(page, path);
    if (!existsSync(there)) lines.push(`${path} is missing`);
    else if (readFileSync(there, "utf8") !== text) lines.push(`${path} is not what npm has`);
  }
  const folder = join(page, "vendor");
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    if (!files.has(`vendor/${name}`)) lines.push(`vendor/${name} comes from no package`);
  }
  return lines;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [modules, write] = process.argv.slice(2);
  if (write === "--write") {
    for (const [path, text] of wanted(modules)) {
      mkdirSync(dirname(join(page, path)), { recursive: true });
      writeFileSync(join(page, path), text);
    }
  }
  const lines = differences(modules);
  if (lines.length > 0) {
    console.error(`${lines.join("\n")}\n\`cargo xtask web --vendor\` writes these files anew`);
    process.exit(1);
  }
}
