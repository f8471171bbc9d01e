/**
 * Queries whose result depends on every row: sorted in memory, or combined by GROUP BY, DISTINCT and aggregates. Every page reads all rows,
 * up to a budget, and keeps only those it returns. The cursor is the sort position of the last item returned, so writes before or after
 * that position do not matter.
 */
import { invalid } from "../domain/errors.ts";
import { compareUtf8, type JsonObject, type JsonValue } from "../domain/json.ts";
import type { Item } from "../ports/item-store.ts";
import { LegReader, type Reading } from "./leg-reader.ts";
import { sqlLimits } from "./limits.ts";
import { sizeOf, type Identity, type RowMaker } from "./rows.ts";
import type { Row } from "./expressions/evaluate.ts";
import { placeOf, type Value } from "./expressions/values.ts";
import type { Window } from "./window.ts";

/** JavaScript stores strings with two bytes per character. */
const bytesPerChar = 2;
/** Memory is reported in steps, so that counting costs nothing. */
const heldStepBytes = 65_536;

/** Bounds the memory held during a full read; the number of rows alone does not. */
export class KeptChars {
  readonly #memory: Reading["memory"];
  #chars = 0;
  #held = 0;

  constructor(memory: Reading["memory"]) {
    this.#memory = memory;
  }

  add(chars: number): void {
    this.#hold(this.#chars + chars);
    this.#chars += chars;
  }

  reset(chars: number): void {
    this.#hold(chars);
    this.#chars = chars;
  }

  #hold(chars: number): void {
    const wanted = Math.ceil((chars * bytesPerChar) / heldStepBytes) * heldStepBytes;
    if (wanted > this.#held) this.#memory?.hold(wanted - this.#held);
    else if (wanted < this.#held) this.#memory?.release(this.#held - wanted);
    this.#held = wanted;
  }

  get over(): boolean {
    return this.#chars > sqlLimits.keptCharsMax;
  }

  require(): void {
    if (this.over)
      throw invalid(
        `query: the rows to sort or group have more than ${sqlLimits.keptCharsMax} characters; select less, or request smaller pages.`,
      );
  }
}

/** Passes every item of the plan to `visit`, once. */
export async function readAll(reading: Reading, rowsMax: number, visit: (item: Item) => void): Promise<void> {
  for (const leg of reading.plan.access.legs) {
    const reader = new LegReader(reading, leg, {});
    for (;;) {
      for (let item = reader.take(); item !== undefined; item = reader.take()) visit(item);
      if (reader.done) break;
      // Reads one row beyond the budget, to detect whether there are more.
      await reader.load(Math.min(sqlLimits.pageItemsMax, rowsMax - reading.examined + 1));
      if (reading.examined > rowsMax) throw overBudget(reading, rowsMax);
    }
  }
}

function overBudget({ plan }: Reading, rowsMax: number) {
  const what = plan.mode === "sort" ? "ORDER BY without an index" : "DISTINCT, GROUP BY or an aggregate";
  return invalid(`query: ${what} would read more than ${rowsMax} rows. ${plan.remedy}`);
}

/** A position in the sort order of the result. */
interface SortPosition {
  readonly sort: readonly Value[];
  readonly tie: readonly [id: string, partition: string, row: number];
}

interface Kept extends SortPosition {
  readonly value: JsonValue;
  readonly chars: number;
}

export async function sorted(
  reading: Reading,
  maker: RowMaker,
  window: Window,
  rowsMax: number,
  state: JsonObject | undefined,
): Promise<JsonObject | undefined> {
  const compare = (a: SortPosition, b: SortPosition) => maker.compareSort(a.sort, b.sort) || compareTie(a.tie, b.tie);
  const after = state === undefined ? undefined : openPlace(state);
  const count = window.wanted + 1;
  let kept: Kept[] = [];
  const chars = new KeptChars(reading.memory);
  const trim = () => {
    kept = kept.toSorted(compare).slice(0, count);
    chars.reset(kept.reduce((sum, row) => sum + row.chars, 0));
    chars.require();
  };
  const offer = (row: Row, identity: Identity, number: number) => {
    const place: SortPosition = { sort: maker.sortValues(row), tie: [identity.id, identity.partition, number] };
    if (after !== undefined && compare(place, after) <= 0) return;
    const value = maker.project(row);
    if (value === undefined) return;
    const size = sizeOf(value);
    kept.push({ ...place, value, chars: size });
    chars.add(size);
    if (kept.length > 2 * count || chars.over) trim();
  };
  await readAll(reading, rowsMax, (item) => {
    const rows = maker.rows(maker.document(item));
    if (rows.length === 0) return;
    const identity = maker.identity(item);
    for (const [number, row] of rows.entries()) offer(row, identity, number);
  });
  trim();
  return take(kept, window, sealPlace);
}

/** Fills the window from sorted items; returns the position to continue from. */
export function take<T extends { readonly value: JsonValue }>(
  ordered: readonly T[],
  window: Window,
  seal: (last: T) => JsonObject,
): JsonObject | undefined {
  let at = 0;
  for (; at < ordered.length && !window.full; at += 1) window.add((ordered[at] as T).value);
  if (at === ordered.length || window.over) return undefined;
  return seal(ordered[at - 1] as T);
}

function compareTie(a: SortPosition["tie"], b: SortPosition["tie"]): number {
  return compareUtf8(a[0], b[0]) || compareUtf8(a[1], b[1]) || a[2] - b[2];
}

/** JSON has no undefined: each value is an array of zero or one elements. For arrays and objects only their type is stored. */
function sealPlace({ sort, tie }: SortPosition): JsonObject {
  return { sort: sealSort(sort), tie };
}

export function sealSort(sort: readonly Value[]): JsonValue {
  return sort.map((value) => (value === undefined ? [] : [placeOf(value) as JsonValue]));
}

export function openSort(state: JsonObject): readonly Value[] {
  return (state["sort"] as readonly (readonly JsonValue[])[]).map(([value]) => value);
}

function openPlace(state: JsonObject): SortPosition {
  return { sort: openSort(state), tie: state["tie"] as unknown as SortPosition["tie"] };
}
