/** An entry of the log: its fields in order, and the line of JSON whose bytes are the leaf. */
import { auditFaces, auditOutcomes, auditVerbs } from "@pinakes/client";
import { z } from "zod";
import { PinakesError } from "../../domain/errors.ts";
import { invariant } from "../../domain/invariant.ts";
import { auditLimits } from "./limits.ts";

const formatVersion = 1;

/** In the order of the line. */
const LeafEntry = z.strictObject({
  v: z.literal(formatVersion),
  at: z.iso.datetime(),
  verb: z.enum(auditVerbs),
  action: z.string(),
  outcome: z.enum(auditOutcomes),
  status: z.int().nullable(),
  /** Tokens of affected users. */
  actor: z.string(),
  for: z.string().optional(),
  role: z.string().nullable(),
  via: z.string().nullable(),
  key: z.string().nullable(),
  resource: z.string(),
  ids: z.record(z.string(), z.string()),
  face: z.enum(auditFaces),
  /** Address, user agent and request id, encrypted under the salt of the actor. */
  origin: z.string(),
});
export type LeafEntry = z.output<typeof LeafEntry>;

export function leafOf(entry: Omit<LeafEntry, "v">): string {
  const ordered = Object.fromEntries(
    Object.keys(LeafEntry.shape).flatMap((name) => {
      const value = name === "v" ? formatVersion : entry[name as keyof typeof entry];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const leaf = JSON.stringify(ordered);
  invariant(
    Buffer.byteLength(leaf) <= auditLimits.leafBytesMax,
    "INTERNAL",
    `an entry of the audit log is longer than ${auditLimits.leafBytesMax} bytes.`,
  );
  return leaf;
}

export function readLeaf(leaf: string): LeafEntry {
  const result = LeafEntry.safeParse(JSON.parse(leaf));
  if (result.success) return result.data;
  throw new PinakesError("CORRUPT", `An entry of the audit log does not have format version ${formatVersion}.`, {
    cause: result.error,
  });
}
