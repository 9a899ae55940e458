// A world in which everything is to be seen at once: each kind of state, for pages that are looked at.
import { writeFileSync } from "node:fs";
import { until } from "./wait.mjs";

/** Says what it does for a while, as agents do, and then waits at the gate. */
const working = (lines, gate) => `${lines.map(line => `echo ${JSON.stringify(line)}`).join("\n")}\ngate ${gate}\nwork "$CREW_TICKET_ID.txt" done\necho DONE\n`;

/** The settings of such a world. */
export const SETTINGS = {
  name: "textkit",
  agents: "names = [\"ada\", \"bob\", \"cid\", \"dee\", \"eva\", \"fay\"]",
  run: "max_workers = 6",
};

/** The check waits for a gate while it has the work of t-9. */
const check = world => {
  const path = world.path("check.sh");
  writeFileSync(
    path,
    `echo "running 214 tests"\ncase $(ls) in *t-9.txt*) ;; *) echo ok; exit 0 ;; esac\necho "test parse::leap ... ok"\nn=0\nuntil [ -e ${world.path("gates/check")} ]; do n=$((n+1)); [ $n -lt 6000 ] || exit 9; sleep 0.1; done\n`,
  );
  const settings = world.read("crew.toml").replace("[checks]\n", `[checks]\nblind = "allow"\ncommands = [${JSON.stringify(`sh ${path}`)}]\n`);
  world.write("crew.toml", settings);
  world.git("commit", "-qam", "Check the tests");
};

/** Brings a world to where there is something of everything. The engine runs on. */
export async function enrich(world) {
  check(world);
  world.engine();
  for (const [id, title] of [["t-1", "Count the words of a text"], ["t-2", "Trim the blanks around a text"], ["t-5", "Greet in French"]]) {
    world.ticket(id, { title, body: "A tool that prints what its title says.", script: `echo reading lib\nwork "$CREW_TICKET_ID.txt" done "${title}"\necho "SUMMARY: ${title}"\necho DONE\n` });
  }
  for (const id of ["t-1", "t-2", "t-5"]) await world.landed(id);
  world.ticket("t-12", {
    title: "Add a login page",
    tags: ["web", "auth"],
    priority: 1,
    body: "People sign in with a name and a password.\n\n## Acceptance Criteria\n\n- A wrong password is refused\n",
    script: "if told 'signed cookie'; then work login.txt done; echo DONE; else echo 'reading src/login.rs'; echo 'QUESTION: Which session store: the database, or a signed cookie?'; fi\n",
  });
  world.ticket("t-7", { title: "Speed the checks up", body: "They take two minutes.", script: 'work crew.toml "$(cat crew.toml; echo \\# quieter)" "Run the checks quietly"\necho DONE\n' });
  world.ticket("t-14", { title: "Drop support for the old format", script: "echo 'BLOCKED: nobody says which format is the old one'\n" });
  await world.item("t-12", "question");
  await world.item("t-7", "paths");
  await world.item("t-14");
  world.ticket("t-9", { title: "Parse dates with time zones", priority: 0, script: 'echo "reading lib/dates.sh"\nwork t-9.txt done "Parse dates"\necho DONE\n' });
  await until("t-9 is being checked", async () => (await world.json("train")).entries.some(one => one.ticket === "t-9" && one.state !== "queued"));
  world.ticket("t-10", { title: "Say which file is missing", priority: 0, script: 'work t-10.txt done "Say which file is missing"\necho DONE\n' });
  await until("t-10 is behind it", async () => (await world.json("train")).entries.length >= 2);
  world.ticket("t-3", {
    title: "Turn a title into a file name",
    body: "A tool `slug TITLE`: small letters, dashes for blanks.",
    script: working(["I will look at how names are made today.", "reading lib/trim.sh", "writing lib/slug.sh", "running the tests"], "t-3"),
  });
  world.ticket("t-8", { title: "Say which version this is", script: working(["reading the history", "writing lib/version.sh"], "t-8") });
  world.ticket("t-40", { title: "Cache the parser", deps: ["t-9", "t-12"], priority: 3 });
  world.ticket("t-41", { title: "Explain every error in the guide", deps: ["t-40"], priority: 3 });
  world.ticket("t-31", { title: "Translate the messages into German" });
  world.ticket("t-33", { title: "Remember the last folder", tags: ["later"] });
  world.ticket("t-60", { title: "Keep what was typed over a restart, also where the window was closed in the middle of a long sentence" });
  await until("agents are at work", async () => (await world.json("ps")).agents.filter(one => one.state === "working").length >= 2);
  return { question: await world.item("t-12", "question"), paths: await world.item("t-7", "paths"), blocked: await world.item("t-14") };
}

/** The pages of such a world: a name, and the address below the repository's. */
export const pages = async (world, items) => {
  const run = (await world.rows()).map(one => JSON.stringify(one)).join().match(/t-3\.\d+\.\d+/)?.[0] ?? "";
  return [
    ["now", ""],
    ["inbox", "inbox"],
    ["question", `inbox/${items.question.id}`],
    ["paths", `inbox/${items.paths.id}`],
    ["blocked", `inbox/${items.blocked.id}`],
    ["tickets", "tickets"],
    ["ticket", "t/t-12"],
    ["ticket at work", "t/t-3"],
    ["ticket that waits", "t/t-41"],
    ["ticket that landed", "t/t-1"],
    ["history", "t/t-12/history"],
    ["output", `t/t-3/output?run=${run}`],
    ["agents", "agents"],
    ["agent", "a/ada"],
    ["train", "train"],
    ["cost", "cost"],
    ["events", "events"],
    ["health", "health"],
    ["device", "../../device"],
  ];
};
