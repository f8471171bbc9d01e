import type { Locator, Page } from "playwright-core";
import { expect, it } from "vitest";
import { closeByEscape, eventually, expectAccessible, screenshot } from "./support/browser.ts";
import type { ConsoleServer } from "./support/server.ts";
import { consoleSuite } from "./support/console-suite.ts";

async function seed(server: ConsoleServer): Promise<void> {
  await server.api("PUT", "/v1/containers/orders", { partition_key: "/customer" });
  await server.api("POST", "/v1/containers/orders/items", { id: "one", customer: "c1", status: "open" });
  await server.api("POST", "/v1/repositories", { repository_id: "kb", name: "Knowledge" });
  await server.api("POST", "/v1/repositories/kb/collections", { collection_id: "papers", name: "Papers" });
}

consoleSuite("what was typed and not saved", { seed }, ({ server, open }) => {
  const question = (page: Page) => page.getByRole("alertdialog", { name: "Leave without saving?" });
  const stay = async (page: Page) => {
    await question(page).getByRole("button", { name: "Keep editing" }).click();
    await question(page).waitFor({ state: "detached" });
  };
  const leave = async (page: Page, dialog: Locator) => {
    await question(page).getByRole("button", { name: "Leave" }).click();
    await dialog.waitFor({ state: "detached" });
  };

  it("an item that was edited: Escape, the cross and a click beside it ask first; what was typed stays until one leaves", async () => {
    const { page, close } = await open("/containers/orders?item=one&itemPk=c1");
    const sheet = page.getByRole("dialog", { name: "Item one" });
    const editor = page.getByRole("textbox", { name: "Document as JSON" });
    await eventually(() => editor.innerText()).toContain('"open"');
    await editor.fill((await editor.innerText()).replace('"open"', '"typed"'));
    await page.getByRole("button", { name: "Reset", disabled: false }).waitFor();
    await page.keyboard.press("Escape");
    await question(page).waitFor();
    await expectAccessible(page);
    await screenshot(page, "unsaved-question");
    // Escape keeps what was typed too: it takes back the question, not the text.
    await page.keyboard.press("Escape");
    await question(page).waitFor({ state: "detached" });
    expect(await editor.innerText()).toContain('"typed"');
    await page.mouse.click(20, 400);
    await stay(page);
    expect(await editor.innerText()).toContain('"typed"');
    await sheet.getByRole("button", { name: "Close" }).click();
    await leave(page, sheet);
    expect(await server.api("GET", "/v1/containers/orders/items/one?pk=c1")).toMatchObject({ status: "open" });
    await close();
  });

  it("nothing is asked where nothing would be lost: nothing typed, typed and taken back, saved", async () => {
    const { page, close } = await open("/containers/orders?item=one&itemPk=c1");
    const sheet = page.getByRole("dialog", { name: "Item one" });
    const editor = page.getByRole("textbox", { name: "Document as JSON" });
    await eventually(() => editor.innerText()).toContain('"open"');
    await editor.fill((await editor.innerText()).replace('"open"', '"paid"'));
    await page.getByRole("button", { name: "Save", disabled: false }).click();
    await page.getByText("Saved").waitFor();
    await editor.press("End");
    await closeByEscape(sheet);
    await page.getByRole("cell", { name: "one", exact: true }).click();
    await eventually(() => editor.innerText()).toContain('"paid"');
    await closeByEscape(sheet);
    await close();
  });

  it("a new collection and one that is edited: the question, and the fields as they were", async () => {
    const { page, close } = await open("/collections?new=true");
    const wizard = page.getByRole("dialog", { name: "New collection" });
    await wizard.getByLabel("Name", { exact: true }).waitFor();
    await closeByEscape(wizard);
    await page.goto(`${server.url}/collections?new=true`);
    await wizard.getByLabel("Name", { exact: true }).fill("Half a name");
    await page.keyboard.press("Escape");
    await stay(page);
    expect(await wizard.getByLabel("Name", { exact: true }).inputValue()).toBe("Half a name");
    await page.keyboard.press("Escape");
    await leave(page, wizard);
    await page.goto(`${server.url}/collections/kb/papers?edit=true`);
    const edit = page.getByRole("dialog");
    await edit.getByLabel("Name", { exact: true }).fill("Papers, edited");
    await page.keyboard.press("Escape");
    await stay(page);
    await edit.getByLabel("Name", { exact: true }).fill("Papers");
    await closeByEscape(edit);
    await close();
  });
});
