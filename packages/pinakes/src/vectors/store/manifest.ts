/** A manifest: one state of a collection, as the files it consists of. Immutable, hash-chained (RFC 0001, "Manifest"). */
import { vectorMetrics } from "@pinakes/client";
import { hash } from "node:crypto";
import { z } from "zod";
import { PinakesError } from "../../domain/errors.ts";

const count = z.int().min(0);
const sum = z.string().regex(/^[0-9a-f]{32}$/);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const deletions = z.object({ key: z.string(), offset: count, bytes: count, sha256, count, sum });
const segment = z.object({
  key: z.string(),
  sha256,
  bytes: count,
  headBytes: count,
  rows: count,
  /** Rows that are puts; the rest are tombstones. */
  puts: count,
  minSeq: count,
  maxSeq: count,
  sum,
  deletions: deletions.optional(),
});
const dead = z.object({
  seq: count,
  deltaId: z.string(),
  key: z.string(),
  sha256,
  bytes: count,
  headBytes: count,
  rows: count,
  error: z.string(),
  at: count,
});

const manifestSchema = z.object({
  format: z.literal(1),
  collection: z.string(),
  logId: z.string(),
  version: count,
  commitId: z.string(),
  parent: z.object({ version: count, key: z.string(), sha256 }).nullable(),
  epoch: count,
  reason: z.enum(["init", "fold", "merge", "restore", "repair"]),
  writer: z.string(),
  createdAt: count,
  settings: z.object({ dims: count, metric: z.enum(vectorMetrics), language: z.string() }),
  appliedSeq: count,
  appliedBytes: count,
  /** The deltas that this version applied: they tell a repair what the bucket has already. */
  applied: z.array(z.object({ seq: count, deltaId: z.string(), key: z.string() })),
  dead: z.array(dead),
  discarded: z.array(z.tuple([count, count])),
  segments: z.array(segment),
  stats: z.object({ live: count, bytes: count, liveSum: sum }),
});

export type Manifest = z.output<typeof manifestSchema>;
export type SegmentEntry = Manifest["segments"][number];
export type DeadDelta = Manifest["dead"][number];

export function encodeManifest(manifest: Manifest): { bytes: Uint8Array; sha256: string } {
  const bytes = Buffer.from(JSON.stringify(manifestSchema.parse(manifest)), "utf8");
  return { bytes, sha256: hash("sha256", bytes, "hex") };
}

export function decodeManifest(bytes: Uint8Array, key: string, expected?: string): Manifest {
  const damaged = (what: string, cause?: unknown): PinakesError =>
    new PinakesError("CORRUPT", `The manifest ${key} is corrupt: ${what}. Run fsck on its collection.`, { cause });
  if (expected !== undefined && hash("sha256", bytes, "hex") !== expected)
    throw damaged("its hash differs from the recorded one");
  try {
    return manifestSchema.parse(JSON.parse(Buffer.from(bytes).toString("utf8")));
  } catch (error) {
    throw damaged("it cannot be parsed", error);
  }
}

/** Everything that must be in the bucket for this manifest to be read. */
export function keysOf(manifest: Manifest): string[] {
  return [
    ...manifest.segments.flatMap((entry) => [
      entry.key,
      ...(entry.deletions === undefined ? [] : [entry.deletions.key]),
    ]),
    ...manifest.dead.map((delta) => delta.key),
  ];
}

export function liveOf(entry: SegmentEntry): number {
  return entry.puts - (entry.deletions?.count ?? 0);
}

export function isDiscarded(manifest: Manifest, seq: number): boolean {
  return manifest.discarded.some(([from, to]) => seq >= from && seq <= to);
}
