/** Data of incarnations that no record names, in each store of this process. It is quarantined after it has been unknown for a day. */
import { isoTime } from "../knowledge/records/times.ts";
import type { AuditRun } from "./audit-run.ts";
import { auditLimits } from "./limits.ts";
import { isTooMuch } from "./too-much.ts";

export async function auditIncarnations(run: AuditRun): Promise<void> {
  for (const store of run.lifecycle.listing) {
    let cursor: string | undefined;
    do {
      run.signal.throwIfAborted();
      cursor = await auditIncarnationsPage(run, { store, cursor, remove: run.repair });
    } while (cursor !== undefined);
  }
}

/** Returns the cursor of the next page; undefined at the end. */
export async function auditIncarnationsPage(
  run: AuditRun,
  at: { readonly store: string; readonly cursor: string | undefined; readonly remove: boolean },
): Promise<string | undefined> {
  const { findings, deps } = run;
  const page = await reconciled(run, at);
  findings.checked.lives += page.incarnations;
  for (const { store, incarnation, rows, since, removed, quarantined } of page.orphans) {
    // Its record may be so recent that an index does not show it yet.
    if (deps.clock.now() - since < auditLimits.suspectMs && !removed && !quarantined) {
      findings.wait();
      continue;
    }
    const repaired = removed || quarantined;
    if (quarantined) findings.quarantine();
    const goes = repaired ? "" : ` It is quarantined after it has been unknown for a day, since ${isoTime(since)}.`;
    findings.add({
      kind: "unknown_incarnation",
      store,
      incarnation,
      detail: `${rows} rows of a collection that no record names.${goes}`,
      repaired,
    });
  }
  return page.cursor;
}

/** If most collections of a store are unknown, the records are more likely from another time than the data orphaned. */
async function reconciled(
  { lifecycle, scope, findings, forced }: AuditRun,
  at: { readonly store: string; readonly cursor: string | undefined; readonly remove: boolean },
) {
  if (!at.remove || forced) return lifecycle.reconcilePage(scope, at);
  const look = await lifecycle.reconcilePage(scope, { ...at, remove: false });
  if (look.orphans.length === 0) return look;
  if (!isTooMuch(look.orphans.length, look.incarnations)) return lifecycle.reconcilePage(scope, at);
  const detail = `${look.orphans.length} of ${look.incarnations} collections in the store are named by no record: too many to remove.`;
  findings.refuse({ store: at.store, kinds: ["unknown_incarnation"], detail });
  return look;
}
