/** Where commands look, and that looking leaves nothing behind. */
import { existsSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { open } from "../open.ts";
import { containers } from "./commands/containers.ts";
import { keys } from "./commands/keys.ts";
import { memories } from "./commands/memories.ts";
import { metrics } from "./commands/metrics.ts";
import { query } from "./commands/query.ts";
import { repositories } from "./commands/repositories.ts";
import { failure, run } from "./terminal/test-terminal.ts";
import { tools } from "./commands/tools.ts";
import { workflows } from "./commands/workflows.ts";

const base = temporaryFolder("cli-place");

describe("a folder without data", () => {
  const data = join(base, "nowhere", "data");
  const env = { PINAKES_DATA: data };

  it("a command that only looks refuses it, names it and says how to choose another; it is not made", async () => {
    for (const [group, args] of [
      [workflows, ["list"]],
      [workflows, ["show", "t-1"]],
      [workflows, ["start", "t-1"]],
      [memories, ["sessions", "a"]],
      [metrics, ["aggregate"]],
      [tools, ["list"]],
      [query, ["workflow-states", "SELECT * FROM c"]],
      [containers, ["list"]],
      [repositories, ["list"]],
      [keys, ["list"]],
    ] as const) {
      const refused = await failure(run(group, args, { env }));
      expect([args.join(" "), refused.code]).toEqual([args.join(" "), "NOT_FOUND"]);
      expect(refused.detail).toContain(`There is no data in ${data}.`);
      expect(refused.detail).toContain("PINAKES_DATA=");
    }
    expect(existsSync(data)).toBe(false);
  });

  it("nor does it put a store into somebody else's folder", async () => {
    await mkdir(data, { recursive: true });
    await failure(run(workflows, ["list"], { env }));
    expect(await readdir(data)).toEqual([]);
  });

  it("what makes something makes the folder, and then it is looked into", async () => {
    const fresh = { PINAKES_DATA: join(base, "fresh") };
    await run(containers, ["create", "tickets", "--partition", "/customer"], { env: fresh });
    expect((await run(containers, ["list"], { env: fresh })).out).toContain("tickets");
    expect((await run(keys, ["create", "--user", "ada"], { env: { PINAKES_DATA: join(base, "keys") } })).out).toContain(
      "pk_",
    );
  });
});

describe("an empty answer", () => {
  const env = { PINAKES_DATA: join(base, "data") };
  beforeAll(async () => {
    await using pinakes = await open({ dir: env.PINAKES_DATA, background: false });
    const state = pinakes.state.as(pinakes.as({ tenant: "acme", userId: "ada" }));
    await state.workflows.create({ workflow_id: "t-1", type: "saga", name: "x", total_steps: 1 });
  });

  it("names the workspace and the folder, and how to look elsewhere", async () => {
    const where = `in workspace default (sqlite ${env.PINAKES_DATA}). Look elsewhere with --workspace ID, or in another folder with PINAKES_DATA.`;
    expect((await run(workflows, ["list"], { env })).out).toBe(`There are none ${where}\n`);
    expect((await run(workflows, ["stats"], { env })).out).toBe(`There are no workflows ${where}\n`);
    expect((await run(metrics, ["list"], { env })).out).toBe(`There are none ${where}\n`);
    expect((await run(tools, ["list"], { env })).out).toBe(`There are none ${where}\n`);
    expect((await run(memories, ["sessions", "a"], { env })).out).toBe(`Agent a has no sessions ${where}\n`);
    expect((await run(metrics, ["aggregate"], { env })).out).toMatch(
      /^There is nothing from \d{4}-.*Z to \d{4}-.*Z in workspace default .*Other times: --from 7d\.\n$/,
    );
    const missing = await failure(run(workflows, ["show", "t-1"], { env }));
    expect(missing.detail).toContain('There is no workflow "t-1" here. This is workspace default (sqlite ');
    expect((await run(workflows, ["list", "--workspace", "acme"], { env })).out).toContain("t-1");
  });
});

describe("options", () => {
  const env = { PINAKES_DATA: join(base, "data") };
  const told = async (group: Parameters<typeof run>[0], ...args: string[]): Promise<string> =>
    (await failure(run(group, args, { env }))).message;

  it("one that is called otherwise in the API, or stands nowhere, is told", async () => {
    expect(await told(metrics, "aggregate", "--group_by", "model")).toContain(
      "there is no option --group_by; did you mean --by?",
    );
    expect(await told(metrics, "aggregate", "--aggregates", "p95")).toContain("did you mean --values?");
    expect(await told(memories, "context", "a", "s", "--max-tokens", "5")).toContain("did you mean --tokens?");
    expect(await told(workflows, "--url", "http://x", "list")).toBe(
      "--url precedes the command; write pinakes test <command> --url.",
    );
    expect(await told(workflows, "--status", "failed", "list")).toContain(
      "--status precedes the command; write pinakes test <command> --status.",
    );
  });
});
