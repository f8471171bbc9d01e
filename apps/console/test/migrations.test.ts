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
} from "./support/browser.ts";
import { startServer, type ConsoleServer } from "./support/server.ts";
import { consoleSuite } from "./support/console-suite.ts";

const folder = temporaryFolder("console-migrations");

async function seed(server: ConsoleServer): Promise<void> {
  await server.api("POST", "/v1/repositories", { repository_id: "kb", name: "Knowledge" });
  await server.api("POST", "/v1/repositories", { repository_id: "attic", name: "Archive" });
  await server.api("POST", "/v1/repositories/kb/collections", { collection_id: "old", name: "Old place" });
}

consoleSuite(
  "migrations",
  { start: () => startServer({ PINAKES_MIGRATION_SOURCES: folder }), seed },
  ({ server, open }) => {
    const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
    /** All at one moment. */
    const enabled = (page: Page) =>
      page
        .getByRole("button", { name: /^(Plan again|Copy|Verify|Switch|Finish|Roll back)$/, disabled: false })
        .evaluateAll((buttons) => buttons.map((button) => (button as HTMLElement).innerText));

    it("a collection is moved step by step; only what the state allows can be pressed, and the way back is one of them", async () => {
      const { page, close } = await open("/migrations");
      await press(page, "New migration");
      const form = page.getByRole("dialog", { name: "New migration" });
      await form.getByLabel("Repository", { exact: true }).selectOption({ label: "Knowledge" });
      await form.getByLabel("Collection", { exact: true }).selectOption({ label: "Old place" });
      await form.getByLabel("New collection id").fill("new");
      // By its name, or by its id where it is not in the list.
      await form.getByLabel("Target repository", { exact: true }).selectOption({ label: "Other (enter id) …" });
      await form.getByLabel("Target repository: id").fill("kb");
      await expectAccessible(page);
      await form.getByLabel("Target repository", { exact: true }).selectOption({ label: "Archive" });
      await form.getByLabel("Target repository: id").waitFor({ state: "detached" });
      await form.getByRole("button", { name: "Create plan" }).click();
      await page.getByRole("heading", { name: "Migration: Move a collection inside the workspace" }).waitFor();
      await eventually(() => enabled(page)).toEqual(["Plan again", "Copy", "Roll back"]);
      await press(page, "Copy");
      await eventually(() => enabled(page)).toEqual(["Copy", "Verify", "Roll back"]);
      await press(page, "Verify");
      await eventually(() => enabled(page)).toEqual(["Verify", "Switch", "Roll back"]);
      const units = page.getByRole("table", { name: "Units of the migration" });
      await units.getByText("equal").waitFor();
      await units.getByRole("row").nth(1).click();
      const unit = page.getByRole("dialog", { name: "kb/old" });
      await unit.getByText("Target hash").waitFor();
      await expectAccessible(page);
      await closeByEscape(unit);
      await press(page, "Switch");
      await page
        .getByRole("dialog", { name: "Switch to the new collections?" })
        .getByRole("button", { name: "Switch" })
        .click();
      await eventually(() => enabled(page)).toEqual(["Finish", "Roll back"]);
      expect(await server.api("GET", "/v1/repositories/attic/collections/new")).toMatchObject({ status: "ACTIVE" });
      await page.getByText("Source kept until").waitFor();
      await screenshot(page, "migration");
      await press(page, "Roll back");
      const asked = page.getByRole("dialog", { name: "Roll back?" });
      await asked.getByRole("button", { name: "Roll back" }).click();
      await asked.waitFor({ state: "detached" });
      await page.getByText("in use again").waitFor();
      await page.getByText("rolled back").first().waitFor();
      await page.getByText("Source kept until").waitFor({ state: "detached" });
      // Once more, for what a copy that it overtook may have held since.
      await eventually(() => enabled(page)).toEqual(["Roll back"]);
      expect(await server.api("GET", "/v1/repositories/kb/collections/old")).toMatchObject({ status: "ACTIVE" });
      await close();
    });

    it("a source with problems tells them and cannot be copied; what the server does not open is refused in the form", async () => {
      await writeFile(join(folder, "rows.jsonl"), '{"id":"a","values":[1,2]}\n{"id":"<b>x</b>","values":"none"}\n');
      const { page, complaints, close } = await open("/migrations?create=true", phone);
      const form = page.getByRole("dialog", { name: "New migration" });
      await form.getByLabel("Source type").selectOption("rows");
      await form.getByLabel("File or folder").fill("/etc/passwd");
      await form.getByLabel("Target repository").selectOption({ label: "Knowledge" });
      await form.getByLabel("More source fields (JSON object)").fill("[1]");
      await form.getByText("Must be an object, such as").waitFor();
      expect(await form.getByRole("button", { name: "Create plan" }).isEnabled()).toBe(false);
      await form.getByLabel("More source fields (JSON object)").fill("");
      await form.getByRole("button", { name: "Create plan" }).click();
      await form
        .getByRole("alert")
        .getByText(/PINAKES_MIGRATION_SOURCES/)
        .waitFor();
      expect(complaints.splice(0)).toEqual([expect.stringMatching(/status of 40[03]/)]);
      await form.getByLabel("File or folder").fill(join(folder, "rows.jsonl"));
      await form.getByRole("button", { name: "Create plan" }).click();
      await page.getByRole("heading", { name: /^Plan problems/ }).waitFor();
      await eventually(() => enabled(page)).toEqual(["Plan again", "Roll back"]);
      await expectNoSidewaysScroll(page);
      await expectAccessible(page);
      await screenshot(page, "migration-problems-phone");
      await close();
    });
  },
);
