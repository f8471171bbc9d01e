import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../../packages/pinakes/test/support/temporary-folder.ts";
import {
  closeByEscape,
  eventually,
  expectAccessible,
  expectNoSidewaysScroll,
  phone,
  screenshot,
  scrollUntil,
  signedIn,
} from "./support/browser.ts";
import { startServer, type ConsoleServer } from "./support/server.ts";
import { consoleSuite } from "./support/console-suite.ts";

const repository = "/v1/repositories/library";
/** The browser notes each refusal itself; whatever else it notes is a fault. */
const otherThan = (status: number) => (text: string) => !text.includes(`status of ${status}`);

const folder = temporaryFolder("console-source");

async function seed(server: ConsoleServer): Promise<void> {
  await server.api("POST", "/v1/repositories", { repository_id: "library", name: "Library" });
}

consoleSuite(
  "collections and the trash",
  { start: () => startServer({ PINAKES_PIPELINE_FOLDERS: folder, PINAKES_TRASH_DAYS: "30" }), seed },
  ({ server, open }) => {
    const make = (cid: string, name: string, more: object = {}) =>
      server.api("POST", `${repository}/collections`, { collection_id: cid, name, ...more });
    const upload = async (cid: string, name: string, text: string) => {
      const form = new FormData();
      form.append("file", new Blob([text]), name);
      const headers = { authorization: `Bearer ${server.key}` };
      const { status } = await fetch(`${server.url}${repository}/collections/${cid}/documents`, {
        method: "POST",
        headers,
        body: form,
      });
      expect(status).toBe(202);
    };
    const choose = async (page: Page, action: string) => {
      await page.getByRole("button", { name: "More actions" }).click();
      await page.getByRole("menuitem", { name: action, exact: true }).click();
    };

    it("the wizard: a text of the reader's own is cut while settings change, and each refusal stands at the field it is about", async () => {
      const { page, complaints, close } = await open("/collections");
      await page.getByRole("button", { name: "New collection" }).click();
      const sheet = page.getByRole("dialog", { name: "New collection" });
      await sheet.getByLabel("Name", { exact: true }).fill("<b>Runbooks</b>");
      await sheet.getByLabel("Repository").selectOption({ label: "New repository …" });
      await sheet.getByLabel("New repository name").fill("Operations");
      await sheet.getByLabel("New repository id").fill("operations");
      await expectAccessible(page);
      await sheet.getByRole("button", { name: "Chunking" }).click();
      await sheet.getByText("The defaults of a new repository are unknown until it is created.").waitFor();
      await sheet.getByLabel("Chunking").selectOption({ label: "Custom settings" });
      await sheet.getByLabel("Method").selectOption({ label: "Fixed size" });
      await sheet.getByLabel("Size").fill("100");
      await sheet.getByLabel("Overlap").fill("50");
      await sheet.getByLabel("Text", { exact: true }).fill("<script>alert(1)</script> ".repeat(8));
      // Not the pieces of the text that stood there before.
      await sheet.getByRole("group", { name: "Chunks" }).filter({ hasText: "<script>alert(1)</script>" }).waitFor();
      await sheet.getByText("Chunk 4").waitFor();
      await eventually(() => sheet.getByText(/shared with the previous chunk/).count()).toBeGreaterThan(2);
      await expectAccessible(page);
      await screenshot(page, "collections-wizard");
      await sheet.getByLabel("Size").fill("99");
      await sheet.getByText("99 must be a whole number of characters from 100 to 10000.").waitFor();
      await sheet.getByLabel("Size").fill("100");
      await sheet.getByText("99 must be").waitFor({ state: "detached" });
      await sheet.getByRole("button", { name: "Create collection" }).click();
      await sheet.getByText('May have letters, digits, spaces, "-" and "_" only').waitFor();
      await sheet.getByLabel("Name", { exact: true }).fill("Runbooks");
      await sheet.getByRole("button", { name: "Tags and metadata" }).click();
      const metadata = sheet.getByLabel("Custom metadata (JSON object)");
      await metadata.fill('{ "team": ');
      await sheet.getByRole("button", { name: "Create collection" }).click();
      await sheet.getByText("Invalid JSON").waitFor();
      await metadata.fill('{ "team": "ops" }');
      await sheet.getByLabel("Tags").fill("night shift, <i>");
      await sheet.getByRole("button", { name: "Create collection" }).click();
      await sheet.getByText("A tag has 1–50 letters").waitFor();
      await expectAccessible(page);
      await sheet.getByLabel("Tags").fill("night shift, 2026");
      await sheet.getByRole("button", { name: "Create collection" }).click();
      await page.getByRole("heading", { level: 1, name: "Runbooks" }).waitFor();
      const { items } = await server.api<{ items: readonly object[] }>(
        "GET",
        "/v1/repositories/operations/collections?q=runbooks",
      );
      expect(items).toMatchObject([
        {
          name: "Runbooks",
          metadata: { tags: ["night shift", "2026"], custom_fields: { team: "ops" } },
          own_chunking_strategy: { type: "FIXED", chunk_size: 100, chunk_overlap: 50 },
        },
      ]);
      expect(complaints.splice(0).filter(otherThan(400))).toEqual([]);
      await close();
    });

    it("the wizard: whoever leaves the cutting to the repository sees what that does, also the system's", async () => {
      await server.api("POST", "/v1/repositories", {
        repository_id: "short",
        name: "Short",
        chunking_strategy: { type: "FIXED", chunk_size: 100, chunk_overlap: 0 },
      });
      const { page, close } = await open("/collections");
      await page.getByRole("button", { name: "New collection" }).click();
      const sheet = page.getByRole("dialog", { name: "New collection" });
      const chunks = async (label: string, count: string) => {
        await sheet.getByLabel("Repository").selectOption({ label });
        await sheet.getByRole("button", { name: "Chunking" }).click();
        await sheet.getByLabel("Text", { exact: true }).fill("ten chars ".repeat(50));
        await sheet.getByRole("status").getByText(count, { exact: true }).waitFor();
        await sheet.getByRole("button", { name: "Name", exact: true }).click();
      };
      await chunks("Library", "1 chunk");
      await chunks("Short", "5 chunks");
      await close();
    });

    it("two who edit at once: both texts are shown, the reader chooses by field, and what was not touched stays as the other made it", async () => {
      await make("shared", "Shared", { description: "Before", metadata: { tags: ["before"] } });
      const { page, complaints, close } = await open("/collections/library/shared?edit=true");
      const sheet = page.getByRole("dialog", { name: "Edit Shared" });
      expect(await sheet.getByLabel("Id", { exact: true }).isDisabled()).toBe(true);
      await sheet.getByLabel("Description").fill("Mine");
      await sheet.getByRole("button", { name: "Tags and metadata" }).click();
      await sheet.getByLabel("Tags").fill("mine");
      await server.api("PATCH", `${repository}/collections/shared`, {
        description: "Theirs",
        allow_chunking_override: false,
        metadata: { tags: ["theirs"] },
      });
      await sheet.getByRole("button", { name: "Save changes" }).click();
      const conflict = page.getByRole("dialog", { name: "This collection changed while you were editing it" });
      await conflict.getByRole("group", { name: "Tags and metadata" }).getByLabel("Theirs").check();
      expect(await conflict.getByRole("group", { name: "Document overrides" }).getByLabel("Theirs").isChecked()).toBe(
        true,
      );
      await expectAccessible(page);
      await screenshot(page, "collections-conflict");
      await conflict.getByRole("button", { name: "Save selection" }).click();
      await conflict.waitFor({ state: "detached" });
      await page.getByText("Mine", { exact: true }).waitFor();
      expect(await server.api("GET", `${repository}/collections/shared`)).toMatchObject({
        description: "Mine",
        allow_chunking_override: false,
        metadata: { tags: ["theirs"] },
      });
      expect(complaints.splice(0).filter(otherThan(412))).toEqual([]);
      await close();
    });

    it("delete → gone → restore → purge: what will go is said before, and how far each store is after", async () => {
      await make("old", "Old minutes");
      await upload("old", "minutes.txt", "The meeting began at nine and ended at ten.");
      const { page, complaints, close } = await open("/collections/library/old");
      await page.getByText("1 document", { exact: true }).first().waitFor();
      await choose(page, "Delete");
      const dialog = page.getByRole("dialog", { name: "Delete Old minutes?" });
      await dialog.getByText("43 B").waitFor();
      await dialog.getByText("It can be restored for 30 days, then the server purges it.").waitFor();
      await expectAccessible(page);
      await screenshot(page, "collections-delete");
      await dialog.getByRole("button", { name: "Move to trash" }).click();
      await page.getByText("It is in the trash and can be restored until").waitFor();
      // Whoever reloads, or comes by an old link, sees the same.
      await page.goto(`${server.url}/collections/library/old`);
      await page.getByRole("heading", { level: 1, name: "Old minutes" }).waitFor();
      await expectAccessible(page);
      await page.goto(`${server.url}/collections?q=minutes`);
      await page.getByText("No collections match these filters").waitFor();
      await page.goto(`${server.url}/trash`);
      await page.getByRole("row", { name: /Old minutes.*in 30 days/ }).waitFor();
      await expectAccessible(page);
      await screenshot(page, "trash");
      await page.getByRole("button", { name: "Restore: Old minutes" }).click();
      await page.getByText("1 document", { exact: true }).first().waitFor();
      await choose(page, "Delete");
      await dialog.getByLabel("Purge permanently").check();
      const remove = dialog.getByRole("button", { name: "Purge" });
      await dialog.getByLabel("Type Old minutes to confirm").fill("old minutes");
      expect(await remove.isDisabled()).toBe(true);
      await dialog.getByLabel("Type Old minutes to confirm").fill("Old minutes");
      await remove.click();
      await page.getByText("All stores confirmed: no data remains.").waitFor();
      await expectAccessible(page);
      const gone = await fetch(`${server.url}${repository}/collections/old?deleted=true`, {
        headers: { authorization: `Bearer ${server.key}` },
      });
      expect(gone.status).toBe(404);
      expect(complaints.splice(0).filter(otherThan(404))).toEqual([]);
      await close();
    });

    it("a pipeline is planned before it runs, its run is followed, and the vectors it made can be compacted", async () => {
      await make("fed", "Fed by a folder");
      await writeFile(join(folder, "one.txt"), "Cats sleep most of the day.");
      await writeFile(join(folder, "two.txt"), "Owls hunt at night.");
      const { page, complaints, close } = await open("/collections/library/fed?tab=pipelines");
      await page.getByRole("button", { name: "New pipeline" }).click();
      await page.getByLabel("Source").fill("file:/etc");
      await page.getByRole("button", { name: "Create pipeline" }).click();
      await page.getByText("has not allowed file:/etc").waitFor();
      await page.getByLabel("Source").fill(`file:${folder}`);
      await page.getByRole("button", { name: "Create pipeline" }).click();
      await page.getByRole("button", { name: `Actions for file:${folder}` }).click();
      await page.getByRole("menuitem", { name: "Plan" }).click();
      const plan = page.getByRole("dialog", { name: "Plan" });
      await plan.getByRole("region", { name: "New" }).getByText("two.txt").waitFor();
      await expectAccessible(page);
      await plan.getByRole("button", { name: "Run now" }).click();
      await page.getByRole("heading", { name: "Pipeline run" }).waitFor();
      await page.getByText("2 documents", { exact: true }).waitFor();
      await page.getByText("ready", { exact: true }).waitFor();
      await page.getByRole("tab", { name: "Vectors" }).click();
      await page.getByText("Counters match a recount.").waitFor();
      await page.getByRole("button", { name: "Compact now" }).click();
      await page.getByRole("table", { name: "Segments" }).getByText(".seg").first().waitFor();
      await page.getByRole("button", { name: "Compact now", disabled: false }).waitFor();
      await expectAccessible(page);
      await screenshot(page, "collection-vectors");
      await page.getByRole("tab", { name: "Ask" }).click();
      await page.getByLabel("Question or keywords").fill("Which animal is awake at night?");
      await page.keyboard.press("Enter");
      await page.getByText("Owls hunt at night.").waitFor();
      expect(new URL(page.url()).searchParams.get("ask")).toBe("Which animal is awake at night?");
      await expectAccessible(page);
      expect(complaints.splice(0).filter(otherThan(403))).toEqual([]);
      await close();
    });

    it("filters and order stand in the address; more than one page comes while scrolling; a phone scrolls inside the table only", async () => {
      const many = 120;
      for (let i = 0; i < many; i += 1)
        await make(`many-${i}`, `Many ${String(i).padStart(3, "0")}`, { metadata: { tags: ["many"] } });
      const { page, close } = await open("/collections?tag=many&sort=name&order=desc");
      await page.getByRole("row", { name: /Many 119/ }).waitFor();
      expect(await page.getByLabel("Order").inputValue()).toBe("name desc");
      const table = page.getByRole("table", { name: "Collections" });
      await scrollUntil(table, page.getByRole("row", { name: /Many 000/ }));
      await page.getByText(`${many} rows`, { exact: true }).waitFor();
      await page.getByLabel("Name or description").fill("many 05");
      await page.getByText("10 rows", { exact: true }).waitFor();
      expect(new URL(page.url()).searchParams.get("q")).toBe("many 05");
      await table.getByRole("row", { name: /Many 057/ }).press("Enter");
      await page.getByRole("heading", { level: 1, name: "Many 057" }).waitFor();
      await page.goBack();
      await page.getByText("10 rows", { exact: true }).waitFor();
      await expectAccessible(page);
      await close();
      const small = await open(undefined, phone);
      await signedIn(small.page, server, "/collections?tag=many&new=true");
      const form = small.page.getByRole("dialog", { name: "New collection" });
      await form.getByLabel("Name", { exact: true }).waitFor();
      await expectNoSidewaysScroll(small.page);
      await closeByEscape(form);
      await small.page.getByRole("row", { name: /Many 119/ }).waitFor();
      await expectNoSidewaysScroll(small.page);
      await screenshot(small.page, "collections-phone");
      await small.close();
    });

    it("who may not change a collection or purge one is told so before trying", async () => {
      await make("locked", "Locked");
      const { key } = await server.api<{ key: string }>("POST", "/v1/keys", { user_id: "reader" });
      const { page, close } = await open();
      await signedIn(page, { url: server.url, key }, "/collections/library/locked?tab=settings");
      await page.getByText("Your access").waitFor();
      await eventually(() => page.getByRole("button", { name: "Edit" }).first().isDisabled()).toBe(true);
      await page.goto(`${server.url}/collections?new=true`);
      await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("My own");
      await page.getByRole("dialog").getByLabel("Repository").selectOption("library");
      await page.getByRole("button", { name: "Create collection" }).click();
      await page.getByRole("heading", { level: 1, name: "My own" }).waitFor();
      await choose(page, "Delete");
      await page.getByText('Requires the permission "purge".').waitFor();
      expect(await page.getByLabel("Purge permanently").isDisabled()).toBe(true);
      await expectAccessible(page);
      await close();
    });
  },
);
