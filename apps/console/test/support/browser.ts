/**
 * A page in a real Chromium. What the page complains about in the browser's console fails the test that closes it.
 *
 * `CONSOLE_SLOW=6 npx vitest run --project console` looks for tests that are right on a fast machine only: the browser has a sixth of its
 * speed, each call of the API is sent up to 800 ms late, and everything may take six times as long.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import axe from "axe-core";
import { chromium, type Browser, type BrowserContextOptions, type Locator, type Page } from "playwright-core";
import { expect, vi } from "vitest";
import { findBrowser } from "../../../../scripts/browser.ts";

export const browserPath = findBrowser();

const artifacts = fileURLToPath(new URL("../../../../artifacts/console", import.meta.url));
/** How many times slower the browser is made; 1 is as it is. */
const slow = Math.max(1, Number(process.env["CONSOLE_SLOW"] ?? 1));
const callLateMsMax = 800;
/** As long as a slow machine needs: what a test waits for comes, or the test fails. */
const waitMsMax = 120_000 * slow;
/** A test has many waits, each with its own end: as a whole it may take as long as it takes, unless it hangs. */
const testMsMax = 600_000 * slow;
vi.setConfig({ testTimeout: testMsMax, hookTimeout: testMsMax });

export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;
export const desktop = { viewport: { width: 1280, height: 800 } } as const;

export interface OpenPage {
  readonly page: Page;
  /** What the browser's console complained about so far; a test that provokes a complaint takes it out. */
  readonly complaints: string[];
  /** Closes the page; fails when there were complaints. */
  close(): Promise<void>;
}

export async function launchBrowser(): Promise<Browser> {
  const quiet = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
  ];
  return chromium.launch({
    ...(browserPath === undefined ? {} : { executablePath: browserPath }),
    args: ["--no-sandbox", "--disable-gpu", ...quiet],
  });
}

export async function openPage(browser: Browser, options: BrowserContextOptions = desktop): Promise<OpenPage> {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(waitMsMax);
  const page = await context.newPage();
  if (slow > 1) await slowDown(page);
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  return {
    page,
    complaints,
    close: async () => {
      await context.close();
      expect(complaints).toEqual([]);
    },
  };
}

async function slowDown(page: Page): Promise<void> {
  const browser = await page.context().newCDPSession(page);
  await browser.send("Emulation.setCPUThrottlingRate", { rate: slow });
  await page.route(/\/v1\//, async (route) => {
    await sleep(Math.random() * callLateMsMax);
    // The page may be gone, or no longer want it.
    await route.continue().catch(() => {});
  });
}

/** Signs in with the root token and opens `path`. */
export async function signedIn(
  page: Page,
  server: { readonly url: string; readonly key: string },
  path = "/",
): Promise<void> {
  await page.goto(`${server.url}/sign-in?next=${encodeURIComponent(path)}#token=${server.key}`);
  await page.waitForURL(({ pathname }) => pathname !== "/sign-in");
  await page.locator("main#content").waitFor();
}

/**
 * For what a click or a key leads to: read again until it is as expected. What is read at once may be what was there before, or nothing yet.
 * What has a locator of its own is better waited for by it.
 */
export function eventually<Value>(read: () => Value | Promise<Value>) {
  return expect.poll(read, { timeout: waitMsMax });
}

/** Scrolls to the end, again as further pages come, until `wanted` is there. */
export async function scrollUntil(scroller: Locator, wanted: Locator): Promise<void> {
  const seen = async () => {
    await scroller.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    return wanted.isVisible();
  };
  await expect.poll(seen, { timeout: testMsMax }).toBe(true);
}

/** Closes what is open in front of the page. Until it is gone, all behind it is hidden from roles, and seems to be gone as well. */
export async function closeByEscape(dialog: Locator): Promise<void> {
  await dialog.page().keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
}

/** No violation of the rules that axe knows for WCAG 2.1 AA, and none of its good practices; a button that is just changing may settle first. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  await expect.poll(() => violations(page), { timeout: waitMsMax, interval: 300 }).toEqual([]);
}

async function violations(page: Page): Promise<unknown> {
  return page.evaluate(async () => {
    const { axe: injected } = globalThis as unknown as { axe: typeof axe };
    const found = await injected.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
    });
    return found.violations.map(({ id, help, nodes }) => ({
      id,
      help,
      where: nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)),
    }));
  });
}

/** The page itself never scrolls sideways; tables and code do so inside. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  await eventually(() => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
}

/** Kept in artifacts/console, for people to look at. */
export async function screenshot(page: Page, name: string): Promise<void> {
  mkdirSync(artifacts, { recursive: true });
  await page.screenshot({ path: join(artifacts, `${name}.png`) });
}
