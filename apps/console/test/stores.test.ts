/** A store fails, a file is gone: each is seen with its reason, and mended. */
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { closeByEscape, eventually, expectAccessible, screenshot } from "./support/browser.ts";
import { startOperationServer } from "./support/operation.ts";
import { consoleSuite } from "./support/console-suite.ts";

consoleSuite("deletions and audits", { start: startOperationServer }, ({ server, open }) => {
  it("a store that cannot delete: the lag warns, the report says which store and why, and a retry after mending ends it", async () => {
    await server.make("stuck");
    await server.upload("stuck", "a.txt", "words");
    const file = await server.contentOf("stuck");
    await rm(file);
    await mkdir(file);
    await writeFile(join(file, "in-the-way"), "");
    await server.api("DELETE", "/v1/repositories/kb/collections/stuck?purge=true&confirm=stuck");
    const { page, close } = await open("/deletions");
    await page.getByText(/A delete is not done after/).waitFor();
    await page.getByRole("button", { name: "Open oldest" }).click();
    const report = page.getByRole("dialog", { name: "Purge: stuck" });
    await report.getByText(/EISDIR/).waitFor();
    await report.getByText("Units per store").waitFor();
    await expectAccessible(page);
    await screenshot(page, "operation-deletion");
    await rm(file, { recursive: true });
    // The server tries again by itself, too: should it be faster, the button is gone.
    await report
      .getByRole("button", { name: "Retry now" })
      .evaluateAll(([button]) => (button as HTMLElement | undefined)?.click());
    await report.getByText("Finished").waitFor();
    await eventually(() => report.getByText("confirmed").count()).toBe(4);
    await closeByEscape(report);
    // The list behind it has it, too, without a reload.
    await page.getByRole("row").filter({ hasText: "Knowledge / stuck" }).getByText("done").waitFor();
    await close();
  });

  it("R-TG-50 a store whose folder is gone for a file cannot count: the report has a dash for it, never a zero, until it is mended", async () => {
    await server.make("blocked");
    await server.upload("blocked", "a.txt", "words");
    const content = await server.contentOf("blocked");
    const life = /^.*\/knowledge\.d\/[^/]+/.exec(content)?.[0] as string;
    await rename(life, `${life}.aside`);
    await writeFile(life, "in the way");
    const { job_id } = await server.api<{ job_id: string }>(
      "DELETE",
      "/v1/repositories/kb/collections/blocked?purge=true&confirm=blocked",
    );
    const objects = async () => {
      const { stores } = await server.api<{ stores: { store: string; remaining: number | null; error: unknown }[] }>(
        "GET",
        `/v1/operations/${job_id}`,
      );
      return stores.find(({ store }) => store === "objects");
    };
    await eventually(async () => (await objects())?.error ?? null).not.toBeNull();
    expect(await objects()).toMatchObject({ remaining: null });
    const { page, close } = await open("/deletions");
    const row = page.getByRole("row").filter({ hasText: "Knowledge / blocked" });
    await row.getByTitle("not counted yet").waitFor();
    await row.getByRole("cell").first().click();
    const report = page.getByRole("dialog", { name: "Purge: blocked" });
    await report.getByRole("row").filter({ hasText: "objects" }).getByTitle("not counted yet").waitFor();
    await expectAccessible(page);
    await rm(life);
    await rename(`${life}.aside`, life);
    await report.getByText("Finished").waitFor();
    expect(await objects()).toMatchObject({ remaining: 0 });
    await eventually(() => report.getByTitle("not counted yet").count()).toBe(0);
    await close();
  });

  it("an audit finds what is missing, and repairs only when that is confirmed", async () => {
    await server.make("notes");
    await server.upload("notes", "a.txt", "words");
    await rm(await server.contentOf("notes"));
    const { page, close } = await open("/audit");
    await page.getByText("No checks yet").waitFor();
    await page.getByLabel("Scope").selectOption({ label: "Knowledge" });
    await page.getByLabel("Collection").selectOption({ label: "notes" });
    await page.getByRole("button", { name: "Start check" }).click();
    await page.getByText("1 found, 1 remaining.").waitFor();
    const findings = page.getByRole("table", { name: "Findings" });
    await findings.getByText("Record without its file").click();
    const finding = page.getByRole("dialog");
    await finding.getByText(/names it, but it does not exist/).waitFor();
    await expectAccessible(page);
    await closeByEscape(finding);
    await page.getByLabel("Repair findings").check();
    await page.getByRole("button", { name: "Start check" }).click();
    const asked = page.getByRole("dialog", { name: "Repair findings?" });
    await asked.getByRole("button", { name: "Cancel" }).click();
    await asked.waitFor({ state: "detached" });
    const audits = async () =>
      (await server.api<{ readonly items: readonly { kind: string }[] }>("GET", "/v1/jobs")).items.filter(
        ({ kind }) => kind === "fsck",
      );
    expect(await audits()).toHaveLength(1);
    await page.getByRole("button", { name: "Start check" }).click();
    await asked.getByRole("button", { name: "Start and repair" }).click();
    await page.getByText("with repair").waitFor();
    await eventually(() =>
      page.getByRole("table", { name: "Consistency checks, newest first" }).getByRole("row").count(),
    ).toBe(3);
    await screenshot(page, "operation-audit");
    await close();
  });
});
