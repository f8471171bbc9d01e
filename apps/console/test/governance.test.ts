/** The audit log, erasures with their receipts, legal holds, and exports of what is held about a subject. */
import { expect, it } from "vitest";
import {
  closeByEscape,
  eventually,
  expectAccessible,
  expectNoSidewaysScroll,
  phone,
  screenshot,
  signedIn,
} from "./support/browser.ts";
import { consoleSuite } from "./support/console-suite.ts";
import type { ConsoleServer } from "./support/server.ts";

const hostile = "<img src=x onerror=alert(1)>";

async function remember(server: ConsoleServer, user: string, session: string): Promise<void> {
  await server.api("POST", "/v1/agents/helper/memories", {
    session_id: session,
    message_type: "user",
    content: `I am ${user}`,
    metadata: { user_id: user },
  });
}

consoleSuite("governance", {}, ({ server, open }) => {
  it("R-TG-103 the audit log shows who did what, by filters in the address, with a signed checkpoint and an export", async () => {
    await server.api("POST", "/v1/repositories", { repository_id: "kb", name: "Knowledge" });
    const { key } = await server.api<{ readonly key: string }>("POST", "/v1/keys", { user_id: "mallory" });
    const refused = await fetch(`${server.url}/v1/legal-holds`, { headers: { authorization: `Bearer ${key}` } });
    expect(refused.status).toBe(403);
    const { page, close } = await open("/audit-log");
    const entries = page.getByRole("table", { name: "Audit entries, newest first" });
    await entries.getByRole("row").filter({ hasText: "createRepository" }).getByText("ok").waitFor();
    await screenshot(page, "governance-audit-log");
    await page.getByLabel("Outcome").selectOption({ label: "denied" });
    await page.waitForURL(/outcome=denied/);
    await eventually(() => entries.getByRole("row").count()).toBe(2);
    await entries.getByRole("row").filter({ hasText: "mallory" }).getByRole("cell").first().click();
    const sheet = page.getByRole("dialog", { name: /^Entry / });
    await sheet.getByText("listLegalHolds").waitFor();
    await sheet.getByText("403").waitFor();
    await expectAccessible(page);
    await closeByEscape(sheet);
    await page.getByRole("button", { name: "Checkpoint" }).click();
    const checkpoint = page.getByRole("dialog", { name: "Signed checkpoint" });
    await checkpoint.getByLabel("Signed note").getByText("pinakes-audit").waitFor();
    await expectAccessible(page);
    await closeByEscape(checkpoint);
    const downloading = page.waitForEvent("download");
    await page.getByRole("link", { name: "Export NDJSON" }).click();
    expect((await downloading).suggestedFilename()).toBe("audit.ndjson");
    await close();
  });

  it("an erasure is counted first, then confirmed by name; its receipt is shown, and counting again finds nothing", async () => {
    await remember(server, "erin", "s-erin");
    await remember(server, "frank", "s-frank");
    const { page, close, complaints } = await open("/governance");
    await page.getByText("No erasures yet").waitFor();
    await page.getByRole("button", { name: "New erasure" }).click();
    const form = page.getByRole("dialog", { name: "New erasure" });
    await form.getByLabel("User id").fill("nobody-known");
    await form.getByRole("button", { name: "Count" }).click();
    await form.getByRole("alert").waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining("status of 404")]);
    await form.getByLabel("User id").fill("erin");
    await form.getByRole("button", { name: "Count" }).click();
    const erase = form.getByRole("button", { name: "Erase permanently" });
    await form.getByText("agent-memories").waitFor();
    expect(await erase.isDisabled()).toBe(true);
    await expectAccessible(page);
    await screenshot(page, "governance-erasure-counted");
    await form.getByLabel(/erin/).fill("erin");
    await erase.click();
    const sheet = page.getByRole("dialog", { name: "Erasure: User" });
    await sheet.getByLabel("Receipt (JWS)").waitFor();
    await expectAccessible(page);
    await screenshot(page, "governance-erasure-done");
    await sheet.getByLabel("User id").fill("erin");
    await sheet.getByRole("button", { name: "Verify again" }).click();
    await sheet.getByText("Nothing remains. The receipt is valid.").waitFor();
    await closeByEscape(sheet);
    await page.getByRole("table", { name: "Erasures, newest first" }).getByText("done").waitFor();
    const left = await server.api<{ readonly items: readonly { readonly session_id: string }[] }>(
      "GET",
      "/v1/agents/helper/memories",
    );
    expect(left.items.map(({ session_id }) => session_id)).toEqual(["s-frank"]);
    await close();
  });

  it("R-AGT-69 a legal hold stops an erasure and is named in its report; the release continues it", async () => {
    await remember(server, "gina", "s-gina");
    const { page, close } = await open("/governance?tab=holds");
    await page.getByText("No legal holds").waitFor();
    await page.getByRole("button", { name: "New legal hold" }).click();
    const form = page.getByRole("dialog", { name: "New legal hold" });
    await form.getByLabel("Id", { exact: true }).fill("gina");
    await form.getByLabel("Reason").fill(hostile);
    await form.getByRole("button", { name: "Create hold" }).click();
    await page.getByRole("cell", { name: hostile }).waitFor();
    await expectAccessible(page);
    await screenshot(page, "governance-holds");
    const { erasure_id } = await server.api<{ readonly erasure_id: string }>("POST", "/v1/erasures", {
      subject: { type: "user", id: "gina" },
    });
    const state = async () => (await server.api<{ readonly state: string }>("GET", `/v1/erasures/${erasure_id}`)).state;
    await eventually(state).toBe("held");
    await page.getByRole("tab", { name: "Erasures" }).click();
    await page.getByRole("table", { name: "Erasures, newest first" }).getByText("held", { exact: true }).waitFor();
    await page.getByRole("tab", { name: "Legal holds" }).click();
    await page.getByRole("button", { name: "Release the hold on User: gina" }).click();
    await page.getByRole("dialog", { name: "Release this hold?" }).getByRole("button", { name: "Release" }).click();
    await page.getByText("No legal holds").waitFor();
    await eventually(state).toBe("done_live");
    await close();
  });

  it("R-AGT-63 a shorter lifetime is previewed, then applied; the table has it", async () => {
    await remember(server, "olga", "s-olga");
    const { page, close } = await open("/governance?tab=retention");
    const rules = page.getByRole("table", { name: "How long this workspace keeps what" });
    await rules.getByRole("row").filter({ hasText: "agent-memories" }).getByText("90 days").first().waitFor();
    await expectAccessible(page);
    await screenshot(page, "governance-retention");
    await page.getByRole("button", { name: "Change the lifetime of agent-memories" }).click();
    const form = page.getByRole("dialog", { name: "Lifetime of agent-memories" });
    await form.getByLabel("Days").fill("a week");
    await form.getByText("Enter a whole number of days.").waitFor();
    await form.getByLabel("Days").fill("30");
    await form.getByRole("button", { name: "Preview" }).click();
    await form.getByText("No document expires at once.").waitFor();
    await expectAccessible(page);
    await form.getByRole("button", { name: "Apply" }).click();
    await rules.getByRole("row").filter({ hasText: "agent-memories" }).getByText("30 days").waitFor();
    expect(await server.api("GET", "/v1/retention/agent-memories")).toMatchObject({ seconds: 30 * 86_400 });
    await close();
  });

  it("R-AGT-71 an export of a subject is started, downloaded and deleted; on a phone", async () => {
    await remember(server, "hugo", "s-hugo");
    const { page, close } = await open("/governance?tab=exports", { ...phone, colorScheme: "dark" });
    await page.getByText("No exports yet").waitFor();
    await page.getByRole("button", { name: "New export" }).click();
    const form = page.getByRole("dialog", { name: "New export" });
    await form.getByLabel("User id").fill("hugo");
    await form.getByRole("button", { name: "Start export" }).click();
    const part = page.getByRole("link", { name: /^Part 1/ });
    await part.waitFor();
    const downloading = page.waitForEvent("download");
    await part.click();
    expect((await downloading).suggestedFilename()).toMatch(/-1\.zip$/);
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
    await screenshot(page, "governance-exports-phone");
    await page.getByRole("button", { name: "Delete the export of User: hugo" }).click();
    await page.getByText("No exports yet").waitFor();
    await close();
  });

  it("a user who is no admin sees neither page in the navigation, and is refused at their addresses", async () => {
    const { key } = await server.api<{ readonly key: string }>("POST", "/v1/keys", { user_id: "ida" });
    const { page, close, complaints } = await open();
    await signedIn(page, { ...server, url: server.url, key }, "/");
    await page.getByRole("link", { name: "Collections" }).first().waitFor();
    expect(await page.getByRole("link", { name: "Audit log" }).count()).toBe(0);
    expect(await page.getByRole("link", { name: "Erasure and holds" }).count()).toBe(0);
    await page.goto(`${server.url}/governance`);
    await page.getByRole("alert").waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining("status of 403")]);
    await close();
  });
});
