import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { eventually, scrollUntil, signedIn } from "./support/browser.ts";
import type { ConsoleServer } from "./support/server.ts";
import { consoleSuite } from "./support/console-suite.ts";

/** Three pages, the last one short. */
const many = 205;
const atOnce = 41;
const collection = "/v1/repositories/kb/collections/many";

interface Row {
  readonly document_id: string;
  readonly name: string;
}

async function add(server: ConsoleServer, from: number, to: number): Promise<void> {
  const form = new FormData();
  for (let number = from; number < to; number += 1)
    form.append("file", new Blob([`Note ${number}.`]), `note-${number}.txt`);
  const headers = { authorization: `Bearer ${server.key}` };
  const { status } = await fetch(`${server.url}${collection}/documents`, { method: "POST", headers, body: form });
  expect(status).toBe(202);
}

async function seed(server: ConsoleServer): Promise<void> {
  await server.api("POST", "/v1/repositories", { repository_id: "kb", name: "Knowledge" });
  await server.api("POST", "/v1/repositories/kb/collections", { collection_id: "many", name: "Many" });
  for (let from = 0; from < many; from += atOnce) await add(server, from, from + atOnce);
}

consoleSuite("a long list while its collection is indexed", { seed }, ({ server, open }) => {
  const indexed = async () =>
    (await server.api<{ documents_by_status: Record<string, number> }>("GET", collection)).documents_by_status[
      "indexed"
    ];
  const pageAfter = async (cursor: string | null | undefined) =>
    (
      await server.api<{ items: readonly Row[] }>(
        "GET",
        `${collection}/documents?limit=100${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`,
      )
    ).items;

  /** The cursors that pages of the list were asked for with, in turn. */
  function cursorsOf(page: Page): (string | null)[] {
    const cursors: (string | null)[] = [];
    page.on("request", (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (request.method() === "GET" && pathname === `${collection}/documents`)
        cursors.push(searchParams.get("cursor"));
    });
    return cursors;
  }

  it("its end is reached; then a new document reads the first and the last page, and a changed one its own", async () => {
    const { page, close } = await open();
    const asked = cursorsOf(page);
    await signedIn(page, server, "/collections/kb/many");
    const table = page.getByRole("table", { name: "Documents" });
    const row = (name: string) => table.getByRole("row", { name });
    const end = page.getByText(`${many} rows`, { exact: true });
    await scrollUntil(table, end);
    await eventually(indexed).toBe(many);
    // From here on nothing happens by itself.
    await page.reload();
    await table.waitFor();
    asked.length = 0;
    await scrollUntil(table, end);
    const [middle, last] = asked.filter((cursor) => cursor !== null);
    const changed = (await pageAfter(middle))[50];
    expect(changed).toBeDefined();
    asked.length = 0;
    await add(server, many, many + 1);
    await table.evaluate((element) => element.scrollTo(0, 0));
    await row(`note-${many}.txt`)
      .getByText(/^indexed$/i)
      .waitFor();
    expect(new Set(asked)).toEqual(new Set([null, last]));
    await server.api("POST", `${collection}/documents/${changed?.document_id}:reindex`);
    await eventually(() => asked).toContain(middle);
    await close();
  });
});
