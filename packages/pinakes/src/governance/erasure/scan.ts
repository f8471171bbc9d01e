/** Walks every row of a workspace and says what an erasure does with it. Reads only. */
import type { Scope, SystemScope } from "../../domain/scope.ts";
import type { WalkedItem } from "../../ports/item-erasure.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import type { HoldMatcher } from "../holds/hold-matcher.ts";
import type { Links } from "./links.ts";
import { linkingContainers } from "./links.ts";
import type { Naming } from "../subjects/naming.ts";
import { everything, rowOf, stores, type StoreRow, type Verdict } from "./stores.ts";

export interface ScanContext {
  readonly items: ItemStore;
  readonly system: SystemScope;
  readonly naming: Naming;
  readonly workspace: string;
  readonly holds: readonly HoldMatcher[];
  readonly links: Links;
  readonly since: number;
  readonly signal: AbortSignal;
}

export interface StorePlace {
  readonly container: string;
  readonly row: StoreRow;
  readonly scope: Scope;
}

export interface Hit {
  readonly row: WalkedItem;
  readonly verdict: Verdict;
}

export interface PageOfHits {
  readonly hits: readonly Hit[];
  readonly held: number;
  /** Ids of the holds that protect them. */
  readonly holds: readonly string[];
}

/** The containers of the store in the order of the table. */
export async function placesOf({ items, system, workspace }: ScanContext): Promise<readonly StorePlace[]> {
  const found = (await items.erasure.containers()).map(({ name }) => name);
  const rank = (row: StoreRow): number => stores.indexOf(row);
  return found
    .map((container) => {
      const row = rowOf(container);
      return { container, row, scope: system.forTenant(row.tenant ?? workspace) };
    })
    .toSorted((a, b) => rank(a.row) - rank(b.row));
}

/** Collects the sessions and workflows that link to rows without the subject's name. Runs before anything is deleted. */
export async function findLinks(context: ScanContext, places: readonly StorePlace[]): Promise<void> {
  if (context.naming.subject.type !== "user") return;
  for (const { container, scope } of places) {
    if (!linkingContainers.includes(container)) continue;
    for await (const row of rowsOf(context, container, scope)) context.links.notice(container, row, context.naming);
  }
}

/** Page by page, so that a step can remove what one page found before the next is read. */
export async function* hitsOf(context: ScanContext, place: StorePlace): AsyncGenerator<PageOfHits> {
  const { items, signal } = context;
  const decide = decisionOf(context, place.row);
  if (decide === undefined) return;
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    signal.throwIfAborted();
    const page = await items.erasure.walk(place.scope, place.container, { cursor });
    const found = page.rows.flatMap((row): Hit[] => {
      const verdict = decide(row, context);
      return verdict === undefined ? [] : [{ row, verdict }];
    });
    const keeping = found.map((hit) => keepersOf(context, place, hit));
    const hits = found.filter((_, i) => keeping[i]?.length === 0);
    const holds = [...new Set(keeping.flat())];
    if (found.length > 0) yield { hits, held: found.length - hits.length, holds };
    ({ cursor } = page);
  }
}

function decisionOf({ naming }: ScanContext, row: StoreRow): StoreRow["decide"] {
  if (row.outlives === true) return undefined;
  if (naming.subject.type !== "workspace" || row.tenant !== undefined || row.store === "audit-subjects")
    return row.decide;
  return everything;
}

function keepersOf({ holds, naming }: ScanContext, { container }: StorePlace, { row }: Hit): readonly string[] {
  if (holds.length === 0) return [];
  const { type, id } = naming.subject;
  // A copy of what expired under a hold has the document inside.
  const { held, container: from } = row.document;
  const seen =
    container === "held-items"
      ? { container: from as string, document: held as typeof row.document }
      : { container, document: row.document };
  return holds.filter((hold) => hold.covers(type, id) || hold.matches(seen)).map(({ holdId }) => holdId);
}

async function* rowsOf({ items, signal }: ScanContext, container: string, scope: Scope): AsyncGenerator<WalkedItem> {
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    signal.throwIfAborted();
    const page = await items.erasure.walk(scope, container, { cursor });
    yield* page.rows;
    ({ cursor } = page);
  }
}

/** Whether at least one row names the subject: stops at the first. */
export async function namesAnything(context: ScanContext): Promise<boolean> {
  for (const place of await placesOf(context)) {
    // Stored responses are removed for every subject: they name nobody in particular.
    if (place.container === "http-idempotency") continue;
    for await (const { hits, held } of hitsOf(context, place)) if (hits.length + held > 0) return true;
  }
  return false;
}
