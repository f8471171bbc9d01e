import type { Page, Route } from "playwright-core";
import { expect, it } from "vitest";
import {
  eventually,
  expectAccessible,
  expectNoSidewaysScroll,
  phone,
  screenshot,
  scrollUntil,
  signedIn,
} from "./support/browser.ts";
import type { ConsoleServer } from "./support/server.ts";
import { consoleSuite } from "./support/console-suite.ts";

const many = 105;
const refusal = {
  status: 403,
  contentType: "application/problem+json",
  body: JSON.stringify({ status: 403, detail: "No second page for you." }),
};
/** The browser notes each refusal itself; whatever else it notes is a fault. */
const otherThan = (status: number) => (text: string) => !text.includes(`status of ${status}`);

async function seed(server: ConsoleServer): Promise<void> {
  await server.api("POST", "/v1/repositories", { repository_id: "library", name: "Library" });
  for (let i = 0; i < many; i += 1)
    await server.api("POST", "/v1/repositories/library/collections", {
      collection_id: `c-${i}`,
      name: `Number ${i}`,
    });
  await server.api("PUT", "/v1/containers/orders", { partition_key: "/customer" });
}

consoleSuite("what comes in pages or as a stream, and breaks off", { seed }, ({ server, open }) => {
  const nextPage = (url: URL) => url.pathname === "/v1/collections" && url.searchParams.has("cursor");
  const refuseNextPage = async (page: Page) => {
    const asked: string[] = [];
    const refuse = async (route: Route) => {
      asked.push(route.request().url());
      await route.fulfill(refusal);
    };
    await page.route(nextPage, refuse);
    return { asked, allow: () => page.unroute(nextPage, refuse) };
  };

  it("a next page that is refused is told below the rows and asked for once; the reader asks again", async () => {
    const { page, complaints, close } = await open();
    const { asked, allow } = await refuseNextPage(page);
    await signedIn(page, server, "/collections");
    const table = page.getByRole("table", { name: "Collections" });
    await table.getByRole("row", { name: /Number 104/ }).waitFor();
    const told = page.getByRole("alert").filter({ hasText: "No second page for you." });
    await scrollUntil(table, told);
    await page.getByText("100 rows; loading more failed").waitFor();
    // The rows stay, and what draws them anew asks for nothing.
    await table.evaluate((element) => element.scrollTo(0, 0));
    await table.getByRole("row", { name: /Number 104/ }).waitFor();
    await table.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await table.getByRole("row", { name: /Number 5\b/ }).waitFor();
    expect(asked).toHaveLength(1);
    await expectAccessible(page);
    await screenshot(page, "list-cut-off");
    await told.getByRole("button", { name: "Retry" }).click();
    await eventually(() => asked.length).toBe(2);
    await told.waitFor();
    await allow();
    await told.getByRole("button", { name: "Retry" }).click();
    await scrollUntil(table, table.getByRole("row", { name: /Number 0\b/ }));
    await told.waitFor({ state: "detached" });
    expect(asked).toHaveLength(2);
    expect(complaints.splice(0).filter(otherThan(403))).toEqual([]);
    await close();
  });

  it("on a phone the refusal fits below the rows", async () => {
    const { page, complaints, close } = await open(undefined, phone);
    await refuseNextPage(page);
    await signedIn(page, server, "/collections");
    const told = page.getByRole("alert").filter({ hasText: "No second page for you." });
    await scrollUntil(page.getByRole("table", { name: "Collections" }), told);
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
    await screenshot(page, "list-cut-off-phone");
    expect(complaints.splice(0).filter(otherThan(403))).toEqual([]);
    await close();
  });

  it("a stream is closed while nobody looks and goes on where it was; one that was refused is opened again by itself", async () => {
    const { page, complaints, close } = await open();
    const stream = (url: URL) => url.pathname === "/v1/containers/orders/changes";
    const put = (id: string) => server.api("POST", "/v1/containers/orders/items", { id, customer: "ann" });
    const hide = (hidden: boolean) =>
      page.evaluate((now) => {
        Object.defineProperty(document, "hidden", { configurable: true, get: () => now });
        document.dispatchEvent(new Event("visibilitychange"));
      }, hidden);
    const refuse = (route: Route) => route.fulfill({ ...refusal, status: 503 });
    await page.route(stream, refuse);
    await signedIn(page, server, "/containers/orders?tab=changes");
    await page.getByText("not connected", { exact: true }).waitFor();
    await page.unroute(stream, refuse);
    await page.getByText("live", { exact: true }).waitFor();
    const table = page.getByRole("table");
    await put("seen");
    await table.getByText("seen", { exact: true }).waitFor();
    const closed = page.waitForEvent("requestfailed", (request) => stream(new URL(request.url())));
    await hide(true);
    await closed;
    await put("unseen");
    await hide(false);
    await table.getByText("unseen", { exact: true }).waitFor();
    expect(complaints.splice(0).filter(otherThan(503))).toEqual([]);
    await close();
  });

  it("a stream that was left before its answer is not under way in the list of calls", async () => {
    const { page, close } = await open();
    let asked = 0;
    // No answer at all.
    await page.route(
      (url) => url.pathname === "/v1/containers/orders/changes",
      () => void (asked += 1),
    );
    await signedIn(page, server, "/containers/orders?tab=changes");
    await eventually(() => asked).toBe(1);
    await page.getByRole("tab", { name: "Items" }).click();
    await page.getByRole("table", { name: "Items of orders" }).waitFor();
    await page.getByRole("button", { name: "API calls" }).click();
    const left = page.getByRole("listitem").filter({ hasText: "/v1/containers/orders/changes" });
    await left.getByText("no response").waitFor();
    await eventually(() => page.getByText("pending", { exact: true }).count()).toBe(0);
    await close();
  });
});
