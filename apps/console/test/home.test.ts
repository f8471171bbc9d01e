import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import {
  eventually,
  expectAccessible,
  expectNoSidewaysScroll,
  phone,
  screenshot,
  signedIn,
} from "./support/browser.ts";
import { addDocuments } from "./support/documents.ts";
import { consoleSuite } from "./support/console-suite.ts";

consoleSuite("the start page", {}, ({ server, open }) => {
  it("leads a new user from the printed link to an answer that is marked in its document", async () => {
    const { page, close } = await open();
    await page.goto(server.link);
    await page.getByRole("heading", { level: 1, name: "Welcome to Pinakes" }).waitFor();
    await expectAccessible(page);
    await screenshot(page, "first-run");
    await page.getByRole("button", { name: "Create sample collection" }).click();
    await page.getByText(/of 5 files done/).waitFor();
    await page.getByText("All 5 files are searchable.").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "How do I restart the workers without losing messages?" }).click();
    const answers = page.getByRole("region", { name: "Answers" });
    const best = answers.getByRole("link", { name: /incident-runbook\.md.*Queue backlog/ }).first();
    await eventually(() => best.locator("mark").allTextContents()).toEqual(
      expect.arrayContaining(["restart", "workers"]),
    );
    await expectAccessible(page);
    await screenshot(page, "first-answer");
    await best.click();
    await page.getByRole("heading", { level: 1, name: "incident-runbook.md" }).waitFor();
    const text = page.getByRole("region", { name: "Document text" });
    const mark = text.locator("mark");
    await mark.getByText("drain them first").waitFor();
    await eventually(() => isWithin(page)).toBe(true);
    await expectAccessible(page);
    await screenshot(page, "citation");
    // Back at the question, with its answers.
    await page.goBack();
    await answers.waitFor();
    await eventually(() => page.getByRole("searchbox", { name: "Ask your documents" }).inputValue()).toBe(
      "How do I restart the workers without losing messages?",
    );
    await close();
  });

  it("takes a dropped file into a new collection, on a phone and in the dark, and finds it", async () => {
    const { page, close } = await open(undefined, { ...phone, colorScheme: "dark" });
    await signedIn(page, server);
    await page.getByLabel("Collection", { exact: true }).selectOption({ label: "New collection" });
    await page.getByLabel("New collection name").fill("Dropped here");
    await drop(page, "zebra.txt", "Zebras of the Serengeti drink at the river at dawn.");
    await page.getByText("1 of 1 file done").waitFor();
    // Without going elsewhere and back, and under an id that can be typed.
    const recent = page.getByRole("listitem").filter({ hasText: "1 document" }).filter({ hasText: "ready" });
    expect(await recent.getByRole("link", { name: "Dropped here" }).getAttribute("href")).toMatch(/\/dropped-here$/);
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

  it("shows the row that was asked for, there and in its document, and says so when nothing fits", async () => {
    const rows = Array.from({ length: 40 }, (_, index) => `P-${100 + index},spare part of steel,${index}.50`);
    await server.api("POST", "/v1/repositories", { repository_id: "kb", name: "Knowledge" });
    await server.api("POST", "/v1/repositories/kb/collections", { collection_id: "parts", name: "Parts" });
    await addDocuments(server, "/v1/repositories/kb/collections/parts", [
      { name: "parts.csv", text: ["part,kind,price", ...rows].join("\n") },
    ]);
    const { page, close } = await open(`/?q=${encodeURIComponent("price of part P-118")}`);
    const best = page.getByRole("link", { name: /parts\.csv/ }).first();
    await best.locator("mark", { hasText: /^P-118$/ }).waitFor();
    await eventually(() => best.textContent()).toContain("P-118,spare part of steel,18.50");
    await best.click();
    const word = page.getByRole("region", { name: "Document text" }).locator("strong", { hasText: /^P-118$/ });
    await word.waitFor();
    await eventually(
      async () => ((await word.boundingBox())?.y ?? -1) > 0 && ((await word.boundingBox())?.y ?? Infinity) < 800,
    ).toBe(true);
    await page.getByText("Matched words").waitFor();
    await expectAccessible(page);
    await signedIn(page, server, "/?q=zxqv");
    await page.getByText("No results for this question. Try different words.").waitFor();
    // The collection that came with the repository holds nothing, and is not in the way.
    await eventually(() => page.getByRole("link", { name: "Parts", exact: true }).count()).toBe(1);
    expect(await page.getByRole("link", { name: "Default Collection" }).count()).toBe(0);
    await close();
  });

  it("names the file that failed, and where a type is taken that a personal collection does not take", async () => {
    const { page, complaints, close } = await open();
    await signedIn(page, server);
    await page.getByLabel("Collection", { exact: true }).selectOption({ label: "New collection" });
    await page.getByLabel("New collection name").fill("Mixed files");
    await page.getByLabel("Choose files").setInputFiles([
      { name: "conf.yaml", mimeType: "text/yaml", buffer: Buffer.from("a: 1") },
      { name: "bad.pdf", mimeType: "application/pdf", buffer: Buffer.from("no PDF") },
      ...["one", "two"].map((name) => ({
        name: `${name}.txt`,
        mimeType: "text/plain",
        buffer: Buffer.from(`Text ${name}.`),
      })),
    ]);
    await page.getByText("Collections in a shared repository accept this one:").waitFor();
    const failed = page.getByRole("link", { name: "1 of 3 failed" });
    await failed.waitFor();
    await expectAccessible(page);
    await failed.click();
    await page.waitForURL(/mixed-files\?documentStatus=failed/);
    await page.getByRole("row", { name: /bad\.pdf/ }).waitFor();
    expect(await page.getByRole("row", { name: /(?:one|two)\.txt/ }).count()).toBe(0);
    expect(complaints.splice(0)).toEqual([expect.stringContaining("400")]);
    await close();
  });

  it("shows why a collection could not be made, and what hostile questions say as plain text", async () => {
    const { page, complaints, close } = await open();
    page.on("dialog", () => complaints.push("a script ran"));
    await signedIn(page, server, `/?q=${encodeURIComponent('<img src=x onerror="alert(1)"> zebra')}`);
    await page
      .getByRole("link", { name: /zebra\.txt/ })
      .first()
      .waitFor();
    await eventually(() => page.getByRole("searchbox", { name: "Ask your documents" }).inputValue()).toBe(
      '<img src=x onerror="alert(1)"> zebra',
    );
    await page.getByLabel("Collection", { exact: true }).selectOption({ label: "New collection" });
    await page.getByLabel("New collection name").fill("<script>alert(1)</script>");
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

/** Whether the marked chunk begins where the reader sees it. */
async function isWithin(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const mark = document.querySelector("mark")?.getBoundingClientRect();
    return mark !== undefined && mark.top > 0 && mark.top < innerHeight;
  });
}
