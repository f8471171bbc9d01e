/** What went wrong is seen, understood, and tried again or thrown away. */
import { expect, it } from "vitest";
import {
  closeByEscape,
  eventually,
  expectAccessible,
  expectNoSidewaysScroll,
  phone,
  screenshot,
} from "./support/browser.ts";
import { startOperationServer } from "./support/operation.ts";
import { sendPoison } from "./support/poison.ts";
import { consoleSuite } from "./support/console-suite.ts";

const hostile = "<img src=x onerror=alert(1)>";

consoleSuite("overview, jobs and queues", { start: startOperationServer }, ({ server, open }) => {
  it("what was given up is an alarm; its message is shown as text, tried again, and discarded all at once", async () => {
    await sendPoison(server.folder, 4, hostile);
    const { page, close } = await open("/overview");
    await page.getByRole("link", { name: /Details: 4 dead letters/ }).click();
    await page.waitForURL(/queue=vector-storage-management/);
    const letters = page.getByRole("table", { name: "Dead letters" });
    await eventually(() => letters.getByRole("row").count()).toBe(5);
    await letters.getByRole("row").nth(1).getByRole("cell").first().click();
    await page.getByRole("dialog").getByText(hostile).waitFor();
    await expectAccessible(page);
    await closeByEscape(page.getByRole("dialog"));
    await letters
      .getByRole("button", { name: /^Redrive/ })
      .first()
      .click();
    await page.getByText("Message redriven").waitFor();
    // What is wrong with it stays wrong: it comes back.
    const dead = async () =>
      (await server.api<{ readonly items: readonly unknown[] }>("GET", "/v1/queues/vector-storage-management/dead"))
        .items.length;
    await eventually(dead).toBe(4);
    await page.reload();
    await eventually(() => letters.getByRole("row").count()).toBe(5);
    await screenshot(page, "operation-dead-letters");
    await page.getByRole("button", { name: "Discard all" }).click();
    const asked = page.getByRole("dialog", { name: "Discard all 4?" });
    await asked.getByRole("button", { name: "Discard all" }).click();
    await asked.getByText("4 of 4 done. Done.").waitFor();
    await asked.getByRole("button", { name: "Close" }).last().click();
    await page.getByText("No dead letters").waitFor();
    expect(await dead()).toBe(0);
    await close();
  });

  it("jobs: a failed upload is found by its filters, says why, and is tried again; a new one appears by itself", async () => {
    await server.make("papers");
    await server.upload("papers", `${hostile}.pdf`, "%PDF-1.7 broken");
    const { page, close } = await open("/jobs?status=failed&kind=ingest");
    const jobs = page.getByRole("table", { name: "Jobs, newest first" });
    await jobs.getByRole("row").nth(1).getByRole("cell").first().click();
    const sheet = page.getByRole("dialog", { name: "Job: Upload" });
    await sheet
      .getByText(/The PDF is damaged/)
      .first()
      .waitFor();
    await sheet.getByRole("link", { name: `${hostile}.pdf` }).waitFor();
    await expectAccessible(page);
    await sheet.getByRole("button", { name: "Retry" }).click();
    await page.getByText("Retry started").waitFor();
    await closeByEscape(sheet);
    expect(new URL(page.url()).searchParams.get("status")).toBe("failed");
    await page.getByLabel("Status").selectOption("");
    await page.getByLabel("Collection, job or error").pressSequentially("papers");
    await page.waitForURL(({ searchParams }) => !searchParams.has("status") && searchParams.get("q") === "papers");
    await jobs.getByRole("cell", { name: "Knowledge / papers" }).first().waitFor();
    const uploads = async () => {
      const { items } = await server.api<{
        readonly items: readonly { readonly kind: string; readonly collection_id: string }[];
      }>("GET", "/v1/jobs");
      return items.filter(({ kind, collection_id }) => kind === "ingest" && collection_id === "papers").length;
    };
    const before = await uploads();
    // And the head.
    await eventually(() => jobs.getByRole("row").count()).toBe(before + 1);
    await server.upload("papers", "good.txt", "Restart the queue when it waits.");
    await eventually(() => jobs.getByRole("row").count()).toBe(before + 2);
    await jobs.getByRole("row").nth(1).getByText("succeeded").waitFor();
    await jobs.getByRole("row").nth(1).getByRole("progressbar", { name: "1 of 1" }).waitFor();
    await page.getByLabel("Collection, job or error").fill("nothing like that");
    await page.getByText("No matching jobs").waitFor();
    await screenshot(page, "operation-jobs");
    await close();
  });

  it("the overview: figures say whose they are, the time range is in the address, and it fits a phone in the dark", async () => {
    await server.make("library");
    await server.upload("library", "a.txt", "The queue waits.");
    await server.api("POST", "/v1/repositories/kb/collections/library/search", { query: "queue" });
    const { page, close } = await open("/overview?range=7d", { ...phone, colorScheme: "dark" });
    expect(await page.getByLabel("Time", { exact: true }).inputValue()).toBe("7d");
    await page.getByLabel("Time", { exact: true }).selectOption("1h");
    await page.waitForURL(/range=1h/);
    await page.getByText("this workspace").first().waitFor();
    await page
      .getByRole("figure", { name: /Documents uploaded/ })
      .locator("svg")
      .first()
      .waitFor();
    await page.getByRole("link", { name: "library" }).waitFor();
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
    await screenshot(page, "operation-overview-phone");
    await close();
  });
});
