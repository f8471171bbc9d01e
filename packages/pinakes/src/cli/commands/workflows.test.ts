import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { open } from "../../open.ts";
import { UsageError } from "../terminal/command.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { failure, run } from "../terminal/test-terminal.ts";
import { workflows } from "./workflows.ts";

// Many openings of the stores in one test: a busy machine takes its time.
const base = temporaryFolder("cli-workflows");
const env = { PINAKES_DATA: join(base, "data") };

const call = (args: readonly string[], terminal: Partial<Terminal> = {}) =>
  run(workflows, args, { env, cwd: base, ...terminal });
const json = async <T = unknown>(...args: string[]): Promise<T> =>
  JSON.parse((await call([...args, "--json"])).out) as T;
const refused = (...args: string[]) => failure(call(args));

beforeAll(async () => {
  await using pinakes = await open({ dir: env.PINAKES_DATA, background: false });
  const { workflows: feature } = pinakes.state.as(pinakes.as({ tenant: "default", userId: "ada", role: "user" }));
  for (const id of ["wf-1", "wf-2", "wf-3"])
    await feature.create({
      workflow_id: id,
      type: id === "wf-3" ? "saga" : "sequential",
      name: `Report ${id}`,
      total_steps: 4,
    });
  await feature.start("wf-1");
  await feature.setAgent("wf-1", "writer", { status: "in_progress" });
  for (const step of [1, 2])
    await feature.checkpoint("wf-1", { step, state: { draft: `\u001B[31mv${step}` }, agent_context: { tone: "dry" } });
  await feature.fail("wf-1", { error_type: "Timeout", error_message: "no answer", failed_step: 2 });
});

describe("pinakes workflows", () => {
  it("lists them, by status and type, and only those of the workspace", async () => {
    expect(await json("list")).toMatchObject({
      items: [{ workflow_id: "wf-3" }, { workflow_id: "wf-2" }, { workflow_id: "wf-1" }],
      next_cursor: null,
    });
    expect(await json("list", "--status", "failed", "--type", "sequential")).toMatchObject({
      items: [{ workflow_id: "wf-1", checkpoints: [] }],
    });
    expect((await call(["list"])).out).toMatch(
      /^workflow +name +type +status +step +updated +error\nwf-3 +Report wf-3 +saga +pending +0\/4 /,
    );
    expect((await call(["list", "--limit", "1"])).out).toContain("for more: --limit 10");
    expect((await call(["list"], { columns: 60 })).out.split("\n").every((line) => line.length <= 60)).toBe(true);
    expect(await call(["list", "--workspace", "other"])).toMatchObject({
      code: 0,
      out: expect.stringContaining("There are none in workspace other (sqlite ") as string,
    });
    expect((await refused("list", "--status", "faild")).message).toContain("must be one of pending, in_progress");
    expect(await refused("list", "--type", "chain")).toBeInstanceOf(UsageError);
    expect(await refused("list", "--statu", "failed")).toMatchObject({
      message: expect.stringContaining("did you mean --status?") as string,
    });
  });

  it("shows one: its agents, its latest checkpoint, and what to do about its failure", async () => {
    expect(await json("show", "wf-1")).toMatchObject({
      workflow_id: "wf-1",
      checkpoints: [{ step: 1 }, { step: 2 }],
      _etag: expect.any(String) as string,
    });
    const { out } = await call(["show", "wf-1"]);
    expect(out).toMatch(/checkpoints +2, the latest of step 2 at /);
    expect(out).toMatch(/\nwriter +in_progress /);
    expect(out).toContain("Timeout in step 2: no answer\nNext: pinakes workflows retry wf-1\n");
    expect((await refused("show", "none")).code).toBe("NOT_FOUND");
    expect(await refused("show")).toBeInstanceOf(UsageError);
    expect((await refused("shw", "wf-1")).message).toContain('did you mean "test show"?');
  });

  it("lists checkpoints, and shows the state of one without the escape sequences in it", async () => {
    expect((await call(["checkpoints", "wf-1"])).out).toMatch(/^step +time +state +context +holds\n +1 .* draft\n +2 /);
    expect(await json("checkpoints", "wf-1", "--order", "desc", "--limit", "1")).toMatchObject({
      items: [{ step: 2 }],
    });
    expect(await json("checkpoints", "wf-1", "--step", "1")).toMatchObject({ step: 1, agent_context: { tone: "dry" } });
    const { out } = await call(["checkpoints", "wf-1", "--step", "latest"]);
    expect(out).toContain('"tone": "dry"');
    expect(out).not.toContain("\u001B");
    expect((await call(["checkpoints", "wf-2"])).out).toBe("It has no checkpoints.\n");
    expect((await refused("checkpoints", "wf-1", "--step", "9")).code).toBe("NOT_FOUND");
    expect(await refused("checkpoints", "wf-1", "--step", "first")).toBeInstanceOf(UsageError);
  });

  it("starts, pauses, resumes, completes and cancels; what is not allowed is told", async () => {
    expect(await json("start", "wf-2")).toMatchObject({ status: "in_progress" });
    expect(await json("pause", "wf-2")).toMatchObject({ status: "paused" });
    expect((await refused("start", "wf-2")).code).toBe("CONFLICT");
    expect((await refused("complete", "wf-2", "--if-match", "old")).code).toBe("PRECONDITION_FAILED");
    const { workflow, lease } = await json<{ workflow: object; lease: { fencing_token: number } }>(
      "resume",
      "wf-2",
      "--owner",
      "w1",
      "--lease-seconds",
      "3600",
    );
    expect(workflow).toMatchObject({ status: "in_progress" });
    expect((await refused("complete", "wf-2")).message).toContain("fencing token");
    expect(await json("complete", "wf-2", "--fencing-token", String(lease.fencing_token))).toMatchObject({
      status: "completed",
    });
    expect((await refused("cancel", "wf-2", "--fencing-token", "x")).message).toContain(
      "--fencing-token: must be a whole number",
    );
    expect((await call(["cancel", "wf-3"])).out).toMatch(/status +cancelled/);
    expect((await refused("resume", "wf-3", "--lease-seconds", "5")).message).toContain("--owner");
    for (const seconds of ["0", "3601"])
      expect(await refused("resume", "wf-3", "--owner", "w", "--lease-seconds", seconds)).toBeInstanceOf(UsageError);
    expect((await refused("resume", "wf-3")).code).toBe("CONFLICT");
  });

  it("retries and skips a failed one, and resumes with the latest checkpoint", async () => {
    expect(await json("retry", "wf-1")).toMatchObject({
      status: "in_progress",
      current_step: 2,
      metadata: { retry_count: 1 },
    });
    for (const action of ["retry", "skip"]) expect((await refused(action, "wf-1")).code).toBe("CONFLICT");
    await using pinakes = await open({ dir: env.PINAKES_DATA, background: false });
    await pinakes.state.workflows.fail(pinakes.as({ tenant: "default", userId: "ada", role: "user" }), "wf-1", {
      failed_step: 2,
    });
    expect(await json("skip", "wf-1")).toMatchObject({ status: "in_progress", current_step: 3 });
    expect((await call(["resume", "wf-1"])).out).toMatch(/\nstep +2\n[^]*"draft": /);
  });

  it("counts them", async () => {
    expect(await json("stats")).toMatchObject({ total: 3, by_type: { saga: 1, sequential: 2 } });
    expect((await call(["stats"])).out).toMatch(/^3 workflows\n\n/);
    expect((await call(["stats", "--workspace", "other"])).out).toContain("There are no workflows in workspace other ");
    expect(await refused("stats", "wf-1")).toBeInstanceOf(UsageError);
  });

  it("deletes one only when told so twice", async () => {
    expect((await refused("delete", "wf-1")).message).toContain("--yes");
    expect((await failure(call(["delete", "wf-1"], { ask: async () => "yes" }))).message).toContain(
      "nothing was changed",
    );
    expect((await call(["delete", "wf-1"], { ask: async () => "wf-1" })).out).toBe("Workflow wf-1 is removed.\n");
    expect(await json("delete", "wf-3", "--confirm")).toEqual({ deleted: "wf-3" });
    expect((await refused("delete", "wf-3", "--confirm")).code).toBe("NOT_FOUND");
    expect((await refused("delete", "wf-2", "--confirm")).message).toContain("fencing token");
    expect(await json("list")).toMatchObject({ items: [{ workflow_id: "wf-2" }] });
  });
});
