import { expect, it } from "vitest";
import { eventually, expectAccessible, expectNoSidewaysScroll, phone, screenshot } from "./support/browser.ts";
import type { ConsoleServer } from "./support/server.ts";
import { consoleSuite } from "./support/console-suite.ts";

const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();
const hostile = "<script>document.title=1</script> review";

async function seed(server: ConsoleServer): Promise<void> {
  const agents = [
    {
      agent_id: "planner",
      agent_name: "Planner",
      status: "completed",
      started_at: ago(400),
      completed_at: ago(100),
      duration_ms: 300_000,
    },
  ];
  for (const [id, name] of [
    ["run", hostile],
    ["stale", "Stale"],
    ["leased", "Leased"],
    ["other", "Other"],
  ] as const) {
    await server.api("POST", "/v1/workflows", { workflow_id: id, type: "sequential", name, total_steps: 4, agents });
    if (id !== "other") await server.api("POST", `/v1/workflows/${id}:start`);
  }
  await server.api("POST", "/v1/workflows/run/checkpoints", { step: 1, state: { phase: "plan", found: 1 } });
  await server.api("POST", "/v1/workflows/run/checkpoints", { step: 2, state: { phase: "draft", found: 1 } });
}

consoleSuite("workflows", { seed }, ({ server, open }) => {
  it("from the filtered list to the timeline and a checkpoint with what differs from the one before", async () => {
    const { page, complaints, close } = await open("/workflows");
    await page.getByRole("button", { name: "in progress (3)" }).click();
    await page.waitForURL(/status=in_progress/);
    await page.getByRole("cell", { name: "Other" }).waitFor({ state: "detached" });
    // As many as its page tells, although no change of the workflow wrote it.
    await page.getByRole("row").filter({ hasText: hostile }).getByText("2 of 4", { exact: true }).waitFor();
    expect(await page.getByRole("cell", { name: "Other" }).count()).toBe(0);
    await expectAccessible(page);
    await page.getByRole("cell", { name: hostile }).click();
    await page.getByRole("heading", { level: 1, name: hostile }).waitFor();
    await page.getByText("Not held").waitFor();
    await page.getByRole("img", { name: /Timeline of/ }).waitFor();
    await page
      .getByRole("table", { name: "Timeline as a table" })
      .getByRole("cell", { name: "Checkpoint after step 2" })
      .waitFor();
    await expectAccessible(page);
    await screenshot(page, "workflows-timeline");
    await page.getByRole("cell", { name: "Checkpoint after step 2" }).click();
    const sheet = page.getByRole("dialog", { name: "Checkpoint after step 2" });
    await sheet.getByRole("row", { name: 'state.phase "plan" "draft"' }).waitFor();
    await sheet.getByRole("textbox", { name: "State and agent context" }).waitFor();
    await expectAccessible(page);
    // The name as it was given; what it says was not done.
    await eventually(() => page.title()).toBe(`${hostile} · Pinakes`);
    expect(complaints.splice(0)).toEqual([]);
    await close();
  });

  it("paused, resumed with a lease, failed and retried; what happens elsewhere is seen at once", async () => {
    const { page, complaints, close } = await open("/workflows/run?tab=events", phone);
    await page.getByText("live", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("dialog", { name: "Pause" }).getByRole("button", { name: "Pause" }).click();
    await page.locator("main header").first().getByText("paused", { exact: true }).waitFor();
    await expectNoSidewaysScroll(page);
    await server.api("POST", "/v1/workflows/run:resume", { owner: "worker-7", lease_seconds: 600 });
    await page.getByText(/Held by worker-7, fencing token 1/).waitFor();
    await page.locator("main header").first().getByText("in progress", { exact: true }).waitFor();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Fail" }).click();
    const dialog = page.getByRole("dialog", { name: "Fail" });
    await dialog.getByLabel("Error type").fill("ToolTimeout");
    await dialog.getByLabel("Fencing token (optional)").fill("1");
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Fail" }).click();
    await page.getByRole("heading", { name: "Failure" }).waitFor();
    await page.getByText("ToolTimeout").waitFor();
    await expectAccessible(page);
    await screenshot(page, "workflows-phone");
    await page.getByRole("button", { name: "Retry" }).click();
    const retry = page.getByRole("dialog", { name: "Retry" });
    await retry.getByLabel("Fencing token (optional)").fill("1");
    await retry.getByRole("button", { name: "Retry" }).click();
    // What stands behind an open dialog is hidden: only when it has closed does the page say something.
    await retry.waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "Failure" }).waitFor({ state: "detached" });
    expect(await server.api("GET", "/v1/workflows/run")).toMatchObject({
      status: "in_progress",
      metadata: { retry_count: 1 },
    });
    expect(complaints.splice(0)).toEqual([]);
    await close();
  });

  it("a workflow that changed meanwhile is not moved on unseen; one that a worker holds asks for its token", async () => {
    const { page, complaints, close } = await open("/workflows/stale");
    await page.getByRole("button", { name: "Pause" }).click();
    const dialog = page.getByRole("dialog", { name: "Pause" });
    await dialog.getByRole("button", { name: "Pause" }).waitFor();
    await server.api("PATCH", "/v1/workflows/stale", { description: "changed by somebody else" });
    await dialog.getByRole("button", { name: "Pause" }).click();
    await dialog.getByText("The workflow has changed").waitFor();
    await dialog.getByRole("row", { name: /description .*changed by somebody else/ }).waitFor();
    await expectAccessible(page);
    await screenshot(page, "workflows-conflict");
    await dialog.getByRole("button", { name: "Pause anyway" }).click();
    await page.locator("main header").first().getByText("paused", { exact: true }).waitFor();
    await server.api("POST", "/v1/workflows/leased/lease", { owner: "worker-1", lease_seconds: 600 });
    await page.goto(`${server.url}/workflows/leased`);
    // Taken before the page was opened, and told without the token.
    await page.getByText(/^Held by worker-1, until/).waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await dialog.getByRole("button", { name: "Pause" }).click();
    await dialog.getByText(/Another worker holds the lease/).waitFor();
    await dialog.getByLabel("Fencing token (optional)").fill("1");
    await dialog.getByRole("button", { name: "Pause" }).click();
    await page.locator("main header").first().getByText("paused", { exact: true }).waitFor();
    expect(complaints.splice(0).filter((text) => !/status of (409|412)/.test(text))).toEqual([]);
    await close();
  });
});
