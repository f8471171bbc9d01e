import { expect, it } from "vitest";
import {
  eventually,
  expectAccessible,
  expectNoSidewaysScroll,
  phone,
  screenshot,
  signedIn,
} from "./support/browser.ts";
import type { ConsoleServer } from "./support/server.ts";
import { consoleSuite } from "./support/console-suite.ts";

/** Looks like "invoicetxt.pdf" where the sign is obeyed. */
const trick = "invoice\u202Efdp.txt";
const rows = 300;

async function seed(server: ConsoleServer): Promise<void> {
  await server.api("POST", "/v1/repositories", { repository_id: "kb", name: "Knowledge" });
  await server.api("POST", "/v1/repositories/kb/collections", { collection_id: "papers", name: "Papers" });
  await server.api("POST", "/v1/repositories/kb/collections/papers/documents", { name: trick, text: "An invoice." });
  await server.api("POST", "/v1/workflows", {
    workflow_id: "long",
    name: "n".repeat(10_000),
    type: "sequential",
    total_steps: 1,
  });
  await server.api("PUT", "/v1/containers/orders", { partition_key: "/customer" });
  const operations = Array.from({ length: rows }, (_, index) => ({
    op: "create",
    document: { id: `order-${String(index).padStart(3, "0")}`, customer: "c1" },
  }));
  await server.api("POST", "/v1/containers/orders/bulk", { operations });
}

consoleSuite("names, titles and keys", { seed }, ({ server, open }) => {
  it("a sign that turns the direction of a name is shown, in the list, the heading, the title of the window and that of a dialog", async () => {
    const { page, close } = await open("/collections/kb/papers?tab=documents");
    await page.getByRole("cell", { name: "invoiceU+202Efdp.txt" }).waitFor();
    await screenshot(page, "names-direction");
    await page.getByRole("cell", { name: "invoiceU+202Efdp.txt" }).click();
    const heading = page.getByRole("heading", { level: 1, name: "invoiceU+202Efdp.txt" });
    await heading.waitFor();
    expect(await heading.innerText()).not.toContain("\u202E");
    await eventually(() => page.title()).toBe("invoice[U+202E]fdp.txt · Pinakes");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete invoiceU+202Efdp.txt?" });
    await dialog.waitFor();
    expect(await dialog.innerText()).not.toContain("\u202E");
    await close();
  });

  it("a name of ten thousand letters stays a heading of three lines, also on a phone", async () => {
    const { page, close } = await open("/workflows/long", phone);
    const heading = page.getByRole("heading", { level: 1, name: "nnnn" });
    await heading.waitFor();
    await page.getByRole("tab", { name: "Timeline" }).waitFor();
    expect(
      await heading.evaluate((element) => element.clientHeight / parseFloat(getComputedStyle(element).lineHeight)),
    ).toBeLessThanOrEqual(3.1);
    await expectNoSidewaysScroll(page);
    await eventually(() => page.title()).toBe(`${"n".repeat(79)}… · Pinakes`);
    // It has not begun: one time below the drawing, not five that are the same.
    const labels = await page
      .getByRole("img", { name: /^Timeline of/ })
      .getByText(/^\d\d:\d\d:\d\d$/)
      .count();
    expect(labels).toBe(1);
    await screenshot(page, "names-long");
    await close();
  });

  it("each page has its title, and whoever goes there by a menu or by the palette is at its heading", async () => {
    const { page, complaints, close } = await open();
    const frame = page.waitForRequest(/\/v1\/events/);
    await signedIn(page, server);
    await frame;
    const focused = () =>
      page.evaluate(() => `${document.activeElement?.tagName} ${document.activeElement?.textContent}`);
    await page.getByRole("link", { name: "Workflows" }).click();
    await eventually(focused).toBe("H1 Workflows");
    await eventually(() => page.title()).toBe("Workflows · Pinakes");
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("combobox").fill("tool");
    await page.getByRole("option").and(page.locator("[data-highlighted]")).filter({ hasText: "Tool" }).waitFor();
    await page.keyboard.press("Enter");
    await eventually(focused).toBe("H1 Tool log");
    await eventually(() => page.title()).toBe("Tool log · Pinakes");
    await page.goto(`${server.url}/no-such-page`);
    await eventually(() => page.title()).toBe("Page not found · Pinakes");
    // The page is shown with the status that programs need to see.
    expect(complaints.splice(0)).toEqual([expect.stringContaining("404")]);
    await close();
  });

  it("the rows of a table are one stop: arrows, Home and End go between them, Tab leaves them, Enter opens", async () => {
    const { page, close } = await open("/containers/orders");
    const table = page.getByRole("table", { name: "Items of orders" });
    await table.getByRole("cell", { name: "order-000" }).waitFor();
    const row = () => page.evaluate(() => document.activeElement?.closest("[role=row]")?.getAttribute("aria-rowindex"));
    const stops = () => table.locator('[role=row][tabindex="0"]').count();
    await table.locator('[role=row][tabindex="0"]').focus();
    expect([await row(), await stops()]).toEqual(["2", 1]);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await eventually(row).toBe("4");
    await page.keyboard.press("ArrowUp");
    await eventually(row).toBe("3");
    await page.keyboard.press("End");
    await eventually(async () => Number(await row())).toBeGreaterThan(90);
    expect(await stops()).toBe(1);
    // Scrolled far away by the mouse, the row that has the focus is still there.
    const at = await row();
    await table.evaluate((element) => element.scrollTo(0, 0));
    await table.getByRole("cell", { name: "order-000" }).waitFor();
    expect(await row()).toBe(at);
    await page.keyboard.press("Home");
    await eventually(row).toBe("2");
    await page.keyboard.press("Tab");
    await eventually(row).toBeUndefined();
    await page.keyboard.press("Shift+Tab");
    await eventually(row).toBe("2");
    await page.keyboard.press("ArrowDown");
    await eventually(row).toBe("3");
    await expectAccessible(page);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Item order-001" }).waitFor();
    await close();
  });
});
