import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { open } from "../open.ts";
import { failureExitCode, UsageError } from "./command.ts";
import { fsck } from "./fsck.ts";
import { failure, run } from "./test-terminal.ts";

// Many openings of the stores in one test: a busy machine takes its time.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const base = await mkdtemp(join(tmpdir(), "pinakes-cli-fsck-"));
afterAll(() => rm(base, { recursive: true, force: true }));
const env = { PINAKES_DATA: join(base, "data") };
const call = (...args: readonly string[]) => run(fsck, args, { env, cwd: base });

beforeAll(async () => {
  await using pinakes = await open({ dir: env.PINAKES_DATA, background: false });
  const admin = pinakes.as({ tenant: "default", userId: "root", role: "admin" });
  await pinakes.knowledge.createRepository(admin, { repository_id: "kb" });
  await pinakes.knowledge.createCollection(admin, "kb", { collection_id: "papers" });
  await pinakes.knowledge.rows.upsert(admin, "kb", "papers", { items: [{ id: "r", vector: [1, 2] }] });
});

async function plant(): Promise<void> {
  await using pinakes = await open({ dir: env.PINAKES_DATA, background: false });
  const { scope } = pinakes.as({ tenant: "default", userId: "root", role: "admin" });
  await pinakes.items.write(scope, "collections", ["kb"], { op: "patch", id: "count", patch: [{ op: "incr", path: "/collections", value: 3 }] });
}

it("says that everything is right, in words and as JSON", async () => {
  const { code, out } = await call();
  expect(out).toContain("Everything is as it should be.");
  expect(out).toMatch(/repositories 1, collections 2/);
  expect(code).toBe(0);
  const json = await call("--json", "--deep", "kb/papers");
  expect(JSON.parse(json.out)).toMatchObject({ found: 0, deep: true, checked: { collections: 1 }, findings: [] });
});

it("R-TG-54 tells what is wrong in a table with exit code 1, puts it right with --repair and exit code 0", async () => {
  await plant();
  const told = await call("kb");
  expect(told.code).toBe(failureExitCode);
  expect(told.out).toContain("counter_off");
  expect(told.out).toContain("It says 5; there are 2 collections.");
  expect(told.out).toContain("1 finding, 1 left.");
  expect(told.out).toMatch(/pinakes fsck kb --repair$/m);
  expect((await call()).out).toMatch(/pinakes fsck --repair$/m);
  expect((await call("kb", "--deep", "--workspace", "default")).out).toMatch(/pinakes fsck kb --deep --workspace default --repair$/m);
  const repaired = await call("--repair");
  expect(repaired.code).toBe(0);
  expect(repaired.out).toContain("1 finding, all put right.");
  expect((await call()).code).toBe(0);
});

it("refuses what is not there, and who is no admin", async () => {
  expect((await failure(call("nowhere"))).message).toContain("nowhere");
  for (const wrong of ["kb/papers/x", "kb/", "/papers"]) await expect(call(wrong)).rejects.toThrow(UsageError);
  expect((await failure(call("--role", "user"))).message).toContain("admins");
});
