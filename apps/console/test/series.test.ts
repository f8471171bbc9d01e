import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import {
  eventually,
  closeByEscape,
  expectAccessible,
  expectNoSidewaysScroll,
  phone,
  screenshot,
} from "./support/browser.ts";
import type { ConsoleServer } from "./support/server.ts";
import { consoleSuite } from "./support/console-suite.ts";

const hourMs = 3_600_000;
const hostile = "<svg onload='document.title=1'>";

const now = Date.now();
const at = (index: number) => new Date(now - (index % 48) * hourMs - 1_000).toISOString();

async function seed(server: ConsoleServer): Promise<void> {
  const items = Array.from({ length: 600 }, (_, index) => ({
    agent_id: `agent-${index % 7}`,
    metric_type: index % 3 === 0 ? "cost" : "latency",
    value: index % 3 === 0 ? 0.5 : 100 + (index % 10),
    timestamp: at(index),
    dimensions: { model: index % 2 === 0 ? "gpt-x" : hostile },
  }));
  const scores = Array.from({ length: 60 }, (_, index) => ({
    agent_id: "judge",
    metric_type: "custom.faithfulness",
    value: index % 2 === 0 ? 0.5 : 0.9,
    timestamp: at(index),
    dimensions: index % 3 === 0 ? {} : { region: index % 3 === 1 ? "eu" : hostile },
  }));
  await server.api("POST", "/v1/metrics:ingest", { items: [...items, ...scores] });
  await server.api("PUT", "/v1/tool-redactions/login", { mask: ["input_args.password"] });
  const unchained = {
    tool_name: "search",
    agent_id: "a",
    session_id: "s",
    status: "success",
    duration_ms: 1,
    timestamp: "2026-01-02T03:00:00Z",
  };
  await server.api("POST", "/v1/tool-invocations:ingest", { items: [unchained] });
  await server.api("PUT", "/v1/tool-log/settings", { hash_chain: true });
  const calls = Array.from({ length: 300 }, (_, index) => ({
    tool_name: index % 3 === 0 ? "login" : "search",
    agent_id: `agent-${index % 2}`,
    session_id: "s",
    status: index % 10 === 0 ? "error" : "success",
    duration_ms: 10 + index,
    timestamp: at(index),
    input_args: { password: "secret", q: hostile },
    error_details:
      index % 10 === 0
        ? { error_type: "HttpError", error_message: "502 from upstream", stack_trace: "at fetch" }
        : null,
  }));
  await server.api("POST", "/v1/tool-invocations:ingest", { items: calls });
}

consoleSuite("metrics and the tool log", { seed }, ({ open }) => {
  it("metrics: a chart by group, its figures as a table, the measurements themselves; the choice stands in the address", async () => {
    const { page, close } = await open("/agent-metrics");
    await page.locator("figure svg").first().waitFor();
    await page.getByText("Showing the 5 largest of 7 groups").waitFor();
    await page.getByLabel("Metric", { exact: true }).selectOption({ label: "Cost" });
    await page.getByLabel("Group by").selectOption({ label: "Model" });
    await page.waitForURL(/type=cost.*group=model|group=model.*type=cost/);
    const figures = page.getByRole("table", { name: "Values by group" });
    await figures.getByRole("row", { name: /gpt-x 100 \$50\.00/ }).waitFor();
    await figures.getByRole("cell", { name: hostile }).waitFor();
    await expectAccessible(page);
    await screenshot(page, "metrics");
    await page.getByLabel("Agent", { exact: true }).selectOption({ label: "agent-0" });
    await page.getByText("29 entries").waitFor();
    await page
      .getByRole("table", { name: "Data points, newest first" })
      .getByRole("cell", { name: "agent-0" })
      .first()
      .waitFor();
    await page.reload();
    await page.getByText("29 entries").waitFor();
    await page.getByLabel("Time range").selectOption({ label: "Custom range" });
    await page.getByLabel("From (UTC)").fill("2001-01-01");
    await page.getByText("Limited to 400 days").waitFor();
    await page.getByLabel("To, inclusive (UTC)").fill("2001-01-02");
    await page.getByText("Limited to 400 days").waitFor({ state: "detached" });
    await page.getByText("No data in this time range").first().waitFor();
    await eventually(() => page.title()).toBe("Metrics · Pinakes");
    await close();
  });

  it("metrics: a custom type by a custom dimension; one that nobody uses any more stays chosen", async () => {
    const { page, close } = await open("/agent-metrics");
    await page.getByLabel("Metric", { exact: true }).selectOption({ label: "faithfulness (custom)" });
    await page.getByLabel("Group by").selectOption({ label: "region (custom)" });
    await page.waitForURL(
      /type=custom\.faithfulness.*group=dimensions\.region|group=dimensions\.region.*type=custom\.faithfulness/,
    );
    await page.getByRole("heading", { name: "Average of faithfulness (custom) over time" }).waitFor();
    await page.locator("figure svg").first().waitFor();
    const figures = page.getByRole("table", { name: "Values by group" });
    await figures.getByRole("row", { name: /^eu 20 14 0\.7 / }).waitFor();
    await figures.getByRole("cell", { name: "(none)" }).waitFor();
    await figures.getByRole("cell", { name: hostile }).waitFor();
    await page.getByRole("table", { name: "Data points, newest first" }).getByText("region: eu").first().waitFor();
    await expectAccessible(page);
    await screenshot(page, "metrics-custom");
    await page.reload();
    await figures.getByRole("row", { name: /^eu 20 14 0\.7 / }).waitFor();
    await page.goto(new URL("/agent-metrics?type=custom.gone&group=dimensions.gone", page.url()).href);
    await page.getByText("No data in this time range").first().waitFor();
    await eventually(() => page.getByLabel("Metric", { exact: true }).inputValue()).toBe("custom.gone");
    await eventually(() => page.getByLabel("Group by").inputValue()).toBe("dimensions.gone");
    await page.goto(new URL("/agent-metrics?type=faithfulness&group=region", page.url()).href);
    await eventually(() => page.getByLabel("Metric", { exact: true }).inputValue()).toBe("latency");
    await close();
  });

  it("the tool log: filtered, a call with what was redacted, the figures, the export and the proof", async () => {
    const { page, close } = await open("/tools");
    await page.getByLabel("Status").selectOption({ label: "error" });
    await page.getByLabel("Tool", { exact: true }).selectOption({ label: "login" });
    await page.getByText("10 rows", { exact: true }).waitFor();
    await expectAccessible(page);
    await page
      .getByRole("row", { name: /login error/ })
      .first()
      .click();
    const sheet = page.getByRole("dialog", { name: "Invocation of login" });
    await sheet.getByText("Masked: input_args.password").waitFor();
    await sheet.getByText("HttpError: 502 from upstream").waitFor();
    await sheet.getByText('"[redacted]"').waitFor();
    await expectAccessible(page);
    await screenshot(page, "tools-call");
    await closeByEscape(sheet);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Export as CSV" }).click(),
    ]);
    expect((await readFile(await download.path(), "utf8")).trim().split("\n")).toHaveLength(11);
    await page.getByRole("tab", { name: "Integrity" }).click();
    await page.getByLabel("Day (UTC)").fill(at(0).slice(0, 10));
    await page.getByRole("button", { name: "Verify day" }).click();
    await page.getByText(/Intact: all \d+ entries verified/).waitFor();
    for (const [day, words] of [
      ["2026-01-02", "The entries of this day are not chained and cannot be verified."],
      ["2026-01-03", "No entries on this day."],
    ] as const) {
      await page.getByLabel("Day (UTC)").fill(day);
      await page.getByRole("button", { name: "Verify day" }).click();
      await page.getByText(words).waitFor();
    }
    await expectAccessible(page);
    await close();
  });

  it("figures of tools on a phone", async () => {
    const { page, close } = await open("/tools?tab=figures&group=tool_name", phone);
    await page.locator("figure svg").first().waitFor();
    await page.getByRole("table", { name: "Values by group" }).getByRole("cell", { name: "search" }).waitFor();
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
    await close();
  });
});
