/** Exports that were damaged or forged: each is found, and which entry it is. */
import { describe, expect, it } from "vitest";
import { openMemoryItems } from "../../src/drivers/memory/index.ts";
import { verifyExport } from "../../src/governance/audit-log/verify-export.ts";
import { entryLine } from "../../src/governance/audit-log/export-format.ts";
import { admin, event, exportOf, openAudit } from "./support/audit-logs.ts";

const auth = admin("acme");
const items = await openMemoryItems();
const audit = await openAudit(items);
for (let i = 0; i < 9; i += 1)
  await audit.append(auth.caller.scope, event({ fields: { jid: `job-${i}`, rid: "=kb" } }));
const { keys } = audit.checkpoints;
const since = (await audit.checkpoints.sign(audit.scopeOf("acme"))).note;
for (let i = 0; i < 3; i += 1) await audit.append(auth.caller.scope, event({ outcome: "denied" }));

describe.each(["ndjson", "csv"] as const)("an export as %s", (format) => {
  it("verifies whole and in parts", async () => {
    expect(await verifyExport([await exportOf(audit, auth, { format })], { keys, since })).toEqual({
      ok: true,
      export: { origin: "pinakes-audit/store-1/acme", size: 12, first: 0, end: 12, keys, trusted: true },
    });
    for (const [first, end] of [
      [0, 0],
      [3, 7],
      [12, 12],
      [11, 12],
    ] as const)
      expect(await verifyExport([await exportOf(audit, auth, { format, first, end })])).toMatchObject({
        ok: true,
        export: { first, end },
      });
  });

  it("any byte that is changed, anywhere, is found, and in which entry", async () => {
    const whole = await exportOf(audit, auth, { format, first: 2, end: 8 });
    const lines = whole.toString().split("\n");
    const heading = lines.length - 1 - 6;
    const starts = lines.map((_, i) => Buffer.byteLength(lines.slice(0, i).join("\n")) + (i === 0 ? 0 : 1));
    for (let at = 0; at < whole.length; at += 1) {
      const flipped = Buffer.from(whole);
      flipped[at] = (flipped[at] as number) ^ (1 << (at % 8));
      const result = await verifyExport([flipped], { keys });
      const line = starts.findLastIndex((start) => start <= at);
      expect(result.ok, `byte ${at} of line ${line + 1}`).toBe(false);
      // A line end that was changed joins two lines.
      if (line >= heading && whole[at] !== 10 && flipped[at] !== 10)
        expect(result, `byte ${at}`).toMatchObject({ entry: 2 + line - heading });
    }
  });

  it("a line that is missing, doubled, moved or added, and a file that was cut off", async () => {
    const whole = (await exportOf(audit, auth, { format })).toString();
    const lines = whole.split("\n").slice(0, -1);
    const heading = lines.length - 12;
    const check = async (changed: readonly string[]) =>
      verifyExport([Buffer.from(changed.map((line) => `${line}\n`).join(""))], { keys });
    const at = (entry: number) => lines[heading + entry] as string;
    const swapped = lines.with(heading + 4, at(5)).with(heading + 5, at(4));
    expect(await check(lines.toSpliced(heading + 4, 1))).toMatchObject({
      ok: false,
      entry: 4,
      reason: "Entry 4 is missing, or out of order: entry 5 is in its place.",
    });
    expect(await check(lines.toSpliced(heading + 4, 0, at(4)))).toMatchObject({ ok: false, entry: 5 });
    expect(await check(swapped)).toMatchObject({ ok: false, entry: 4 });
    expect(await check([...lines, at(11)])).toMatchObject({ ok: false, entry: 12 });
    expect(await check(lines.slice(0, -1))).toMatchObject({ ok: false, entry: 11 });
    expect(await check(lines.slice(1))).toMatchObject({ ok: false, entry: null });
    expect(await verifyExport([Buffer.from(whole.slice(0, -1))])).toMatchObject({ ok: false });
    expect(await verifyExport([])).toMatchObject({ ok: false, reason: "The file is empty." });
    // Changed with its hash: the root does not fit.
    const forged = JSON.stringify({ ...JSON.parse((await leafAt(3)) as string), outcome: "failed" });
    expect(await check(lines.with(heading + 3, entryLine(3, forged, format)))).toMatchObject({
      ok: false,
      reason: expect.stringContaining("another root"),
    });
  });
});

async function leafAt(index: number): Promise<string | undefined> {
  const line = (await exportOf(audit, auth)).toString().split("\n")[1 + index];
  return line === undefined ? undefined : JSON.stringify((JSON.parse(line) as { entry: object }).entry);
}

it("another instance, another key, another history, a newer checkpoint: refused with the reason", async () => {
  const bytes = await exportOf(audit, auth);
  const append = async (options: Parameters<typeof openAudit>[1], count: number, tenant = "acme") => {
    const other = await openAudit(await openMemoryItems(), options);
    for (let i = 0; i < count; i += 1) await other.append(admin(tenant).caller.scope, event());
    return other.checkpoints.sign(other.scopeOf(tenant));
  };
  const foreignKey = await append({ seeds: () => [Buffer.alloc(32, 8).toString("base64")] }, 2);
  const refusals: [object, string][] = [
    [{ keys: foreignKey.keys }, "not signed by a key that is trusted"],
    [{ keys, since: foreignKey.note }, "not signed by a key that is trusted"],
    [{ keys, since: (await append({ storeId: "store-2" }, 2)).note }, "of another log"],
    [{ keys, since: (await append({}, 2, "other")).note }, "of another log"],
    [{ keys, since: (await append({}, 5)).note }, "history was edited"],
    [{ keys, since: (await append({}, 13)).note }, "it was shortened"],
    [{ keys: ["nonsense"] }, "is not a public key"],
    [{ keys, since: "nonsense" }, "not signed"],
  ];
  for (const [options, reason] of refusals)
    expect(await verifyExport([bytes], options)).toMatchObject({ ok: false, reason: expect.stringContaining(reason) });
});

it("a key is rotated: checkpoints carry both signatures, and who knows either verifies", async () => {
  const [old, next] = [7, 9].map((n) => Buffer.alloc(32, n).toString("base64")) as [string, string];
  const store = await openMemoryItems();
  const first = await openAudit(store, { seeds: () => [old] });
  await first.append(auth.caller.scope, event());
  const before = await first.checkpoints.sign(first.scopeOf("acme"));
  const both = await openAudit(store, { seeds: () => [next, old] });
  const bytes = await exportOf(both, auth);
  const last = await openAudit(store, { seeds: () => [next] });
  for (const key of both.checkpoints.keys)
    expect(await verifyExport([bytes], { keys: [key] })).toMatchObject({ ok: true });
  expect(await verifyExport([bytes], { keys: before.keys, since: before.note })).toMatchObject({ ok: true });
  expect(await verifyExport([await exportOf(last, auth)], { keys: before.keys })).toMatchObject({ ok: false });
});
