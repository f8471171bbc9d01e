/**
 * What the writers of a soak write, derived from the seed alone, so that a killed process sends the same delta again.
 *
 * Each delta writes its mark into all rows of a group (or removes them all), and its number into the row of its lane. So in every state a
 * group's rows agree with each other, and a lane's row is at least as new as the lane's marks: anything else is a torn read.
 */
import { isDeepStrictEqual } from "node:util";
import { tenantScope } from "../../../src/domain/scope.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import { patchMetadata } from "../../../src/vectors/log/rows.ts";
import type { AppendInput, UpsertRow } from "../../../src/vectors/index.ts";
import { Random } from "../simulation/random.ts";

export const collection = "soak";
export const scope = tenantScope("soak");
export const settings = { dims: 8, language: "none" } as const;
export const groups = 10;
export const groupRows = 5;

/** Lane 0 writes one delta, the first of all: every group has rows, and every field is known. */
export function draft(seed: number, lane: number, n: number): AppendInput & { readonly deltaId: string } {
  const deltaId = `lane${lane}.${n}`;
  const random = new Random(seed + lane * 7_919 + n * 104_729);
  const mark = `${lane}.${n}`;
  const upsert: UpsertRow[] = [];
  const patch: { id: string; metadata: JsonObject }[] = [];
  const deletes: string[] = [];
  const chosen = n === 0 && lane === 0 ? Array.from({ length: groups }, (_, group) => group) : pickGroups(random);
  for (const group of chosen) {
    const drawn = random.next();
    const ids = groupIds(group);
    // The first group is never removed, so that there are always rows.
    if (drawn < 0.15 && group > 0 && lane > 0) deletes.push(...ids);
    else if (drawn < 0.4 && lane > 0)
      for (const id of ids) patch.push({ id, metadata: { mark, patched: drawn < 0.2 ? null : n } });
    else
      for (const id of ids)
        upsert.push({
          id,
          vector: vectorOf(lane, n, group),
          text: `mark ${mark}`,
          metadata: { kind: "group", group, mark, base: mark },
        });
  }
  const own = `lane.${lane}`;
  if (n % 3 === 2) patch.push({ id: own, metadata: { n } });
  else
    upsert.push({
      id: own,
      vector: vectorOf(lane, n, groups),
      text: `lane ${lane}`,
      metadata: { kind: "lane", lane, n },
    });
  return { deltaId, upsert, patch, delete: deletes };
}

export function groupIds(group: number): string[] {
  return Array.from({ length: groupRows }, (_, row) => `group.${group}.${row}`);
}

function pickGroups(random: Random): number[] {
  const first = random.int(0, groups - 1);
  return random.chance(0.5) ? [first] : [first, (first + random.int(1, groups - 1)) % groups];
}

function vectorOf(lane: number, n: number, group: number): number[] {
  return [group + 1, lane + 1, (n % 101) + 1, Math.floor(n / 101) + 1, 1, 2, 3, 4];
}

export interface PlainRow {
  readonly id: string;
  readonly vector: ArrayLike<number>;
  readonly text?: string;
  readonly metadata: JsonObject;
}

/** The rows after these deltas, in this order. */
export function replay(deltas: Iterable<AppendInput>): Map<string, PlainRow> {
  const rows = new Map<string, PlainRow>();
  for (const { upsert = [], patch = [], delete: deletes = [] } of deltas) {
    for (const row of upsert) rows.set(row.id, { ...row, metadata: row.metadata ?? {} });
    for (const { id, metadata } of patch) {
      const row = rows.get(id);
      if (row !== undefined) rows.set(id, { ...row, metadata: patchMetadata(row.metadata, metadata) });
    }
    for (const id of deletes) rows.delete(id);
  }
  return rows;
}

/** All rows of one state agree. Returns how far each lane is in it. */
export function checkState(rows: Iterable<PlainRow>): Map<number, number> {
  const byId = new Map<string, PlainRow>();
  for (const row of rows) {
    if (byId.has(row.id))
      throw new Broken(`one state has the row ${row.id} twice: ${text(row)} and ${text(byId.get(row.id))}`);
    byId.set(row.id, row);
  }
  const lanes = new Map<number, number>();
  for (const { metadata } of byId.values())
    if (metadata["kind"] === "lane") lanes.set(metadata["lane"] as number, metadata["n"] as number);
  for (let group = 0; group < groups; group += 1) {
    checkGroup(
      group,
      groupIds(group).flatMap((id) => byId.get(id) ?? []),
      lanes,
    );
  }
  return lanes;
}

/** All rows of a group, or none, and all with the same mark; `lanes` of the same state, if known. */
export function checkGroup(group: number, rows: readonly PlainRow[], lanes?: ReadonlyMap<number, number>): void {
  if (rows.length !== 0 && rows.length !== groupRows)
    throw new Broken(
      `group ${group} has ${rows.length} of its ${groupRows} rows in one state: ${rows.map(text).join(" ")}`,
    );
  if (group === 0 && rows.length === 0) throw new Broken("group 0, which is never removed, is missing");
  const [first] = rows;
  if (first === undefined) return;
  for (const row of rows) {
    const same =
      row.text === first.text &&
      isDeepStrictEqual(row.metadata, first.metadata) &&
      isDeepStrictEqual([...toArray(row)], [...toArray(first)]);
    if (!same || row.text !== `mark ${String(row.metadata["base"])}` || row.metadata["group"] !== group)
      throw new Broken(`torn read: rows of group ${group} disagree in one state: ${rows.map(text).join(" ")}`);
  }
  if (lanes === undefined) return;
  for (const mark of [first.metadata["mark"], first.metadata["base"]]) {
    const [lane = 0, n = 0] = String(mark).split(".").map(Number);
    const shown = lanes.get(lane) ?? -1;
    if (shown < n)
      throw new Broken(`torn read: group ${group} shows delta ${n} of lane ${lane}, the lane's own row only ${shown}`);
  }
}

/** The differences between the model and the store. */
export function difference(expected: ReadonlyMap<string, PlainRow>, found: readonly PlainRow[]): string[] {
  const seen = new Map(found.map((row) => [row.id, row]));
  const different: string[] = [];
  for (const id of new Set([...expected.keys(), ...seen.keys()])) {
    const [want, have] = [expected.get(id), seen.get(id)];
    if (text(want) !== text(have)) different.push(`row ${id}: expected ${text(want)}, found ${text(have)}`);
  }
  if (seen.size !== found.length) different.push(`${found.length - seen.size} rows occur twice`);
  return different;
}

function text(row: PlainRow | undefined): string {
  if (row === undefined) return "nothing";
  const metadata = Object.fromEntries(Object.entries(row.metadata).sort(([a], [b]) => (a < b ? -1 : 1)));
  return JSON.stringify([row.id, [...toArray(row)], row.text, metadata]);
}

function toArray({ vector }: PlainRow): number[] {
  return Array.from(vector);
}

/** A violated invariant. */
export class Broken extends Error {
  override readonly name = "Broken";
}
