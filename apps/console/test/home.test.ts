import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { browserPath, expectAccessible, expectNoSidewaysScroll, launchBrowser, openPage, phone, screenshot, signedIn } from "./support/browser.ts";
import { startServer, type ConsoleServer } from "./support/server.ts";

describe.skipIf(browserPath === undefined)("console: the start page", () => {
  let server: ConsoleServer;
  let browser: Browser;
  beforeAll(async () => {
    [server, browser] = await Promise.all([startServer(), launchBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it("leads a new user from the printed link to an answer that is marked in its document", async () => {
    const { page, close } = await openPage(browser);
    await page.goto(server.link);
    await page.getByRole("heading", { level: 1, name: "Welcome to Pinakes" }).waitFor();
    await expectAccessible(page);
    await screenshot(page, "first-run");
    await page.getByRole("button", { name: "Make a sample collection" }).click();
    await page.getByText(/of 5 files done/).waitFor();
    await page.getByText("All 5 files are ready to be asked.").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "How do I restart the workers without losing messages?" }).click();
    const answers = page.getByRole("region", { name: "Passages that answer the question" });
    const best = answers.getByRole("link", { name: /incident-runbook\.md.*Queue backlog/ }).first();
    await best.waitFor();
    expect(await best.locator("mark").allTextContents()).toEqual(expect.arrayContaining(["restart", "workers"]));
    await expectAccessible(page);
    await screenshot(page, "first-answer");
    await best.click();
    await page.getByRole("heading", { level: 1, name: "incident-runbook.md" }).waitFor();
    const text = page.getByRole("region", { name: "Text of the document" });
    const mark = text.locator("mark");
    await mark.waitFor();
    expect(await mark.textContent()).toContain("drain them first");
    expect(await isWithin(page)).toBe(true);
    await expectAccessible(page);
    await screenshot(page, "citation");
    // Back at the question, with its answers.
    await page.goBack();
    await answers.waitFor();
    expect(await page.getByRole("searchbox", { name: "Ask your documents" }).inputValue()).toBe("How do I restart the workers without losing messages?");
    await close();
  });

  it("takes a dropped file into a new collection, on a phone and in the dark, and finds it", async () => {
    const { page, close } = await openPage(browser, { ...phone, colorScheme: "dark" });
    await signedIn(page, server);
    await page.getByLabel("Into the collection").selectOption({ label: "A new collection" });
    await page.getByLabel("Name of the new collection").fill("Dropped here");
    await drop(page, "zebra.txt", "Zebras of the Serengeti drink at the river at dawn.");
    await page.getByText("1 of 1 file done").waitFor();
    await page.getByRole("searchbox", { name: "Ask your documents" }).fill("when do zebras drink");
    await page.keyboard.press("Enter");
    await page
      .getByRole("link", { name: /zebra\.txt/ })
      .first()
      .waitFor();
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
    await screenshot(page, "start-phone-dark");
    await close();
  });

  it("shows why a collection could not be made, and what hostile questions say as plain text", async () => {
    const { page, complaints, close } = await openPage(browser);
    page.on("dialog", () => complaints.push("a script ran"));
    await signedIn(page, server, `/?q=${encodeURIComponent('<img src=x onerror="alert(1)"> zebra')}`);
    await page
      .getByRole("link", { name: /zebra\.txt/ })
      .first()
      .waitFor();
    expect(await page.getByRole("searchbox", { name: "Ask your documents" }).inputValue()).toBe('<img src=x onerror="alert(1)"> zebra');
    await page.getByLabel("Into the collection").selectOption({ label: "A new collection" });
    await page.getByLabel("Name of the new collection").fill("<script>alert(1)</script>");
    await drop(page, "a.txt", "a");
    await page.getByRole("alert").getByText("may have letters, digits, spaces").waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining("400")]);
    await close();
  });
});

/** As the browser does it when a file is let go over the page. */
async function drop(page: Page, name: string, text: string): Promise<void> {
  const data = await page.evaluateHandle(
    ([file, content]) => {
      const made = new DataTransfer();
      made.items.add(new File([content as string], file as string, { type: "text/plain" }));
      return made;
    },
    [name, text],
  );
  const zone = page.getByRole("region", { name: "Add documents" });
  await zone.dispatchEvent("dragover", { dataTransfer: data });
  await zone.dispatchEvent("drop", { dataTransfer: data });
}

/** Whether the marked passage begins where the reader sees it. */
async function isWithin(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const mark = document.querySelector("mark")?.getBoundingClientRect();
    return mark !== undefined && mark.top > 0 && mark.top < innerHeight;
  });
}
