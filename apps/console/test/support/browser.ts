/** A page in a real Chromium. What the page complains about in the browser's console fails the test that closes it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import axe from "axe-core";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { expect } from "vitest";
import { findBrowser } from "../../../../scripts/browser.ts";

export const browserPath = findBrowser();

const artifacts = fileURLToPath(new URL("../../../../artifacts/console", import.meta.url));
/** As long as a slow machine needs: what a test waits for comes, or the test fails. */
const waitMsMax = 30_000;

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
  const quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic", "--no-first-run"];
  return chromium.launch({ ...(browserPath === undefined ? {} : { executablePath: browserPath }), args: ["--no-sandbox", "--disable-gpu", ...quiet] });
}

export async function openPage(browser: Browser, options: BrowserContextOptions = desktop): Promise<OpenPage> {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(waitMsMax);
  const page = await context.newPage();
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

/** Signs in with the root token and opens `path`. */
export async function signedIn(page: Page, server: { readonly url: string; readonly key: string }, path = "/"): Promise<void> {
  await page.goto(`${server.url}/sign-in?next=${encodeURIComponent(path)}#token=${server.key}`);
  await page.waitForURL(({ pathname }) => pathname !== "/sign-in");
  await page.locator("main#content").waitFor();
}

/** No violation of the rules that axe knows for WCAG 2.1 AA, and none of its good practices; a button that is just changing may settle first. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  await expect.poll(() => violations(page), { timeout: 5_000, interval: 300 }).toEqual([]);
}

async function violations(page: Page): Promise<unknown> {
  return page.evaluate(async () => {
    const { axe: injected } = globalThis as unknown as { axe: typeof axe };
    const found = await injected.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] });
    return found.violations.map(({ id, help, nodes }) => ({ id, help, where: nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)) }));
  });
}

/** The page itself never scrolls sideways; tables and code do so inside. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
}

/** Kept in artifacts/console, for people to look at. */
export async function screenshot(page: Page, name: string): Promise<void> {
  mkdirSync(artifacts, { recursive: true });
  await page.screenshot({ path: join(artifacts, `${name}.png`) });
}
