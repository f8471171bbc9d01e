import { expect, it } from "vitest";
import {
  eventually,
  expectAccessible,
  expectNoSidewaysScroll,
  phone,
  screenshot,
  signedIn,
} from "./support/browser.ts";
import { addDocuments } from "./support/documents.ts";
import type { ConsoleServer } from "./support/server.ts";
import { consoleSuite } from "./support/console-suite.ts";

const hostileName = "<img src=x onerror=alert(1)>.txt";
const question = "Who worked with Charles Babbage on the engine?";
const inPapers = `q=${encodeURIComponent(question)}&in=${encodeURIComponent('["kb/papers"]')}`;

async function seed(server: ConsoleServer): Promise<void> {
  await server.api("POST", "/v1/repositories", { repository_id: "kb", name: "Knowledge" });
  await server.api("POST", "/v1/repositories/kb/collections", {
    collection_id: "papers",
    name: "Papers",
    graph: { extract: "cooccurrence" },
  });
  await addDocuments(server, "/v1/repositories/kb/collections/papers", [
    {
      name: "ada.txt",
      text: "Ada Lovelace worked with Charles Babbage on the Analytical Engine.",
      metadata: { year: 1843 },
    },
    {
      name: "hopper.txt",
      text: "Grace Hopper wrote the first compiler for an engine of the navy.",
      metadata: { year: 1952 },
    },
    {
      name: hostileName,
      text: "The <script>alert('engine')</script> engine of nobody. <b>Bold</b>",
      metadata: { year: 2020, topic: "<b>x</b>" },
    },
  ]);
}

consoleSuite("the search lab", { seed }, ({ server, open }) => {
  it("asks, shows found words and the parts of each score, filters by a condition, and leads to the chunk", async () => {
    const { page, complaints, close } = await open();
    page.on("dialog", () => complaints.push("a script ran"));
    await signedIn(page, server, "/search");
    await page.getByLabel("Question").fill(question);
    await page.getByRole("combobox", { name: "Collections" }).fill("pap");
    // The list was longer before the server found this one: a click must not meet what stands in its place.
    await eventually(() => page.getByRole("option").count()).toBe(1);
    await page.getByRole("option", { name: /Papers/ }).click();
    const answer = page.getByRole("region", { name: "Answer" });
    const best = answer.getByRole("listitem").filter({ hasText: "#1" });
    await best.getByText("ada.txt", { exact: true }).waitFor();
    await eventually(() => best.locator("mark").allTextContents()).toEqual(["worked", "Charles", "Babbage", "Engine"]);
    for (const part of ["Vector", "Keyword", "Graph"]) await best.getByText(part, { exact: true }).waitFor();
    await answer.getByText(hostileName, { exact: true }).waitFor();
    await answer.getByText("topic: <b>x</b>").waitFor();
    await page.getByText("Graph path").click();
    await answer.getByRole("link", { name: "charles_babbage" }).waitFor();
    await expectAccessible(page);
    await screenshot(page, "search-lab");
    await page.getByText("Advanced").click();
    await page.getByRole("button", { name: "Add condition" }).click();
    await page.getByLabel("Field of condition 1").fill("year");
    await page.getByLabel("Operator of condition 1").selectOption("at least");
    await page.getByLabel("Value of condition 1").fill("1900");
    await page.getByLabel("Value of condition 1").press("Enter");
    await answer.getByText("2 hits").waitFor();
    await eventually(() => answer.getByRole("row").nth(1).getByRole("cell").allTextContents()).toEqual(
      expect.arrayContaining(["Papers", "3", "1"]),
    );
    await expectAccessible(page);
    // The address alone shows the same again.
    await page.reload();
    await answer.getByText("2 hits").waitFor();
    await eventually(() => page.getByLabel("Value of condition 1").inputValue()).toBe("1900");
    await answer.getByRole("link", { name: "Open in document" }).first().click();
    await page.waitForURL(/\/collections\/kb\/papers\/documents\/.*chunk=/);
    await close();
  });

  it("compares two settings, keeps what is right as an evaluation, and runs it", async () => {
    const { page, complaints, close } = await open(`/search?${inPapers}`);
    await page.getByRole("button", { name: "Compare two settings" }).click();
    const [a, b] = ["Answer A", "Answer B"].map((name) => page.getByRole("region", { name })) as [
      ReturnType<typeof page.getByRole>,
      ReturnType<typeof page.getByRole>,
    ];
    await page.getByLabel("Mode").nth(1).selectOption("Keyword");
    await b.getByText("ada.txt", { exact: true }).waitFor();
    await a.getByText("same rank in B").first().waitFor();
    await page.getByText(/in both answers, of 3 in A and \d in B/).waitFor();
    await a.getByRole("listitem").filter({ hasText: "#1" }).getByRole("checkbox").check();
    await b.getByText("By your marks: nDCG@10 1.000, recall 1.000, MRR 1.000").waitFor();
    await expectAccessible(page);
    await screenshot(page, "search-compare");
    await page.getByRole("button", { name: "Save as evaluation" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("<b>first</b>");
    await dialog.getByRole("button", { name: "Save", exact: true }).click();
    await dialog.getByRole("alert").getByText("may have letters, digits").waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining("400")]);
    await expectAccessible(page);
    await dialog.getByLabel("Name").fill("First questions");
    await dialog.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("heading", { name: "First questions" }).waitFor();
    await page.getByText("No runs yet").waitFor();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("table", { name: "Runs" }).getByRole("cell", { name: "1.000" }).first().waitFor();
    await page.getByLabel("Mode").selectOption("Keyword");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByLabel("Compare with").selectOption({ index: 1 });
    await page.getByRole("table", { name: "Runs" }).getByText("0.000").first().waitFor();
    await expectAccessible(page);
    await screenshot(page, "search-evaluation");
    await page.getByRole("button", { name: "All evaluations" }).click();
    await page.getByRole("row").filter({ hasText: "First questions" }).press("Enter");
    await page.getByRole("heading", { name: "First questions" }).waitFor();
    await close();
  });

  it("shows each question of a run, tries one of them in the lab, and deletes the evaluation after its name was typed", async () => {
    const { items } = await server.api<{ items: readonly { document_id: string; name: string }[] }>(
      "GET",
      "/v1/repositories/kb/collections/papers/documents",
    );
    const ada = items.find(({ name }) => name === "ada.txt")?.document_id as string;
    const { evaluation_id } = await server.api<{ evaluation_id: string }>("POST", "/v1/evaluations", {
      name: "By question",
      collections: [{ repository: "kb", collection: "papers" }],
      queries: [
        { query: question, relevant: [{ document_id: ada }, { document_id: "never-was" }] },
        { query: "<b>wholly</b> unanswerable", relevant: [{ document_id: "never-was" }] },
      ],
    });
    const { page, close } = await open(`/search?tab=evaluations&evaluation=${evaluation_id}`);
    await page.getByLabel("Mode").selectOption("Keyword");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("table", { name: "Runs" }).getByRole("row").nth(1).click();
    const questions = page.getByRole("table", { name: "Questions of the run" });
    await questions.getByRole("row", { name: /1 Who worked .* #1; 1 not found 0\.613 0\.500 1\.000/ }).waitFor();
    await questions
      .getByRole("row", { name: /2 <b>wholly<\/b> unanswerable 1 not found 0\.000 0\.000 0\.000/ })
      .waitFor();
    await expectAccessible(page);
    await screenshot(page, "search-evaluation-run");
    // The address alone shows the same again.
    await page.reload();
    await questions.getByRole("row", { name: /1 Who worked/ }).click();
    await page.getByRole("region", { name: "Answer" }).getByText("ada.txt", { exact: true }).waitFor();
    await eventually(() => page.getByLabel("Question").inputValue()).toBe(question);
    await page.goto(`${server.url}/search?tab=evaluations&evaluation=${evaluation_id}`);
    await page.getByRole("button", { name: "Delete evaluation" }).click();
    const confirm = page.getByRole("dialog", { name: "Delete By question?" });
    await confirm.getByText("Its 2 questions and 1 run are deleted permanently.").waitFor();
    expect(await confirm.getByRole("button", { name: "Delete evaluation" }).isDisabled()).toBe(true);
    await confirm.getByLabel("Type By question to confirm").fill("By question");
    await expectAccessible(page);
    await confirm.getByRole("button", { name: "Delete evaluation" }).click();
    await page.getByText("Evaluation deleted").waitFor();
    await confirm.waitFor({ state: "detached" });
    await page.getByRole("row").filter({ hasText: "By question" }).waitFor({ state: "detached" });
    const { items: left } = await server.api<{ items: readonly object[] }>("GET", "/v1/evaluations");
    expect(JSON.stringify(left)).not.toContain(evaluation_id);
    await close();
  });

  it("as another user finds what that user may read, tells a wrong filter before it asks and a wrong time after, on a phone", async () => {
    await server.api("POST", "/v1/repositories/kb/collections", {
      collection_id: "secret",
      name: "Secret",
      allowed_groups: ["board"],
    });
    await addDocuments(server, "/v1/repositories/kb/collections/secret", [
      { name: "plan.txt", text: "The secret engine of Charles Babbage." },
    ]);
    const { page, complaints, close } = await open(undefined, phone);
    const of = (more: string) =>
      signedIn(
        page,
        server,
        `/search?q=${encodeURIComponent("secret engine")}&in=${encodeURIComponent('["kb/secret"]')}${more}`,
      );
    await of("&user=ada&groups=board");
    await page.getByText("plan.txt", { exact: true }).waitFor();
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
    // Only the content scrolls, not the page around it as well.
    expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight)).toBeLessThanOrEqual(0);
    await screenshot(page, "search-phone");
    await of("&user=ada&groups=visitors");
    await page.getByRole("alert").waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringMatching(/40[34]/)]);
    await of(`&filter=${encodeURIComponent('{"year":')}`);
    await page.getByRole("alert").getByText("The filter must be a JSON object").waitFor();
    await of("&asof=yesterday");
    await page.getByRole("alert").getByText("as_of: must be a time").waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining("400")]);
    await close();
  });
});
