/** Data of lives that no record names, in each store of this process. It goes after a day in which it was unknown all the time. */
import { isoTime } from "../model/times.ts";
import type { AuditRun } from "./audit-run.ts";
import { auditLimits } from "./limits.ts";

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
  const { lifecycle, scope, findings, parts } = run;
  const page = await lifecycle.reconcilePage(scope, at);
  findings.checked.lives += page.lives;
  for (const { store, incarnation, rows, since, removed } of page.orphans) {
    // Its record may be so young that an index does not show it yet.
    if (parts.clock.now() - since < auditLimits.suspectMs && !removed) {
      findings.wait();
      continue;
    }
    const goes = removed ? "" : ` It goes when it was unknown for a day, since ${isoTime(since)}.`;
    findings.add({ kind: "unknown_incarnation", store, incarnation, detail: `${rows} rows of a collection that no record names.${goes}`, repaired: removed });
  }
  return page.cursor;
}
