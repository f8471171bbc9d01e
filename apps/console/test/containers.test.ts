import type { Locator, Page } from "playwright-core";
import { expect, it } from "vitest";
import {
  eventually,
  expectAccessible,
  expectNoSidewaysScroll,
  phone,
  screenshot,
  scrollUntil,
} from "./support/browser.ts";
import type { ConsoleServer } from "./support/server.ts";
import { consoleSuite } from "./support/console-suite.ts";

const hostile = '<img src=x onerror="document.title=1">';
const rows = 10_000;

async function seed(server: ConsoleServer): Promise<void> {
  await server.api("PUT", "/v1/containers/orders", { partition_key: "/customer" });
  await server.api("PUT", "/v1/containers/regions", { partition_key: ["/region", "/year"] });
  await server.api("POST", "/v1/containers/regions/items", { id: "a", region: "eu", year: 2024, note: "two keys" });
  const operations = Array.from({ length: rows }, (_, index) => ({
    op: "create",
    document: {
      id: `order-${String(index).padStart(5, "0")}`,
      customer: `c${index % 20}`,
      status: index % 2 === 0 ? "open" : "paid",
      note: hostile,
    },
  }));
  await server.api("POST", "/v1/containers/orders/bulk", { operations });
}

consoleSuite("containers", { seed }, ({ server, open }) => {
  const orderPath = (id: string, customer: string) => `/v1/containers/orders/items/${id}?pk=${customer}`;
  const type = async (page: Page, from: string, to: string) => {
    const editor = page.getByRole("textbox", { name: "Document as JSON" });
    await eventually(() => editor.innerText()).toContain(from);
    await editor.fill((await editor.innerText()).replace(from, to));
  };

  /** Key by key: text that replaces coloured text in one go takes its colour along, as a style that the page's policy refuses. */
  const write = async (page: Page, editor: Locator, text: string) => {
    await editor.press("Control+a");
    await editor.press("Delete");
    await page.keyboard.type(text);
  };

  it("from the list to ten thousand items: only those in sight are in the page, and the last one is reached by scrolling", async () => {
    const { page, close } = await open("/containers");
    await page.getByRole("cell", { name: "workflow-states" }).waitFor();
    await expectAccessible(page);
    await page.getByRole("cell", { name: "orders", exact: true }).click();
    const table = page.getByRole("table", { name: "Items of orders" });
    await table.getByRole("cell", { name: "order-00000" }).waitFor();
    await table.getByText(hostile).first().waitFor();
    await expectAccessible(page);
    await screenshot(page, "containers-items");
    await scrollUntil(table, table.getByRole("cell", { name: "order-09999" }));
    await page.getByText(`${rows} rows`, { exact: true }).waitFor();
    expect(await table.getByRole("row").count()).toBeLessThan(100);
    await eventually(() => page.title()).toBe("orders · Pinakes");
    await close();
  });

  it("a stale edit shows theirs beside mine; the reader goes on editing, overwrites, or takes theirs", async () => {
    const { page, complaints, close } = await open("/containers/orders?item=order-00001&itemPk=c1");
    await page.getByRole("button", { name: "Save" }).waitFor();
    await type(page, '"status": "paid"', '"status": "mine"');
    await server.api("PUT", orderPath("order-00001", "c1"), { id: "order-00001", customer: "c1", status: "theirs" });
    await page.getByRole("button", { name: "Save" }).click();
    const conflict = page.getByRole("alert").filter({ hasText: "This item has changed" });
    await conflict.waitFor();
    const differences = page.getByRole("region", { name: "Differences" });
    await differences.getByRole("row", { name: /status "theirs" "mine"/ }).waitFor();
    await expectAccessible(page);
    await screenshot(page, "containers-conflict");
    await page.getByRole("button", { name: "Continue editing" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await conflict.waitFor();
    await page.getByRole("button", { name: "Overwrite with mine" }).click();
    await page.getByText("Saved").waitFor();
    expect(await server.api("GET", orderPath("order-00001", "c1"))).toMatchObject({ status: "mine" });
    await type(page, '"status": "mine"', '"status": "again"');
    await server.api("PUT", orderPath("order-00001", "c1"), { id: "order-00001", customer: "c1", status: "final" });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Use theirs" }).click();
    await page.getByRole("textbox", { name: "Document as JSON" }).getByText('"final"').waitFor();
    await page.getByRole("button", { name: "Save", disabled: true }).waitFor();
    expect(await server.api("GET", orderPath("order-00001", "c1"))).toMatchObject({ status: "final" });
    // The browser tells of each refusal itself.
    expect(complaints.splice(0).filter((text) => !text.includes("status of 412"))).toEqual([]);
    await close();
  });

  it("an item that was deleted meanwhile can be made again; wrong JSON cannot be saved", async () => {
    const { page, complaints, close } = await open("/containers/orders?item=order-00003&itemPk=c3");
    await page.getByRole("button", { name: "Save" }).waitFor();
    await type(page, '"status": "paid"', '"status": ');
    await page.getByText("Invalid JSON.").waitFor();
    await page.getByRole("button", { name: "Save", disabled: true }).waitFor();
    await page.getByRole("button", { name: "Reset" }).click();
    await type(page, '"paid"', '"kept"');
    await server.api("DELETE", orderPath("order-00003", "c3"));
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("It was deleted after you opened it").waitFor();
    await page.getByRole("button", { name: "Recreate with mine" }).click();
    await page.getByText("Item created").waitFor();
    expect(await server.api("GET", orderPath("order-00003", "c3"))).toMatchObject({ status: "kept" });
    expect(complaints.splice(0).filter((text) => !/status of (404|412)/.test(text))).toEqual([]);
    await close();
  });

  it("a query by the keyboard alone, explained; its text stands in the address and a wrong one is told", async () => {
    const { page, complaints, close } = await open("/containers/orders?tab=query");
    const editor = page.getByRole("textbox", { name: "SQL query" });
    await write(page, editor, 'SELECT c.id, c.status FROM c WHERE c.status = "open" AND c.customer = "c4"');
    await editor.press("Control+Enter");
    const results = page.getByRole("table", { name: "Query results" });
    await results.getByRole("cell", { name: "order-00004" }).waitFor();
    await page.getByRole("button", { name: "Explain" }).click();
    await page.getByText("one partition").waitFor();
    await expectAccessible(page);
    await screenshot(page, "containers-query");
    await page.reload();
    await results.getByRole("cell", { name: "order-00004" }).waitFor();
    await write(page, editor, "SELECT FROM WHERE");
    await editor.press("Control+Enter");
    await page.getByRole("alert").first().waitFor();
    expect(complaints.splice(0).filter((text) => !text.includes("status of 400"))).toEqual([]);
    await close();
  });

  it("a new container: one of that name is left as it is, whoever made it meanwhile; another name is free", async () => {
    const { page, complaints, close } = await open("/containers");
    await page.getByRole("button", { name: "New container" }).click();
    const dialog = page.getByRole("dialog", { name: "New container" });
    await dialog.getByLabel("Name").fill("parcels");
    await dialog.getByLabel("Partition key").fill("/city");
    const theirs = await server.api("PUT", "/v1/containers/parcels", { partition_key: "/city", default_ttl: 600 });
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByText("A container with this name already exists.").waitFor();
    expect(await server.api("GET", "/v1/containers/parcels")).toEqual(theirs);
    await expectAccessible(page);
    await dialog.getByLabel("Name").fill("parcels-2");
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByRole("heading", { level: 1, name: "parcels-2" }).waitFor();
    expect(await server.api("GET", "/v1/containers/parcels-2")).toMatchObject({ partition_key: "/city" });
    expect(complaints.splice(0).filter((text) => !text.includes("status of 412"))).toEqual([]);
    await close();
  });

  it("items come and go: made, seen in the live changes, deleted after a question; also with two partition keys, on a phone", async () => {
    const { page, complaints, close } = await open("/containers/regions", phone);
    await page.getByRole("cell", { name: "eu" }).waitFor();
    await page.getByRole("button", { name: "New item" }).click();
    await page.getByRole("textbox", { name: "Document as JSON" }).fill('{"id":"b","region":"us","year":2025}');
    await expectAccessible(page);
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("cell", { name: "us" }).waitFor();
    await expectNoSidewaysScroll(page);
    await page.getByRole("tab", { name: "Changes" }).click();
    await page.getByText("live", { exact: true }).waitFor();
    await server.api("POST", "/v1/containers/regions/items", { id: "c", region: "us", year: 2026 });
    await page.getByRole("cell", { name: '["us",2026]' }).waitFor();
    await page.getByRole("tab", { name: "Items" }).click();
    await page.getByRole("cell", { name: "b", exact: true }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    const confirm = page.getByRole("dialog", { name: "Delete item b?" });
    await server.api("PUT", `/v1/containers/regions/items/b?pk=${encodeURIComponent('["us",2025]')}`, {
      id: "b",
      region: "us",
      year: 2025,
      late: true,
    });
    await confirm.getByRole("button", { name: "Delete" }).click();
    await confirm.getByRole("row", { name: "late – true" }).waitFor();
    await expectAccessible(page);
    await confirm.getByRole("button", { name: "Delete" }).click();
    await page.getByText("Item deleted").waitFor();
    // The question, and the item behind it.
    await page.getByRole("dialog").first().waitFor({ state: "detached" });
    expect(complaints.splice(0).filter((text) => !text.includes("status of 412"))).toEqual([]);
    await page.getByRole("cell", { name: "b", exact: true }).waitFor({ state: "detached" });
    await expectAccessible(page);
    await close();
  });
});
