/** Lifetimes of a workspace: read, previewed and changed; and the guide's table of those that cannot be changed. */
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createApp } from "../../src/http/app.ts";
import { limits } from "../../src/domain/limits.ts";
import { governanceLimits } from "../../src/governance/index.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { knowledgeEngines } from "../knowledge/support/knowledge-engines.ts";
import { newPlace, openTestPinakes, type TestPinakes } from "../knowledge/support/test-pinakes.ts";
import { until } from "../support/until.ts";
import { lifetimeRows } from "./support/lifetimes.ts";

const day = 86_400;
let test: TestPinakes;
let now = 0;
const advance = (ms: number) => void (now += ms);

async function remember(user: string, ttl?: number, tenant = "acme"): Promise<void> {
  await test.pinakes.state.memories.append(test.as(user, { tenant }), {
    agent_id: "helper",
    session_id: `s-${user}`,
    message_type: "user",
    content: `from ${user}`,
    metadata: { user_id: user },
    ...(ttl === undefined ? {} : { ttl }),
  });
}

async function contents(tenant = "acme"): Promise<readonly string[]> {
  const page = await test.pinakes.state.memories.list(test.as("root", { tenant, role: "admin" }), "helper", {
    limit: 100,
  });
  return page.items.map(({ content }) => content).toSorted();
}

const retention = () => test.pinakes.governance.retention;
const rule = async (name: string) => (await retention().list(test.admin)).find((one) => one.name === name);

describe.each(knowledgeEngines())("retention on %s", (_, openOn) => {
  beforeEach(async () => {
    now = Date.now();
    test = await openOn({ clock: { now: () => now }, erasureFenceMs: 0 });
  });
  afterEach(() => test[Symbol.asyncDispose]());

  it("R-AGT-63 the defaults are 30, 90, 180 and 90 days, 90 for the trash and 7 for earlier versions, for everyone to read", async () => {
    const rules = await retention().list(test.as("erin"));
    expect(Object.fromEntries(rules.map(({ name, seconds }) => [name, seconds]))).toMatchObject({
      "workflow-states": 30 * day,
      "agent-memories": 90 * day,
      "agent-metrics": 180 * day,
      "tool-invocations": 90 * day,
      trash: 90 * day,
      "vector-versions": 7 * day,
    });
    expect(await retention().get(test.as("erin"), "agent-memories")).toMatchObject({
      kind: "container",
      changeable: true,
      default_seconds: 90 * day,
    });
  });

  it("R-AGT-63 R-AGT-51 a shorter lifetime is previewed, confirmed, and applies to what exists, in this workspace alone", async () => {
    await remember("old");
    await remember("own", 365 * day);
    await remember("theirs", undefined, "other");
    advance(40 * day * 1000);
    await remember("new");
    const counted = await retention().preview(test.admin, "agent-memories", 30 * day);
    expect(counted).toMatchObject({ current_seconds: 90 * day, would_expire: 1, held: 0, would_stay: 1 });
    expect(counted.examples).toHaveLength(1);
    // Counting changes nothing, and neither does a change that nobody previewed.
    await failure(retention().set(test.admin, "agent-memories", { seconds: 30 * day }), "CONFLICT");
    const other = await retention().preview(test.admin, "agent-memories", 29 * day);
    await failure(
      retention().set(test.admin, "agent-memories", { seconds: 30 * day, confirmation: other.confirmation }),
      "CONFLICT",
    );
    expect(await contents()).toEqual(["from new", "from old", "from own"]);
    const { confirmation } = counted;
    const changed = await retention().set(test.admin, "agent-memories", { seconds: 30 * day, confirmation });
    expect(changed).toMatchObject({ seconds: 30 * day, default_seconds: 90 * day });
    expect(await contents()).toEqual(["from new", "from own"]);
    expect(await contents("other")).toEqual(["from theirs"]);
    // A longer one needs no preview.
    expect(await retention().set(test.admin, "agent-memories", { seconds: 200 * day })).toMatchObject({
      seconds: 200 * day,
    });
  });

  it("R-AGT-63 R-AGT-69 a preview says what a hold keeps, and a confirmation ends after an hour", async () => {
    await remember("held");
    await remember("free");
    await test.pinakes.governance.holds.create(test.admin, { scope: { type: "user", id: "held" }, reason: "case 7" });
    advance(40 * day * 1000);
    const counted = await retention().preview(test.admin, "agent-memories", 30 * day);
    expect(counted).toMatchObject({ would_expire: 2, held: 1 });
    advance((governanceLimits.confirmationSeconds + 1) * 1000);
    await failure(
      retention().set(test.admin, "agent-memories", { seconds: 30 * day, confirmation: counted.confirmation }),
      "CONFLICT",
    );
  });

  it("R-AGT-63 the trash has a lifetime in each workspace, which later deletes follow", async () => {
    const place = await newPlace(test);
    const at = [test.admin, place.repository, place.collection] as const;
    const { confirmation } = await retention().preview(test.admin, "trash", 2 * day);
    await retention().set(test.admin, "trash", { seconds: 2 * day, confirmation });
    const job = await test.knowledge.collections.delete(...at, {});
    await until(async () => (await test.knowledge.jobs.get(test.admin, job.job_id)).status === "succeeded");
    const { deleted_at, purge_at } = await test.knowledge.collections.get(...at, { deleted: true });
    expect(Date.parse(purge_at as string) - Date.parse(deleted_at as string)).toBe(2 * day * 1000);
    expect(await test.knowledge.trashDaysOf(test.admin)).toBe(2);
    expect(await test.knowledge.trashDaysOf(test.as("boss", { tenant: "other", role: "admin" }))).toBe(90);
  });

  it("R-AGT-63 the workspace's own containers too: the rest of their definition stays", async () => {
    const { containers } = test.pinakes.state;
    await containers.put(test.admin, "orders", {
      partition_key: "/owner",
      indexes: { byTag: { partition: ["tag"], sort: ["at"] } },
      default_ttl: -1,
    });
    const before = await containers.get(test.admin, "orders");
    const { confirmation } = await retention().preview(test.admin, "orders", 60);
    await retention().set(test.admin, "orders", { seconds: 60, confirmation });
    const { etag: _after, ...after } = await containers.get(test.admin, "orders");
    const { etag: _before, ...rest } = before;
    expect(after).toEqual({ ...rest, default_ttl: 60 });
  });

  it("refuses what is no lifetime, what a setting governs, what does not exist, and who is no admin", async () => {
    for (const seconds of [0, -2, 1.5, limits.ttlSecondsMax + 1, Number.NaN, "30" as never])
      await failure(retention().preview(test.admin, "agent-memories", seconds), "INVALID");
    const max = governanceLimits.trashDaysMax * day;
    for (const seconds of [null, -1, max + 1])
      await failure(retention().preview(test.admin, "trash", seconds), "INVALID");
    expect(await retention().set(test.admin, "trash", { seconds: max })).toMatchObject({ seconds: max });
    expect(await retention().preview(test.admin, "agent-memories", limits.ttlSecondsMax)).toMatchObject({
      would_expire: 0,
    });
    await failure(retention().preview(test.admin, "vector-versions", day), "NOT_SUPPORTED");
    await failure(retention().get(test.admin, "nothing-like-that"), "NOT_FOUND");
    await failure(retention().set(test.as("erin"), "trash", { seconds: max }), "FORBIDDEN");
    await failure(retention().preview(test.as("erin"), "trash", day), "FORBIDDEN");
    expect(await rule("vector-versions")).toMatchObject({
      changeable: false,
      setting: "PINAKES_VECTOR_RETENTION_DAYS",
    });
  });
});

it("R-AGT-63 the guide's table of lifetimes is that of the code", async () => {
  await using opened = await openTestPinakes("memory");
  await createApp(opened.pinakes);
  const guide = readFileSync(new URL("../../../../docs/governance.md", import.meta.url), "utf8");
  const wanted = lifetimeRows(opened.pinakes.items, opened.admin.scope);
  expect(guide.split("\n").filter((line) => wanted.includes(line))).toEqual(wanted);
});
