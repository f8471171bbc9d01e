import { expect, it } from "vitest";
import type { Response } from "playwright-core";
import { gzipSync } from "node:zlib";
import { expectAccessible, expectNoSidewaysScroll, phone, screenshot, signedIn } from "./support/browser.ts";
import { consoleSuite } from "./support/console-suite.ts";

const firstScreenBytesMax = 250_000;

consoleSuite("the frame of every page", {}, ({ server, open }) => {
  it("the printed link signs in once, and leaves no token in the address", async () => {
    const first = await open();
    await first.page.goto(server.link);
    await first.page.getByRole("navigation", { name: "Pages" }).waitFor();
    await first.page.waitForURL(`${server.url}/`);
    await expectAccessible(first.page);
    await screenshot(first.page, "first-screen");
    // The session outlives the page.
    await first.page.reload();
    await first.page.getByRole("navigation", { name: "Pages" }).waitFor();
    await first.close();
    const second = await open();
    await second.page.goto(server.link);
    await second.page.getByRole("alert").getByText("unknown, already used").waitFor();
    await expectAccessible(second.page);
    expect(second.complaints.splice(0)).toEqual([expect.stringContaining("401")]);
    await second.close();
  });

  it("whoever is not signed in is asked to, and comes back to the same page; an address from elsewhere is not followed", async () => {
    const { page, complaints, close } = await open();
    await page.goto(`${server.url}/trash`);
    await page.waitForURL(/sign-in/);
    await page.getByLabel("Key or one-time token").fill(server.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(`${server.url}/trash`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.context().clearCookies();
    await page.goto(`${server.url}/sign-in?next=${encodeURIComponent("//elsewhere.example/x")}#token=${server.key}`);
    await page.waitForURL(`${server.url}/`);
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    // The two calls that found nobody signed in.
    expect(complaints.splice(0).filter((text) => !text.includes("401"))).toEqual([]);
    await close();
  });

  it("a session that ended leads to the sign-in page, and from there back to the page one was on", async () => {
    const { page, complaints, close } = await open();
    const streams = page.waitForResponse(/\/v1\/events/);
    await signedIn(page, server, "/collections?q=old");
    // All is there: what is asked next is what the click asks.
    await page.getByText("No collections match these filters").waitFor();
    await streams;
    await page.context().clearCookies();
    await page.getByRole("link", { name: "Jobs and queues" }).click();
    await page.getByText("Your session has expired").waitFor();
    await expectAccessible(page);
    await page.getByLabel("Key or one-time token").fill(server.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(`${server.url}/jobs`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    // The calls that found the session gone, and the stream that was refused.
    expect(complaints.splice(0).filter((text) => !text.includes("401"))).toEqual([]);
    await close();
  });

  it("the scripts of the first screen are 250 KB at most, compressed", async () => {
    const { page, close } = await open();
    const scripts = new Map<string, Response>();
    page.on("response", (response) => {
      if (response.url().endsWith(".js")) scripts.set(response.url(), response);
    });
    await signedIn(page, server);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.waitForLoadState("networkidle");
    const sizes = await Promise.all([...scripts.values()].map(async (script) => gzipSync(await script.body()).length));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    expect(sizes.length).toBeGreaterThan(2);
    console.log(`first screen: ${total} bytes of script, compressed`);
    expect(total).toBeLessThanOrEqual(firstScreenBytesMax);
    await close();
  });

  it("a lost connection is shown, and heals", async () => {
    const { page, complaints, close } = await open("/collections");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await server.stop();
    await page.getByText("Connection lost").waitFor();
    await screenshot(page, "connection-lost");
    await server.startAgain();
    await page.getByText("Connection lost").waitFor({ state: "detached" });
    await page.getByRole("heading", { level: 1 }).waitFor();
    // The browser itself notes each call that had no answer.
    expect(complaints.splice(0).filter((text) => !text.includes("net::ERR"))).toEqual([]);
    await close();
  });

  it("dark and light, kept over a reload; a phone has the list of pages behind a button", async () => {
    const { page, close } = await open(undefined, { ...phone, colorScheme: "light" });
    await signedIn(page, server);
    await page.getByRole("button", { name: "Account" }).click();
    await page.getByRole("menuitem", { name: "Dark" }).click();
    await page.reload();
    expect(await page.evaluate(() => document.documentElement.classList.contains("dark"))).toBe(true);
    await page.getByRole("button", { name: "Open navigation" }).click();
    const pages = page.getByRole("dialog");
    await pages.getByRole("link", { name: "Collections" }).click();
    await page.waitForURL(/\/collections$/);
    await pages.waitFor({ state: "detached" });
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
    await screenshot(page, "phone-dark");
    await close();
  });

  it("the command palette goes to a page by the keyboard alone", async () => {
    const { page, close } = await open();
    // Asked for by the frame of the page when it is there for good, and hears keys.
    const frame = page.waitForRequest(/\/v1\/events/);
    await signedIn(page, server);
    await frame;
    // Not the choices of the page behind it.
    const name = page.getByRole("dialog").getByRole("combobox");
    const first = page.getByRole("option").and(page.locator("[data-highlighted]"));
    await page.keyboard.press("Control+k");
    await name.fill("tool");
    await first.filter({ hasText: "Tool" }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/tools$/);
    // Collections are found by the server, so that all of them are; what nothing is called is said.
    await server.api("POST", "/v1/repositories", { repository_id: "kb", name: "Knowledge" });
    await server.api("POST", "/v1/repositories/kb/collections", { collection_id: "papers", name: "Papers of 2026" });
    await name.waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await name.fill("no such thing");
    await page.getByText("No results.").waitFor();
    await name.fill("papers of");
    await first.filter({ hasText: "Papers of 2026" }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/collections\/kb\/papers/);
    await close();
  });

  it("the page's policy allows no script inside it, and an API call stays an API call", async () => {
    const { headers } = await fetch(`${server.url}/`);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain("unsafe");
    const nothing = await fetch(`${server.url}/v1/nothing`, { headers: { accept: "text/html" } });
    expect([nothing.status, nothing.headers.get("content-type")]).toEqual([404, "application/problem+json"]);
    expect((await fetch(`${server.url}/assets/none.js`)).status).toBe(404);
    const page = await fetch(`${server.url}/collections/a/b`);
    expect(await page.text()).toContain('<div id="root">');
  });
});
