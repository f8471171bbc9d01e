import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { eventually, expectAccessible, screenshot, signedIn } from "./support/browser.ts";
import type { ConsoleServer } from "./support/server.ts";
import { consoleSuite } from "./support/console-suite.ts";

/** The browser itself notes each call that had no answer. */
const otherThanLost = (text: string) => !text.includes("net::ERR");

async function seed(server: ConsoleServer): Promise<void> {
  await server.api("POST", "/v1/repositories", { repository_id: "kb", name: "Knowledge" });
}

consoleSuite("without a server, or with a newer one", { seed }, ({ server, open }) => {
  const lost = (page: Page) => page.getByText("Connection lost");
  const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name });

  it("a page that was not visited yet says that there is no answer, inside the frame, and comes by itself", async () => {
    const { page, complaints, close } = await open("/overview");
    const tile = page
      .getByRole("list", { name: "Current metrics" })
      .getByRole("listitem")
      .filter({ hasText: "Server" });
    await tile.getByText("ready", { exact: true }).waitFor();
    await server.stop();
    await lost(page).waitFor();
    await tile.getByText("unreachable", { exact: true }).waitFor();
    await expectAccessible(page);
    await page.getByRole("link", { name: "Migrations" }).click();
    const told = page.getByRole("alert").filter({ hasText: "The server is unreachable" });
    await told.getByRole("button", { name: "Retry" }).waitFor();
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    await expectAccessible(page);
    await screenshot(page, "page-not-loaded");
    await server.startAgain();
    await heading(page, "Migrations").waitFor();
    await told.waitFor({ state: "detached" });
    expect(complaints.splice(0).filter(otherThanLost)).toEqual([]);
    await close();
  });

  it("a change without an answer says so, can be sent again, and is sent once", async () => {
    const { page, complaints, close } = await open("/collections?new=true");
    const wizard = page.getByRole("dialog");
    await wizard.getByLabel("Name", { exact: true }).first().fill("Late");
    await server.stop();
    const create = wizard.getByRole("button", { name: "Create collection" });
    await create.click();
    await wizard.getByRole("alert").getByText("The request failed or its response was lost.").waitFor();
    await eventually(() => create.isEnabled()).toBe(true);
    await expectAccessible(page);
    await screenshot(page, "change-not-sent");
    await server.startAgain();
    await lost(page).waitFor({ state: "detached" });
    await create.click();
    await heading(page, "Late").waitFor();
    const { items } = await server.api<{ items: readonly { name: string }[] }>("GET", "/v1/collections?q=Late");
    expect(items.map(({ name }) => name)).toEqual(["Late"]);
    expect(complaints.splice(0).filter(otherThanLost)).toEqual([]);
    await close();
  });

  it("a part that a newer build does not have leads to one reload, then to a reason; a link that is pointed at to neither", async () => {
    const { page, complaints, close } = await open("/collections");
    await heading(page, "Collections").waitFor();
    let loads = 0;
    page.on("load", () => void (loads += 1));
    let refused = 0;
    const gone = /\/assets\/trash-page/;
    await page.route(gone, (route) => ((refused += 1), route.fulfill({ status: 404 })));
    await page.getByRole("link", { name: "Trash" }).hover();
    await eventually(() => refused).toBeGreaterThan(0);
    expect([loads, new URL(page.url()).pathname]).toEqual([0, "/collections"]);
    await page.getByRole("link", { name: "Trash" }).click();
    await eventually(() => loads).toBe(1);
    const told = page.getByRole("alert").filter({ hasText: "Part of this page could not be loaded" });
    await told.waitFor();
    expect([loads, new URL(page.url()).pathname]).toEqual([1, "/trash"]);
    await expectAccessible(page);
    await page.unroute(gone);
    await told.getByRole("button", { name: "Retry" }).click();
    await heading(page, "Trash").waitFor();
    expect(complaints.splice(0).filter((text) => !text.includes("status of 404"))).toEqual([]);
    await close();
  });

  it("a first visit says nothing of a session, and where the key is wherever the data are", async () => {
    const { page, complaints, close } = await open();
    await page.goto(`${server.url}/jobs`);
    await page.getByText("or PINAKES_DATA").waitFor();
    expect(await page.getByText("Your session has expired").count()).toBe(0);
    expect(new URL(page.url()).searchParams.get("next")).toBe("/jobs");
    await expectAccessible(page);
    expect(complaints.splice(0).filter((text) => !text.includes("401"))).toEqual([]);
    await close();
  });

  it("a file dropped beside the place for files does not take the page's place", async () => {
    const { page, close } = await open();
    await server.api("POST", "/v1/repositories/kb/collections", { collection_id: "drops", name: "Drops" });
    await signedIn(page, server, "/collections/kb/drops");
    const caught = (on: string) =>
      page.locator(on).evaluate((element) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File(["words"], "beside.txt"));
        const events = ["dragover", "drop"].map(
          (type) => new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }),
        );
        for (const event of events) element.dispatchEvent(event);
        return events.map(({ defaultPrevented }) => defaultPrevented);
      });
    await page.getByRole("region", { name: "Add documents" }).waitFor();
    expect(await caught("header.border-b")).toEqual([true, true]);
    await page.getByText("Drop files on the upload area.").waitFor();
    expect(await caught("[data-drop-zone]")).toEqual([true, true]);
    await page.getByRole("listitem").filter({ hasText: "beside.txt" }).waitFor();
    expect(await page.getByText("Drop files on the upload area.").count()).toBe(1);
    await page.getByRole("link", { name: "Trash" }).click();
    await heading(page, "Trash").waitFor();
    expect(await caught("main")).toEqual([true, true]);
    await page.getByText("Open a collection to upload files.").waitFor();
    await close();
  });
});
