import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
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
import type { ConsoleServer } from "./support/server.ts";
import { temporaryFolder } from "../../../packages/pinakes/test/support/temporary-folder.ts";
import { consoleSuite } from "./support/console-suite.ts";

const tooLargeBytes = 51 * 1_048_576;
const hostileName = "<img src=x onerror=alert(1)>.txt";

interface Listed {
  readonly items: readonly {
    readonly document_id: string;
    readonly name: string;
    readonly status: string;
    readonly version: number;
  }[];
}

const files = temporaryFolder("console-files");
const all = "/v1/repositories/kb/collections/papers/documents";

async function seed(server: ConsoleServer): Promise<void> {
  await server.api("POST", "/v1/repositories", { repository_id: "kb", name: "Knowledge" });
  await server.api("POST", "/v1/repositories/kb/collections", {
    collection_id: "papers",
    name: "Papers",
    chunking_strategy: { type: "RECURSIVE", unit: "char", chunk_size: 2000, chunk_overlap: 100 },
  });
}

consoleSuite("documents", { seed }, ({ server, open }) => {
  async function listed(): Promise<Listed["items"]> {
    return (await server.api<Listed>("GET", all)).items;
  }

  async function indexed(name: string): Promise<Listed["items"][number]> {
    const found = async () => (await listed()).find((one) => one.name === name && one.status === "indexed");
    await eventually(found).toBeDefined();
    return (await found()) as Listed["items"][number];
  }

  async function file(name: string, content: string): Promise<string> {
    const path = join(files, name);
    await writeFile(path, content);
    return path;
  }

  const choose = (page: Page, paths: readonly string[]) => page.locator("input[type=file]").setInputFiles([...paths]);
  const row = (page: Page, name: string) => page.getByRole("listitem").filter({ hasText: name });

  it("says of each of many files what became of it, and asks before a name is taken twice", async () => {
    const { page, complaints, close } = await open();
    page.on("dialog", () => complaints.push("a script ran"));
    await signedIn(page, server, "/collections/kb/papers");
    const large = await file("large.pdf", "");
    await truncate(large, tooLargeBytes);
    const good = await file("notes.txt", "First words about lighthouses.");
    await choose(page, [
      large,
      good,
      await file("program.exe", "MZ"),
      await file("broken.pdf", "%PDF-1.4 broken"),
      await file("empty.txt", ""),
      await file(hostileName, "<script>alert(1)</script> harbour"),
    ]);
    await row(page, "large.pdf").getByText("The file is 51.0 MB; the limit is 50 MB. It was not uploaded.").waitFor();
    await row(page, "program.exe").getByText("this file type is not accepted").waitFor();
    await row(page, "empty.txt").getByText("is empty").waitFor();
    await row(page, "broken.pdf").getByText("damaged or incomplete").waitFor();
    await row(page, hostileName).getByText("Indexed and searchable").waitFor();
    await page.getByText("2 of 6 files done, 4 need attention").waitFor();
    await expectAccessible(page);
    await screenshot(page, "uploads");
    // The list below has what was taken, the failed one with its reason.
    await page.getByRole("row").filter({ hasText: "broken.pdf" }).getByText("damaged or incomplete").waitFor();
    await choose(page, [await file("notes.txt", "Other words about lighthouses and fog.")]);
    await page.getByRole("button", { name: "Add as a new version: notes.txt" }).click();
    await eventually(async () => (await listed()).find(({ name }) => name === "notes.txt")?.version).toBe(2);
    await indexed("notes.txt");
    // Only what was refused by the server is noted by the browser.
    expect(complaints.splice(0).filter((text) => !/40[09]/.test(text))).toEqual([]);
    await close();
  });

  it("tells how much of a file is sent, and stops when it is told to", async () => {
    const { page, complaints, close } = await open("/collections/kb/papers");
    // A slow line: the file would take ten minutes.
    const line = await page.context().newCDPSession(page);
    await line.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: 10_000,
    });
    await choose(page, [await file("slow.txt", "slowly ".repeat(900_000))]);
    await row(page, "slow.txt")
      .getByText(/Uploading, \d+ %/)
      .waitFor();
    await page.getByRole("progressbar", { name: "Progress of slow.txt" }).waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Cancel: slow.txt" }).click();
    await row(page, "slow.txt").getByText("Cancelled").waitFor();
    await page.getByRole("button", { name: "Retry: slow.txt" }).waitFor();
    expect(complaints.splice(0).filter((text) => !text.includes("net::ERR"))).toEqual([]);
    await close();
  });

  it("keeps filters in the address, and deletes only what the reader has seen", async () => {
    const { page, complaints, close } = await open("/collections/kb/papers");
    await page.getByLabel("Name contains").fill("notes");
    await page.keyboard.press("Enter");
    await page.waitForURL(/name=notes/);
    await page
      .getByRole("table", { name: "Documents" })
      .getByText("1 row")
      .or(page.getByText("1 row"))
      .first()
      .waitFor();
    await page.reload();
    await page.getByRole("row").filter({ hasText: "notes.txt" }).waitFor();
    expect(await page.getByRole("row").filter({ hasText: "broken.pdf" }).count()).toBe(0);
    await page.getByRole("button", { name: "Actions for notes.txt" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("dialog").getByText("This cannot be undone").waitFor();
    await expectAccessible(page);
    // Somebody else touches it while the question stands.
    const { document_id } = await indexed("notes.txt");
    await server.api("POST", `${all}/${document_id}:reindex`);
    await indexed("notes.txt");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByText("It has changed").waitFor();
    await screenshot(page, "delete-stale");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No matching documents").waitFor();
    expect((await listed()).some(({ name }) => name === "notes.txt")).toBe(false);
    expect(complaints.splice(0).filter((text) => !text.includes("412"))).toEqual([]);
    await close();
  });

  it("shows a long text at a chunk, at a position, and says when there is none", async () => {
    const sentences = Array.from({ length: 1500 }, (_, i) => `Sentence ${i} is about ship number ${i * 7}.`);
    const text = `<b>Log</b> of ships.\n\n${sentences.join(" ")}`;
    await server.api("POST", all, { name: "log.txt", text });
    const { document_id } = await indexed("log.txt");
    const at = `/collections/kb/papers/documents/${document_id}`;
    const start = text.indexOf("Sentence 1400 ");
    const { page, close } = await open(`${at}?start=${start}&end=${start + 13}`);
    const mark = page.getByRole("region", { name: "Document text" }).locator("mark");
    await eventually(async () => (await mark.allTextContents()).join("")).toBe("Sentence 1400");
    await expectAccessible(page);
    // The first chunk, by its list: the text goes back to its beginning.
    await page
      .getByRole("region", { name: "Chunks in text order" })
      .getByRole("button", { name: /^Chunk 1 / })
      .click();
    await page.waitForURL(/chunk=/);
    await mark.getByText("<b>Log</b> of ships.").waitFor();
    await screenshot(page, "document");
    await page.goto(`${server.url}${at}?chunk=not.there`);
    await page.getByRole("alert").getByText("This chunk no longer exists").waitFor();
    await page.goto(`${server.url}${at}?start=999999999&end=1000000000`);
    await page.getByRole("alert").getByText("This position is outside the text").waitFor();
    for (const tab of ["Chunks", "Versions", "Metadata", "Triples"]) {
      await page.getByRole("tab", { name: tab }).click();
      await page.getByRole("tabpanel", { name: tab }).waitFor();
      await expectAccessible(page);
    }
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download", exact: true }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("log.txt");
    await page.setViewportSize(phone.viewport);
    await page.getByRole("tab", { name: "Text" }).click();
    await page.getByRole("tabpanel", { name: "Text" }).waitFor();
    await expectNoSidewaysScroll(page);
    await close();
  });

  it("a file that met a lost connection goes on by itself when the server is back", async () => {
    const { page, complaints, close } = await open("/collections/kb/papers");
    await page.getByRole("table", { name: "Documents" }).waitFor();
    await server.stop();
    await choose(page, [await file("patient.txt", "It waits for the tide.")]);
    await row(page, "patient.txt").getByText("Reconnects automatically.").waitFor();
    await server.startAgain();
    await row(page, "patient.txt").getByText("Indexed and searchable").waitFor();
    expect(complaints.splice(0).filter((text) => !text.includes("net::ERR"))).toEqual([]);
    await close();
  });
});
