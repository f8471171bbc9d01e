/**
 * Names in SQS. Each tenant's queue is a separate SQS queue: SQS cannot filter a receive by group or count by tenant, so a shared one would
 * return a tenant's messages to others and reveal their number. The group contains the tenant once more.
 */
import { createHash } from "node:crypto";
import { invalid } from "../../domain/errors.ts";

const readableChars = 24;
const hashChars = 24;
const groupCharsMax = 128;

export function checkPrefix(prefix: string): string {
  if (/^[A-Za-z0-9_-]{1,20}$/.test(prefix)) return prefix;
  throw invalid(`prefix: must be 1–20 letters, digits, "-" or "_", got ${JSON.stringify(prefix)}.`);
}

/** 80 characters at most, the limit of SQS. The hash makes it unique, the rest is for people. */
export function sqsNames(prefix: string, tenant: string, queue: string): { main: string; dead: string } {
  const base = `${prefix}-${queue.slice(0, readableChars)}-${hash([tenant, queue]).slice(0, hashChars)}`;
  return { main: `${base}.fifo`, dead: `${base}-dead.fifo` };
}

/** No tenant contains "/" or "~", so two groups never share a name. */
export function sqsGroup(tenant: string, group: string): string {
  const plain = `${tenant}/${group}`;
  return plain.length <= groupCharsMax && /^[A-Za-z0-9._/-]+$/.test(plain) ? plain : `~${hash([tenant, group])}`;
}

/** Per group, as on the item store; SQS itself deduplicates over the whole queue. */
export function sqsDedupId(group: string, dedupId: string): string {
  return hash([group, dedupId]);
}

function hash(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
