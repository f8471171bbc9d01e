import { expect, it } from "vitest";
import { expectAccessible, expectNoSidewaysScroll, phone, screenshot, signedIn } from "./support/browser.ts";
import type { ConsoleServer } from "./support/server.ts";
import { addDocuments } from "./support/documents.ts";
import { consoleSuite } from "./support/console-suite.ts";

const hostile = "CI <script>alert(1)</script>";

async function seed(server: ConsoleServer): Promise<void> {
  await server.api("POST", "/v1/repositories", { repository_id: "kb", name: "Knowledge" });
  await server.api("POST", "/v1/repositories/kb/collections", {
    collection_id: "hr",
    name: "HR",
    allowed_groups: ["people"],
  });
}

consoleSuite("keys and access", { seed }, ({ server, open }) => {
  it("a key is shown once, works, and is refused as soon as it is revoked", async () => {
    const { page, complaints, close } = await open("/access");
    await page.getByText("No API keys yet").waitFor();
    await page.getByRole("button", { name: "New key" }).click();
    const form = page.getByRole("dialog", { name: "New key" });
    await form.getByLabel("User id").fill("ann");
    await form.getByLabel("Key name").fill(hostile);
    await form.getByLabel("Groups").fill("people\nreaders");
    await form.getByLabel("Expires at").fill("2001-01-01T00:00");
    await form.getByRole("button", { name: "Create key" }).click();
    await form
      .getByRole("alert")
      .getByText(/expires_at/)
      .waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining("status of 400")]);
    await form.getByLabel("Expires at").fill("");
    await form.getByLabel("Read only").check();
    await expectAccessible(page);
    await form.getByRole("button", { name: "Create key" }).click();
    const made = page.getByRole("dialog", { name: "Key created" });
    const key = await made.getByLabel("Key", { exact: true }).innerText();
    expect(key).toMatch(/^pk_/);
    await expectAccessible(page);
    await made.getByRole("button", { name: "I have copied it" }).click();
    await made.waitFor({ state: "detached" });
    await page.getByRole("cell", { name: hostile, exact: true }).waitFor();
    expect(await page.locator("body").innerText()).not.toContain(key);
    const call = () => fetch(`${server.url}/v1/me`, { headers: { authorization: `Bearer ${key}` } });
    expect((await call()).status).toBe(200);
    await page.getByRole("button", { name: `Actions for ${hostile}` }).click();
    await page.getByRole("menuitem", { name: "Revoke" }).click();
    await page.getByRole("dialog", { name: "Revoke this key?" }).getByRole("button", { name: "Revoke" }).click();
    await page.getByText("No API keys yet").waitFor();
    expect((await call()).status).toBe(401);
    await screenshot(page, "access-keys");
    await close();
  });

  it("the access tester says yes or no, and the rule; the question is in the address", async () => {
    await server.api("POST", "/v1/keys", { user_id: "ben", groups: ["people"] });
    const { page, close } = await open("/access");
    await page.getByRole("button", { name: "Actions for ben" }).click();
    await page.getByRole("menuitem", { name: "Test access" }).click();
    await page.getByLabel("Repository").selectOption({ label: "Knowledge" });
    await page.getByLabel("Collection").selectOption({ label: "HR" });
    await page.getByRole("button", { name: "Check access" }).click();
    await page.getByText("ben can read it, add documents").waitFor();
    await page.getByText("a group of ben may use the collection", { exact: false }).waitFor();
    await page.getByLabel("Groups of the user").fill("others, readers");
    await page.getByRole("button", { name: "Check access" }).click();
    await page.getByText("No access: for ben").waitFor();
    await page.getByText("ben is in none of the collection's groups.").waitFor();
    await expectAccessible(page);
    await screenshot(page, "access-tester");
    // Whoever is sent the address sees the same.
    await page.reload();
    await page.getByText("No access: for ben").waitFor();
    await page.getByRole("tab", { name: "Groups" }).click();
    await page.getByRole("row").filter({ hasText: "people" }).getByText("HR").waitFor();
    await close();
  });

  it("a document is narrowed to a group on its page; the tester says for whom it does not exist, and why", async () => {
    await server.api("POST", "/v1/repositories/kb/collections", { collection_id: "plans", name: "Plans" });
    const at = "/v1/repositories/kb/collections/plans";
    await addDocuments(server, at, [{ name: "a.txt", text: "The plan is to restart the queue." }]);
    const [document] = (
      await server.api<{ readonly items: readonly { readonly document_id: string }[] }>("GET", `${at}/documents`)
    ).items;
    const did = document?.document_id as string;
    const { page, close } = await open(`/collections/kb/plans/documents/${did}?tab=metadata`);
    await page.getByText("Everyone who may use the collection").first().waitFor();
    await page.getByRole("button", { name: "Change access" }).click();
    const form = page.getByRole("dialog", { name: "Change access" });
    await form.getByLabel("Groups").fill("chiefs");
    await form.getByLabel("Sensitivity labels").fill("secret");
    await expectAccessible(page);
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByText("Access changed").waitFor();
    await page.getByText("chiefs", { exact: true }).waitFor();
    await screenshot(page, "access-document");
    await page.getByRole("link", { name: "Test access" }).click();
    await page.getByLabel("User id").fill("ben");
    await page.getByRole("button", { name: "Check access" }).click();
    await page.getByText("No access: for ben").waitFor();
    await page.getByLabel("Groups of the user").fill("chiefs, sensitivity:secret");
    await page.getByRole("button", { name: "Check access" }).click();
    await page.getByText("Narrowed to chiefs.").waitFor();
    await page.getByText("Requires a group for each label: secret.").waitFor();
    await close();
  });

  it("who is no admin may ask about oneself, and is shown no keys; on a phone", async () => {
    const { key } = await server.api<{ readonly key: string }>("POST", "/v1/keys", { user_id: "eve" });
    const { page, complaints, close } = await open(undefined, phone);
    await signedIn(page, { url: server.url, key }, "/access?tab=keys&repository=kb&user=ben");
    await page.getByText("eve can read it").waitFor();
    expect(await page.getByRole("tab").allInnerTexts()).toEqual(["Access tester"]);
    expect(await page.getByLabel("User id").count()).toBe(0);
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
    await page.goto(`${server.url}/overview`);
    await page.getByText("No problems in resources that you have access to.").waitFor();
    await page.getByText("Only admins see the metrics of the workspace.").waitFor();
    expect(complaints).toEqual([]);
    await page.goto(`${server.url}/jobs?tab=queues`);
    await page.getByRole("alert").getByText("Permission denied").waitFor();
    // The page asks again every few seconds.
    expect(complaints).toContainEqual(expect.stringContaining("status of 403"));
    await page.goto("about:blank");
    expect(complaints.splice(0).filter((text) => !text.includes("status of 403"))).toEqual([]);
    await close();
  });
});
