/**
 * Transactions: a change whose name is its operation's id. The change stays in the log as the memory that it was done, so that the
 * same again is nothing and another one under the same name an error.
 */
import { UserError, type SessionHistoryTransaction, type SessionHistoryTransactionArgs } from "@openai/agents-core";
import type { JsonObject } from "@pinakes/client";
import { canonicalJson, encodeItem } from "./item-codec.ts";
import { isVoid } from "./log/entries.ts";
import { codeOf, type Change, type ChangeOutcome, type LogView, type SessionLog } from "./log/session-log.ts";
import { attemptsMax, pause, tooBusy } from "./log/until-applied.ts";
import { sha256 } from "./sha256.ts";

export async function applyTransaction(
  log: SessionLog,
  { operationId, transaction }: SessionHistoryTransactionArgs,
): Promise<void> {
  const parts = partsOf(transaction);
  const id = `operation-${await sha256(operationId)}`;
  const digest = await sha256(canonicalJson([transaction.type, parts.expected, parts.items]));
  const group = `${id}-${digest.slice(0, 8)}`;
  let met = 0;
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const earlier = await earlierAttempt(log, id, digest);
    if (earlier === "done") return;
    const view = await log.read(Math.max(1, parts.expected.length));
    const removes = matchSuffix(view, parts.expected);
    if (removes === undefined) {
      // Somebody else may have carried out this very operation since we looked.
      if ((await earlierAttempt(log, id, digest)) === "done") return;
      throw new UserError("Session history suffix no longer matches the transaction precondition.");
    }
    // Adding depends on nothing, so it may come anywhere; see until-applied.ts for the rest.
    const head = parts.expected.length === 0 ? null : Math.max(view.head, met, earlier);
    const outcome = await tryChange(log, { id, removes, group, items: parts.items, digest }, head);
    if (outcome?.counts === true) {
      await log.tidy([...removes, ...view.garbage]);
      return;
    }
    met = Math.max(met, outcome?.head ?? 0);
    await pause(attempt);
  }
  throw tooBusy();
}

interface Parts {
  readonly expected: readonly JsonObject[];
  readonly items: readonly JsonObject[];
}

function partsOf(transaction: SessionHistoryTransaction): Parts {
  if (transaction.type === "append_items") return { expected: [], items: transaction.items.map(encodeItem) };
  if (transaction.type === "replace_suffix")
    return { expected: transaction.expectedSuffix.map(encodeItem), items: transaction.replacement.map(encodeItem) };
  throw new UserError("Unsupported session history transaction type.");
}

/** A void change of this name was an earlier attempt: it is removed, and its sequence number returned; 0 without one. */
async function earlierAttempt(log: SessionLog, id: string, digest: string): Promise<"done" | number> {
  const stored = await log.find(id);
  if (stored?.kind !== "change") return 0;
  if (stored.digest !== digest)
    throw new UserError("Session history operation was already applied with a different transaction.");
  if (!isVoid(stored)) return "done";
  await log.remove(id, stored._etag);
  return stored.sequence;
}

/** The ids of the items expected at the end; undefined if others are there. */
function matchSuffix(view: LogView, expected: readonly JsonObject[]): readonly string[] | undefined {
  if (expected.length === 0) return [];
  const suffix = view.items.slice(-expected.length);
  const matches =
    suffix.length === expected.length &&
    suffix.every(({ item }, i) => canonicalJson(item) === canonicalJson(expected[i]));
  return matches ? suffix.map(({ id }) => id) : undefined;
}

/** Undefined if another process running the same operation wrote the change first. */
async function tryChange(log: SessionLog, change: Change, head: number | null): Promise<ChangeOutcome | undefined> {
  try {
    return await log.change(change, head);
  } catch (error) {
    if (codeOf(error) === "CONFLICT") return undefined;
    throw error;
  }
}
