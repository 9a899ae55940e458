// The documents of docs/json.schema.json as types, so that those which the page says can be held against them.
//
//   node schema.mjs FOLDER      writes FOLDER/api.d.ts, and FOLDER/agreement.ts, which does not compile where they differ
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const schema = JSON.parse(readFileSync(join(here, "../../../../docs/json.schema.json"), "utf8"));
const page = join(here, "../../page/src/types.d.ts");

/** A schema as a type. */
const type = it => {
  if (it === true || it === undefined) return "unknown";
  if (it.$ref) return it.$ref.split("/").at(-1);
  if ("const" in it) return JSON.stringify(it.const);
  if (it.enum) return it.enum.map(one => JSON.stringify(one)).join(" | ");
  const either = it.anyOf ?? it.oneOf;
  if (either) return either.map(type).join(" | ");
  if (Array.isArray(it.type)) return it.type.map(one => type({ ...it, type: one })).join(" | ");
  switch (it.type) {
    case "array":
      return `(${type(it.items)})[]`;
    case "object": {
      const needed = new Set(it.required);
      const fields = Object.entries(it.properties ?? {}).map(([name, one]) => `${JSON.stringify(name)}${needed.has(name) ? "" : "?"}: ${type(one)};`);
      if (typeof it.additionalProperties === "object") return `Record<string, ${type(it.additionalProperties)}>`;
      return fields.length > 0 ? `{ ${fields.join(" ")} }` : "object";
    }
    case "integer":
      return "number";
    case undefined:
      return "unknown";
    default:
      return it.type;
  }
};

export const api = () => Object.entries(schema.$defs).map(([name, it]) => `export type ${name} = ${type(it)};`).join("\n");

/** The documents that the page says, and the schema too. */
export const shared = () => {
  const said = readFileSync(page, "utf8");
  const documents = Object.keys(schema.$defs).filter(name => schema.$defs[name].properties);
  return documents.filter(name => new RegExp(`export (interface|type) ${name}\\b`).test(said));
};

export const agreement = folder =>
  [
    `import type * as Api from './api';`,
    `import type * as Page from './${relative(folder, page).replace(/\.d\.ts$/, "")}';`,
    `/** The keys of both whose values the page would not take as they come. */`,
    `type Differing<A, P> = { [K in keyof A & keyof P]: A[K] extends P[K] ? never : K }[keyof A & keyof P];`,
    `const agrees = <T extends never>(): T[] => [];`,
    ...shared().map(name => `agrees<Differing<Api.${name}, Page.${name}>>();`),
    "export {};",
    "",
  ].join("\n");

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder] = process.argv.slice(2);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "api.d.ts"), `${api()}\n`);
  writeFileSync(join(folder, "agreement.ts"), agreement(folder));
  const base = relative(folder, join(here, "../../page/tsconfig.json"));
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ extends: `./${base}`, compilerOptions: { allowJs: false, checkJs: false }, include: ["agreement.ts"] }));
}
