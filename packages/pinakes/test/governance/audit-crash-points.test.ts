/**
 * A process that dies, or whose call fails or loses its answer, at any call of append, seal and checkpoint. After it every acknowledged
 * entry is in the tree under its index, once, the tree verifies, and what was left half done is completed.
 */
import { expect, describe, it } from "vitest";
import { openMemoryItems } from "../../src/drivers/memory/index.ts";
import type { AuditLog } from "../../src/governance/audit-log/audit-log.ts";
import type { ItemStore } from "../../src/ports/item-store.ts";
import { Calls, watchedItems, type FaultKind } from "../vectors/support/calls.ts";
import { admin, event, openAudit, verified } from "./support/audit-logs.ts";

const auth = admin("crash");
const { scope } = auth.caller;
/** Just short of a bundle, so that the scenario completes one. */
const before = 254;

async function storeWithEntries(): Promise<ItemStore> {
  const items = await openMemoryItems();
  const audit = await openAudit(items);
  await Promise.all(Array.from({ length: before }, (_, i) => audit.append(scope, event({ fields: { jid: `b${i}` } }))));
  await audit.checkpoints.sign(audit.scopeOf(scope.tenant));
  await audit.close();
  return items;
}

/** What the process does; `acknowledged` gets each entry that it was told is durable. */
async function scenario(audit: AuditLog, acknowledged: Map<number, string>): Promise<void> {
  const append = async (name: string, userId: string): Promise<void> => {
    const index = await audit.append(scope, event({ userId, fields: { jid: name } }));
    acknowledged.set(index as number, name);
  };
  const own = audit.scopeOf(scope.tenant);
  const step = (work: Promise<unknown>) => work.catch(() => {});
  await step(append("one", "ann"));
  await step(Promise.all([append("two", "zoe"), append("three", "ann"), append("four", "ann")]));
  await step(audit.seal(own));
  await step(append("five", "ann"));
  await step(audit.checkpoints.sign(own));
}

async function faultAt(n: number, kind: FaultKind): Promise<boolean> {
  const items = await storeWithEntries();
  const calls = new Calls();
  calls.add({ at: n, kind });
  const acknowledged = new Map<number, string>();
  const audit = await openAudit(watchedItems(items, calls));
  await Promise.race([scenario(audit, acknowledged), calls.died]);
  const name = calls.names[n];
  if (name === undefined) return false;
  const at = `${kind} at call ${n}, ${name}`;
  const other = await openAudit(items);
  for (const sealed of [false, true]) {
    const { ok, bytes } = await verified(other, auth);
    expect(ok, at).toBe(true);
    const jobs = bytes
      .toString()
      .split("\n")
      .slice(1, -1)
      .map((line) => (JSON.parse(line) as { entry: { ids: { job: string } } }).entry.ids.job);
    for (const [index, job] of acknowledged) expect(jobs[index], at).toBe(job);
    expect(new Set(jobs).size, at).toBe(jobs.length);
    expect(jobs.length, at).toBeGreaterThanOrEqual(before + acknowledged.size);
    if (!sealed) await other.seal(other.scopeOf(scope.tenant));
  }
  // Nothing of a sealed bundle is kept twice.
  const size = before + acknowledged.size;
  const { items: left } = await items.query(other.scopeOf(scope.tenant), "audit-log", {
    equals: { log: "log" },
    range: { prefix: "b-" },
  });
  if (size >= 256) expect(left.length, at).toBeLessThanOrEqual(4);
  return true;
}

describe("every call of append, seal and checkpoint", () => {
  it.each(["crash-before", "crash-after", "error-before", "error-after"] as const)(
    "%s: no acknowledged entry is lost or doubled, and the tree verifies",
    async (kind) => {
      let n = 0;
      while (await faultAt(n, kind)) n += 1;
      expect(n).toBeGreaterThan(15);
    },
  );
});
