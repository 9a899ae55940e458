// Where things are on the page, by what a person sees: the one place of the scenarios that knows.
import assert from "node:assert/strict";
import { until } from "./wait.mjs";

/** The page is there, and what it shows holds now. */
export async function live(page) {
  await page.locator(".live.good").waitFor();
}

/** The page says that what it shows may be out of date. */
export async function stale(page) {
  await page.locator(".live.waiting").waitFor();
}

/** Goes to a page of the world's repository, as a person who types its address. */
export async function visit(page, world, path = "") {
  await page.goto(world.at(path));
  await page.locator("h1").first().waitFor({ state: "attached" });
  await live(page);
}

/** A row of a list, by its key. */
export const row = (page, key) => page.locator(`[data-row="${key}"]`);

/** The button of an act on what is shown. */
export const button = (page, name) => page.locator("main").getByRole("button", { name });

/** The dialog that is open. */
export const dialog = page => page.getByRole("dialog");

/** Presses a button, once it may be pressed: acts rest for a moment when what they are about has changed. */
export async function press(locator) {
  await until(`it may be pressed: ${locator}`, async () => {
    const one = locator.first();
    return (await one.isVisible()) && (await one.evaluate(it => it.getAttribute("aria-disabled") !== "true" && !it.classList.contains("rests")));
  });
  await locator.first().click();
}

/** Whether the text is nowhere on the page. */
export async function gone(page, text) {
  await page.getByText(text).first().waitFor({ state: "detached" });
}

/** Nothing is cut off at the side: the page is no wider than its window. */
export async function assertFits(page, what) {
  const { wide, window } = await page.evaluate(() => ({
    wide: document.scrollingElement.scrollWidth,
    window: document.documentElement.clientWidth,
  }));
  assert.ok(wide <= window, `${what} is ${wide} px wide in a window of ${window} px`);
}

/** What the page takes: its elements, and what was asked for until it was first shown. */
export async function taken(page) {
  return await page.evaluate(() => {
    const shown = performance.getEntriesByType("mark").find(mark => mark.name.startsWith("page "))?.startTime ?? Infinity;
    const entries = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].filter(entry => entry.startTime <= shown);
    const of = key => entries.reduce((sum, entry) => sum + (entry[key] ?? 0), 0);
    return { elements: document.querySelectorAll("*").length, requests: entries.length, raw: of("decodedBodySize"), packed: of("encodedBodySize") };
  });
}

/** Answers the question that is shown. */
export async function answer(page, text) {
  await page.getByRole("textbox", { name: /answer/i }).first().fill(text);
  await press(button(page, /^Answer/));
}

/** The page is there whole: its module is loaded, and no part of it is still being read. */
export const settledDown = page =>
  until("nothing is being read any more", async () => {
    const rests = async () =>
      page.watched.open.size === 0 &&
      (await page.evaluate(
        () =>
          new Promise(resolve => {
            const look = () => performance.getEntriesByType("mark").some(mark => mark.name.startsWith("page ")) && !document.querySelector(".skeleton, [aria-busy=true]");
            requestAnimationFrame(() => requestAnimationFrame(() => resolve(look())));
          }),
      ));
    // What has just come may ask for more.
    return (await rests()) && (await rests());
  });

/** The words with which an act was refused: beside it, or as a toast. */
export const refusal = page => page.locator("main .notice.wrong, .toast.wrong").first();

/** Does something by the palette. */
export async function palette(page, words) {
  await page.keyboard.press("Control+k");
  await dialog(page).getByRole("combobox").fill(words);
  await page.keyboard.press("Enter");
}
