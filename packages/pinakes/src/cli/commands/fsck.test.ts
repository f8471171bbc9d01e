import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { open, type Pinakes } from "../../open.ts";
import { failureExitCode, UsageError } from "../terminal/command.ts";
import { fsck } from "./fsck.ts";
import { quarantine } from "./quarantine.ts";
import { failure, run } from "../terminal/test-terminal.ts";

// Many openings of the stores in one test: a busy machine takes its time.
const base = temporaryFolder("cli-fsck");
const env = { PINAKES_DATA: join(base, "data") };
const call = (...args: readonly string[]) => run(fsck, args, { env, cwd: base });

beforeAll(async () => {
  await using pinakes = await open({ dir: env.PINAKES_DATA, background: false });
  const admin = pinakes.as({ tenant: "default", userId: "root", role: "admin" });
  await pinakes.knowledge.repositories.create(admin, { repository_id: "kb" });
  await pinakes.knowledge.collections.create(admin, "kb", { collection_id: "papers" });
  await pinakes.knowledge.rows.upsert(admin, "kb", "papers", { items: [{ id: "r", vector: [1, 2] }] });
});

async function plant(): Promise<void> {
  await using pinakes = await open({ dir: env.PINAKES_DATA, background: false });
  const { scope } = pinakes.as({ tenant: "default", userId: "root", role: "admin" });
  await pinakes.items.write(scope, "collections", ["kb"], {
    op: "patch",
    id: "count",
    patch: [{ op: "incr", path: "/collections", value: 3 }],
  });
}

it("says that everything is right, in words and as JSON", async () => {
  const { code, out } = await call();
  expect(out).toContain("No differences found.");
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
  expect(told.out).toContain("The counter says 5; there are 2 collections.");
  expect(told.out).toContain("1 finding, 1 left.");
  expect(told.out).toMatch(/pinakes fsck kb --repair$/m);
  expect((await call()).out).toMatch(/pinakes fsck --repair$/m);
  expect((await call("kb", "--deep", "--workspace", "default")).out).toMatch(
    /pinakes fsck kb --deep --workspace default --repair$/m,
  );
  // Shown first: a dry run changes nothing, and without somebody to ask it needs --yes.
  const plan = await call("--repair", "--dry-run");
  expect(plan).toMatchObject({ code: failureExitCode, out: expect.stringContaining("set the counter") as string });
  expect((await failure(call("--repair"))).message).toContain("--yes");
  const asked: string[] = [];
  const ask = async (question: string) => (asked.push(question), "n");
  await expect(run(fsck, ["--repair"], { env, cwd: base, ask })).rejects.toThrow("nothing was changed");
  expect(asked).toHaveLength(1);
  expect((await call()).code).toBe(failureExitCode);
  const repaired = await call("--repair", "--yes");
  expect(repaired.code).toBe(0);
  expect(repaired.out).toContain("1 finding, all repaired.");
  expect((await call()).code).toBe(0);
});

it("refuses what is not there, and who is no admin", async () => {
  expect((await failure(call("nowhere"))).message).toContain("nowhere");
  for (const wrong of ["kb/papers/x", "kb/", "/papers"]) await expect(call(wrong)).rejects.toThrow(UsageError);
  expect((await failure(call("--role", "user"))).message).toContain("admins");
});

it("what a repair took away is listed, shown, restored and dropped", async () => {
  const place = { entry: "", key: "" };
  const scoped = async (work: (pinakes: Pinakes) => Promise<void>, ahead = 0) => {
    await using pinakes = await open({
      dir: env.PINAKES_DATA,
      background: false,
      clock: { now: () => Date.now() + ahead },
    });
    await work(pinakes);
  };
  const admin = (pinakes: Pinakes) => pinakes.as({ tenant: "default", userId: "root", role: "admin" });
  await scoped(async (pinakes) => {
    const { incarnation } = await pinakes.knowledge.collections.get(admin(pinakes), "kb", "papers");
    place.key = `knowledge/${incarnation}/stray/1/content`;
    await pinakes.objects.put(admin(pinakes).scope, place.key, Buffer.from("stray"));
  });
  const q = (...args: readonly string[]) => run(quarantine, args, { env, cwd: base });
  expect((await q("list")).out).toContain("The quarantine is empty");
  await scoped(async (pinakes) => {
    const { job_id } = await pinakes.knowledge.audit.fsck(admin(pinakes), { repair: true });
    await expect.poll(async () => (await pinakes.knowledge.jobs.get(admin(pinakes), job_id)).status).toBe("succeeded");
  }, 3_600_000);
  const listed = await q("list", "--of", "kb/papers");
  expect(listed.out).toContain("object");
  const { items } = JSON.parse((await q("list", "--json")).out) as { items: readonly { entry_id: string }[] };
  place.entry = items[0]?.entry_id as string;
  expect((await q("show", place.entry)).out).toContain(place.key);
  expect((await q("restore", place.entry)).out).toBe("1 entry restored.\n");
  expect((await q("restore", "--of", "kb/papers")).out).toBe("1 entry restored.\n");
  await scoped(async (pinakes) => {
    expect(await pinakes.objects.head(admin(pinakes).scope, place.key)).toBeDefined();
    await pinakes.objects.put(admin(pinakes).scope, place.key, Buffer.from("newer"));
  });
  expect((await failure(q("restore", place.entry))).message).toContain("Another file");
  expect((await failure(q("drop", place.entry))).message).toContain("--yes");
  expect((await q("drop", place.entry, "--yes")).out).toBe("1 entry permanently removed.\n");
  expect((await failure(q("show", place.entry))).message).toContain("no quarantine entry");
  for (const wrong of [["restore"], ["restore", "x", "--of", "kb/papers"], ["list", "--of", "kb"]])
    await expect(q(...wrong)).rejects.toThrow(UsageError);
  expect((await failure(q("list", "--role", "user"))).message).toContain("admins");
});
