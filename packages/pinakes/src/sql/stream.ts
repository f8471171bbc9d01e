/**
 * Queries whose results are in index order: one leg after another, or several merged as a stream. A page buffers only what it returns: the
 * cursor contains the position in every leg, as sealed by the item store.
 *
 * If a page ends inside a document (JOIN produces several rows from it), the next page continues at that document, after the rows already
 * returned. Other documents may have been inserted before it meanwhile, so it is identified by its id, not by its position; if it was
 * removed, its remaining rows are gone as well.
 */
import type { JsonObject, JsonValue } from "../domain/json.ts";
import type { Item } from "../ports/item-store.ts";
import { compareUtf8 } from "../domain/json.ts";
import { LegReader, type LegPosition, type Reading } from "./leg-reader.ts";
import { sqlLimits } from "./limits.ts";
import type { RowMaker } from "./rows.ts";
import type { Value } from "./expressions/values.ts";
import type { Window } from "./window.ts";

/** Documents inside which a page ended and that have not reappeared: usually none or one; removed ones are dropped at the end. */
const begunMax = 20;

interface Inside {
  readonly id: string;
  readonly partition: string;
  readonly rows: number;
}

/** Fills the window; returns the position to continue from, or undefined at the end. */
export async function stream(
  reading: Reading,
  maker: RowMaker,
  window: Window,
  state: JsonObject | undefined,
): Promise<JsonObject | undefined> {
  const { plan } = reading;
  const positions = state?.["legs"] as readonly (string | null | false)[] | undefined;
  const readers = plan.access.legs.map((leg, i) => new LegReader(reading, leg, positionOf(positions?.[i])));
  const next = plan.mode === "merge" ? smallest(maker) : inTurn;
  let inside = (state?.["in"] ?? []) as unknown as readonly Inside[];
  while (!window.full) {
    const reader = await next(readers, reading, window);
    if (reader === "end") return undefined;
    if (reader === "pause") break;
    const item = reader.head as Item;
    const identity = maker.identity(item);
    const begun = inside.find(({ id, partition }) => id === identity.id && partition === identity.partition);
    inside = inside.filter((other) => other !== begun);
    const rows = maker.rows(maker.document(item));
    let at = begun?.rows ?? 0;
    for (; at < rows.length && !window.full; at += 1) window.add(maker.project(rows[at] as Value[]));
    if (at > 0 && at < rows.length && !window.over) return placeIn(readers, [...inside, { ...identity, rows: at }]);
    reader.take();
  }
  if (window.over || readers.every(({ done }) => done)) return undefined;
  return placeIn(readers, inside);
}

function placeIn(readers: readonly LegReader[], inside: readonly Inside[]): JsonObject {
  return { legs: readers.map(legState), in: inside.slice(-begunMax) as unknown as JsonValue };
}

type Next = (readers: readonly LegReader[], reading: Reading, window: Window) => Promise<LegReader | "end" | "pause">;

const inTurn: Next = async (readers, reading, window) => {
  for (const reader of readers) {
    while (reader.head === undefined && !reader.done) {
      if (reading.examined >= sqlLimits.pageRowsExaminedMax) return "pause";
      await reader.load(wantedRows(reading, window));
    }
    if (reader.head !== undefined) return reader;
  }
  return "end";
};

/** The leg with the smallest head. All heads must be known. */
function smallest(maker: RowMaker): Next {
  const place = (item: Item) => ({ sort: maker.sortValues([maker.document(item)]), ...maker.identity(item) });
  return async (readers, reading, window) => {
    let first: { readonly reader: LegReader; readonly place: ReturnType<typeof place> } | undefined;
    for (const reader of readers) {
      while (reader.head === undefined && !reader.done) {
        if (reading.examined >= sqlLimits.pageRowsExaminedMax) return "pause";
        await reader.load(Math.ceil(wantedRows(reading, window) / readers.length) + 1);
      }
      if (reader.head === undefined) continue;
      const own = place(reader.head);
      const before =
        first === undefined ||
        (maker.compareSort(own.sort, first.place.sort) ||
          compareUtf8(own.id, first.place.id) ||
          compareUtf8(own.partition, first.place.partition)) < 0;
      if (before) first = { reader, place: own };
    }
    return first?.reader ?? "end";
  };
}

/** If the index decides alone, exactly the rows needed are requested; if documents are filtered, more at a time. */
function wantedRows({ plan, examined }: Reading, { wanted }: Window): number {
  if (!plan.residual) return wanted;
  return Math.min(Math.max(100, 2 * wanted), sqlLimits.pageRowsExaminedMax - examined);
}

function legState(reader: LegReader): JsonValue {
  const position: LegPosition = reader.position;
  return position === "done" ? false : (position.at ?? null);
}

function positionOf(state: string | null | false | undefined): LegPosition {
  if (state === false) return "done";
  return typeof state === "string" ? { at: state } : {};
}
