import type { Core } from "cytoscape";
import type { Page } from "playwright-core";
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
import { addDocuments } from "./support/documents.ts";
import type { ConsoleServer } from "./support/server.ts";
import { consoleSuite } from "./support/console-suite.ts";

const people = "/v1/repositories/kb/collections/people";
const hostile = '<img src=x onerror=alert(1)> "quoted" \\ back';
const ex = (name: string) => `<https://example.org/${name}>`;
const words = (value: string) => ({ type: "literal", value });
const leaves = 130;

/** Where a node is on the screen: the picture itself knows. Undefined while it is not drawn. */
async function placeOfNode(page: Page, label: string): Promise<{ readonly x: number; readonly y: number } | undefined> {
  return page.getByRole("img", { name: /^Graph of/ }).evaluate((element, wanted) => {
    const drawn = (element as unknown as { readonly _cyreg?: { readonly cy: Core } })._cyreg;
    const node = drawn?.cy.nodes().filter((one) => one.data("label") === wanted);
    if (node === undefined || node.empty()) return undefined;
    const { x, y } = node.renderedPosition();
    const { left, top } = element.getBoundingClientRect();
    return { x: left + x, y: top + y };
  }, label);
}

async function seed(server: ConsoleServer): Promise<void> {
  await server.api("POST", "/v1/repositories", { repository_id: "kb", name: "Knowledge" });
  await server.api("POST", "/v1/repositories/kb/collections", {
    collection_id: "people",
    name: "People",
    graph: { extract: "cooccurrence" },
  });
  await server.api("POST", `${people}/triples`, [
    { s: ex("ada"), p: ex("name"), o: words("Ada") },
    { s: ex("ada"), p: ex("knows"), o: ex("charles") },
    { s: ex("charles"), p: ex("name"), o: words("Charles") },
    { s: ex("charles"), p: ex("designed"), o: ex("engine") },
    { s: ex("engine"), p: ex("remark"), o: words(hostile) },
    ...Array.from({ length: leaves }, (_, i) => ({ s: ex("hub"), p: ex("linksTo"), o: ex(`leaf-${i}`) })),
  ]);
  await addDocuments(server, people, [{ name: "notes.txt", text: "Grace Hopper met Joan Clarke in London." }]);
}

consoleSuite("the graph", { seed }, ({ server, open }) => {
  it("finds an entity, goes from neighbour to neighbour by the keyboard, and shows the same as a picture", async () => {
    const { page, complaints, close } = await open();
    page.on("dialog", () => complaints.push("a script ran"));
    await signedIn(page, server, "/graph");
    await page.getByRole("combobox", { name: "Collection" }).fill("Peo");
    // The list was longer before the server found this one: a click must not meet what stands in its place.
    await eventually(() => page.getByRole("option").count()).toBe(1);
    await page.getByRole("option", { name: /People/ }).click();
    await page.waitForURL(({ searchParams }) => searchParams.has("in"));
    const mostUsed = page.getByRole("table", { name: "Entities with the most triples" });
    await mostUsed.getByText("hub").waitFor();
    await expectAccessible(page);
    await page.getByLabel("Find an entity").fill('ada" } #');
    await page.getByLabel("Find an entity").press("Enter");
    await page.getByText("No entities found").waitFor();
    await page.getByLabel("Find an entity").fill("ADA");
    await page.getByLabel("Find an entity").press("Enter");
    await page
      .getByRole("table", { name: "Entities matching “ADA”" })
      .getByRole("row")
      .filter({ hasText: "Ada" })
      .press("Enter");
    await page.getByRole("heading", { name: "Ada", level: 2 }).waitFor();
    await page.getByRole("img", { name: "Graph of 2 entities and 1 edges" }).locator("canvas").first().waitFor();
    await page
      .getByRole("table", { name: "Outgoing" })
      .getByRole("button", { name: "charles", exact: true })
      .press("Enter");
    await page.getByRole("heading", { name: "Charles", level: 2 }).waitFor();
    await page.getByRole("img", { name: "Graph of 3 entities and 2 edges" }).waitFor();
    await page.getByText("Entities in the graph (3)").click();
    await page.getByRole("button", { name: "engine", exact: true }).last().click();
    await page.getByText(`“${hostile}”`).waitFor();
    await expectAccessible(page);
    await screenshot(page, "graph-explore");
    await page.goBack();
    await page.getByRole("heading", { name: "Charles", level: 2 }).waitFor();
    const ada = page.getByRole("heading", { name: "Ada", level: 2 });
    // A picture that is just laid out anew has moved the node from where it was asked for: then another click meets it.
    const clicked = async () => {
      const at = await placeOfNode(page, "Ada");
      if (at !== undefined) await page.mouse.click(at.x, at.y);
      return ada.isVisible();
    };
    await eventually(clicked).toBe(true);
    await close();
  });

  it("says what it leaves out of a large picture, and the pattern shows all of it, in pages", async () => {
    const { page, complaints, close } = await open(undefined, { ...phone, colorScheme: "dark" });
    await signedIn(page, server, `/graph?in=${encodeURIComponent("kb/people")}&focus=${encodeURIComponent(ex("hub"))}`);
    await page.getByText("First 100 in each direction.").waitFor();
    await page.getByRole("img", { name: "Graph of 101 entities" }).waitFor();
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
    await screenshot(page, "graph-phone-dark");
    await page.getByRole("button", { name: "Show all in Pattern" }).click();
    const table = page.getByRole("table", { name: "Matching triples" });
    await table.getByRole("button", { name: "leaf-0", exact: true }).waitFor();
    await scrollUntil(table, page.getByText(`${leaves} rows`, { exact: true }));
    await page.getByLabel("Subject").fill("plain words");
    await page.getByLabel("Subject").press("Enter");
    await page.getByRole("alert").getByText("is not absolute").waitFor();
    await expectAccessible(page);
    expect(complaints.splice(0)).toEqual([expect.stringContaining("400")]);
    await page.getByRole("button", { name: "Clear" }).click();
    // All triples: the empty pattern stands in the address, and takes no letters of the next one away.
    await page.waitForURL(({ searchParams }) => !searchParams.has("s"));
    await table.waitFor();
    await page.getByLabel("Predicate").fill(ex("designed"));
    await page.getByLabel("Predicate").press("Enter");
    await page.getByText("1 row", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Sources of charles designed engine" }).click();
    await page.getByRole("dialog").getByText("Asserted without a document").waitFor();
    await expectAccessible(page);
    await close();
  });

  it("takes triples that are pasted or of a file; a mistake is shown with its line, and nothing of it is stored", async () => {
    await server.api("POST", "/v1/repositories/kb/collections", { collection_id: "empty", name: "Empty" });
    const { page, complaints, close } = await open(`/graph?in=${encodeURIComponent("kb/empty")}`, phone);
    await page.getByText("No entities found").waitFor();
    await page.getByRole("button", { name: "Load triples" }).click();
    const dialog = page.getByRole("dialog", { name: "Load triples into this collection" });
    expect(await dialog.getByRole("button", { name: "Load" }).isEnabled()).toBe(false);
    await dialog.getByLabel("Or paste text").fill(`${ex("kurt")} ${ex("name")} "Kurt" .\n${ex("kurt")} broken`);
    await dialog.getByRole("button", { name: "Load" }).click();
    await dialog
      .getByRole("figure")
      .getByText(`${ex("kurt")} broken`)
      .waitFor();
    await dialog.getByText("Line 2:").waitFor();
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await screenshot(page, "graph-load-phone");
    expect(complaints.splice(0)).toEqual([expect.stringContaining("400")]);
    expect(await server.api("GET", "/v1/repositories/kb/collections/empty/triples")).toMatchObject({ items: [] });
    await dialog.getByLabel("File", { exact: true }).setInputFiles({
      name: "people.nt",
      mimeType: "",
      buffer: Buffer.from(`${ex("kurt")} ${ex("name")} "Kurt" .\n`),
    });
    await dialog.getByLabel("Text of people.nt").waitFor();
    await eventually(() => dialog.getByLabel("Format").inputValue()).toBe("application/n-triples");
    await dialog.getByRole("button", { name: "Load" }).click();
    await page.getByText("1 triple read, 1 new").waitFor();
    await page
      .getByRole("table", { name: "Entities with the most triples" })
      .getByText("Kurt", { exact: true })
      .waitFor();
    await close();
  });

  it("leads from a triple to the chunk that states it", async () => {
    const { page, close } = await open();
    const grace = "<urn:pinakes:kb:people:e/grace_hopper>";
    await signedIn(page, server, `/graph?in=${encodeURIComponent("kb/people")}&focus=${encodeURIComponent(grace)}`);
    await page.getByRole("button", { name: /^Sources of grace_hopper occurs_with joan_clarke/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("1 source chunk").waitFor();
    await dialog.getByText("Grace Hopper met Joan Clarke in London.").waitFor();
    await dialog.getByText("As PROV-O").click();
    await dialog.getByText("prov:wasDerivedFrom").first().waitFor();
    await expectAccessible(page);
    await screenshot(page, "graph-provenance");
    await dialog.getByRole("link", { name: "Open in document" }).click();
    await page.waitForURL(/\/collections\/kb\/people\/documents\/.*chunk=/);
    await close();
  });

  it("runs SPARQL by Ctrl Enter: rows, yes or no, triples, and the line of a mistake", async () => {
    const { page, complaints, close } = await open();
    const run = async (query: string) => {
      await page.getByRole("textbox", { name: "SPARQL query" }).click();
      await page.keyboard.press("Control+a");
      // Over what is selected, which must not make the browser complain about the page's policy.
      await page.keyboard.insertText(query);
      await page.keyboard.press("Control+Enter");
    };
    await signedIn(page, server, `/graph?in=${encodeURIComponent("kb/people")}&tab=sparql`);
    await run("SELECT ?name { ?s <https://example.org/name> ?name } ORDER BY ?name");
    const rows = page.getByRole("table", { name: "Result rows" });
    await rows.getByText("“Charles”").waitFor();
    await expectAccessible(page);
    await screenshot(page, "graph-sparql");
    await page.getByLabel("Result view").selectOption("JSON");
    await page.getByRole("textbox", { name: "Result" }).getByText('"Charles"').waitFor();
    await run("ASK { <https://example.org/ada> ?p 36 }");
    await page.getByLabel("Result view").selectOption("Table");
    await page.getByText("False: no match exists.").waitFor();
    await run("CONSTRUCT { ?s ?p ?o } WHERE { ?s <https://example.org/remark> ?o BIND(<urn:said> AS ?p) }");
    await page.getByRole("textbox", { name: "Triples, as Turtle" }).getByText("<urn:said>").waitFor();
    await run("SELECT * {\n  ?s foaf:name ?o }");
    await page.getByRole("alert").getByText('the prefix "foaf:" is not declared').waitFor();
    await page.getByText("Line 2, column 6:", { exact: true }).waitFor();
    await expectAccessible(page);
    expect(complaints.splice(0)).toEqual([expect.stringContaining("400")]);
    // An address of a collection that is not there, or of none at all.
    await page.goto(`${server.url}/graph?in=${encodeURIComponent("kb/nothing")}`);
    await page.getByRole("alert").first().waitFor();
    await page.goto(`${server.url}/graph?in=${encodeURIComponent("%/%")}&open=7&triple=x`);
    await page.getByText("Each collection has its own graph").waitFor();
    // Of what was asked about the collection that is not there.
    expect(complaints.splice(0).filter((text) => !text.includes("404"))).toEqual([]);
    await close();
  });
});
