/** What was planted in every store is gone from the raw bytes of all files, and what others stored is there. */
import { beforeAll, describe, expect, it } from "vitest";
import { checkReceipt } from "../../src/governance/index.ts";
import { openTestPinakes, uploaded } from "../knowledge/support/test-pinakes.ts";
import { plant, today, type Planted, type Shared } from "./support/plant.ts";
import { foundIn } from "./support/raw-bytes.ts";
import { forAllTests } from "../support/for-tests.ts";

let erin: Planted;
let otto: Planted;
const shared: Shared = { repository: "kb", collection: "" };

const test = forAllTests(() => openTestPinakes("sqlite", { erasureFenceMs: 0 }));
beforeAll(async () => {
  await test.knowledge.repositories.create(test.admin, { repository_id: "kb" });
  const { collection_id } = await test.knowledge.collections.create(test.admin, "kb", { name: "Shared" });
  Object.assign(shared, { collection: collection_id });
  erin = await plant(test, shared, "erin");
  otto = await plant(test, shared, "otto", 2);
});

describe("the erasure of a user, with SQLite and files", () => {
  it("R-AGT-65 R-AGT-67 a dry run counts what names the user in each store, and changes nothing", async () => {
    const counted = await test.pinakes.governance.erasures.request(test.admin, {
      subject: { type: "user", id: "erin" },
      dry_run: true,
    });
    expect(counted).toMatchObject({ state: "counted", dry_run: true, receipt_id: null });
    const found = Object.fromEntries(counted.stores.map(({ store, found: count }) => [store, count]));
    expect(found).toMatchObject({ "agent-metrics": 5, responses: 1, "identity-keys": 1, "mcp-sessions": 1 });
    expect(found["agent-memories"]).toBeGreaterThanOrEqual(10);
    expect(foundIn(test.dir, erin.canaries).length).toBeGreaterThan(0);
  });

  it("R-AGT-64 R-AGT-66 R-AGT-68 afterwards no byte of it is in any file, totals are equal, and others' data is there", async () => {
    expect(erin.vectors.length).toBeGreaterThan(3);
    const query = {
      from: `${today}T00:00:00.000Z`,
      to: `${today}T23:59:59.999Z`,
      group_by: ["agent_id", "metric_type"],
      aggregates: ["count", "sum"],
    };
    const totals = () => test.pinakes.state.metrics.aggregate(test.admin, query as never);
    const before = await totals();
    const { erasure_id } = await test.pinakes.governance.erasures.request(test.admin, {
      subject: { type: "user", id: "erin" },
    });
    const done = await test.pinakes.governance.erasures.wait(test.admin, erasure_id);
    expect(done).toMatchObject({ state: "done_live", error: null });
    expect(done.stores.reduce((sum, { remaining }) => sum + (remaining ?? 0), 0)).toBe(0);
    const after = await totals();
    expect(JSON.stringify(after)).toEqual(JSON.stringify(before));
    const receipt = await test.pinakes.governance.erasures.receipt(test.admin, erasure_id);
    expect(checkReceipt(receipt.jws, receipt.public_key)).toMatchObject({ valid: true });
    expect(JSON.stringify(receipt.content)).not.toContain("erin");
    expect(receipt.content).toMatchObject({
      state: "done_live",
      verified: { remaining: 0 },
      last_backup_expires_at: null,
    });
    // In the checkpoint of another's workflow the message is gone, and the rest stays.
    expect(
      await uploaded({ knowledge: test.knowledge, caller: test.admin, ...shared }, "after.md", "Still works."),
    ).toMatchObject({ status: "indexed" });
    await test.pinakes.close();
    expect(foundIn(test.dir, [...erin.canaries, ...erin.vectors])).toEqual([]);
    expect(foundIn(test.dir, ["session-erin-1", "session-erin-2"])).toEqual([]);
    const missing = otto.canaries.filter((one) => foundIn(test.dir, [one]).length === 0);
    expect(missing.filter((one) => !/canaryotto(?:expired|changed|said|gone|deleted|old)/.test(one))).toEqual([]);
  });
});
