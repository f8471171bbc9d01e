/** Data of lives that no record names, in each store of this process. It goes into quarantine after a day in which it was unknown all the time. */
import { isoTime } from "../knowledge/records/times.ts";
import type { AuditRun } from "./audit-run.ts";
import { auditLimits } from "./limits.ts";
import { isTooMuch } from "./too-much.ts";

export async function auditLives(run: AuditRun): Promise<void> {
  for (const store of run.lifecycle.listing) {
    let cursor: string | undefined;
    do {
      run.signal.throwIfAborted();
      cursor = await auditLivesPage(run, { store, cursor, remove: run.repair });
    } while (cursor !== undefined);
  }
}

/** Tells where the next page begins; undefined at the end. */
export async function auditLivesPage(
  run: AuditRun,
  at: { readonly store: string; readonly cursor: string | undefined; readonly remove: boolean },
): Promise<string | undefined> {
  const { findings, deps } = run;
  const page = await reconciled(run, at);
  findings.checked.lives += page.lives;
  for (const { store, incarnation, rows, since, removed, quarantined } of page.orphans) {
    // Its record may be so young that an index does not show it yet.
    if (deps.clock.now() - since < auditLimits.suspectMs && !removed && !quarantined) {
      findings.wait();
      continue;
    }
    const repaired = removed || quarantined;
    if (quarantined) findings.quarantine();
    const goes = repaired ? "" : ` It goes into quarantine when it was unknown for a day, since ${isoTime(since)}.`;
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

/** Most collections of a store unknown: rather the records are those of another time than the data is left over. */
async function reconciled(
  { lifecycle, scope, findings, forced }: AuditRun,
  at: { readonly store: string; readonly cursor: string | undefined; readonly remove: boolean },
) {
  if (!at.remove || forced) return lifecycle.reconcilePage(scope, at);
  const look = await lifecycle.reconcilePage(scope, { ...at, remove: false });
  if (look.orphans.length === 0) return look;
  if (!isTooMuch(look.orphans.length, look.lives)) return lifecycle.reconcilePage(scope, at);
  const detail = `${look.orphans.length} of ${look.lives} collections in the store are named by no record, which is too many to remove.`;
  findings.refuse({ store: at.store, kinds: ["unknown_incarnation"], detail });
  return look;
}
