/**
 * A view without rows that a reader may not see. Hidden rows are treated exactly like deleted ones: they are in the bitmap of dead rows
 * before anything is ranked or counted, so that neither recall, word weights, counts nor the list of fields tell of them.
 */
import type { Bitmap } from "../segment/bitmap.ts";
import { fieldsOfRows, rowsOfValues } from "../filter/rows-of-values.ts";
import type { FieldHeader, SegmentBytes } from "../segment-bytes.ts";
import type { View, ViewSource } from "./view.ts";

/** Rows whose metadata field is one of these texts. Keep the object while it is the same set: bitmaps are cached by its identity. */
export interface HiddenRows {
  readonly field: string;
  readonly values: ReadonlySet<string>;
}

const views = new WeakMap<HiddenRows, WeakMap<View, View>>();
const bitmaps = new WeakMap<HiddenRows, WeakMap<SegmentBytes, { readonly rows: Bitmap | undefined }>>();
const narrowed = new WeakSet<View>();

/** The same object each time, as caches of searches are kept by view. */
export function withoutHidden(view: View, hidden: HiddenRows | undefined): View {
  if (hidden === undefined || hidden.values.size === 0) return view;
  const known = entry(views, hidden);
  let shown = known.get(view);
  if (shown === undefined) {
    const sources = view.sources.map((source) => narrowSource(source, hidden));
    shown = { ...view, sources: sources.filter(({ rows, dead }) => (dead?.count() ?? 0) < rows.rows) };
    narrowed.add(shown);
    known.set(view, shown);
  }
  return shown;
}

/** The fields of rows that count, if this is not known from the headers of the files. */
export function narrowedFields(view: View): readonly FieldHeader[] | undefined {
  if (!narrowed.has(view)) return undefined;
  return view.sources.flatMap(({ rows: { segment }, dead }) =>
    dead === undefined ? segment.header.fields : fieldsOfRows(segment, dead),
  );
}

function narrowSource(source: ViewSource, hidden: HiddenRows): ViewSource {
  const own = hiddenIn(source.rows.segment, hidden);
  if (own === undefined) return source;
  if (source.dead === undefined) return { ...source, dead: own };
  const dead = source.dead.copy();
  for (let i = 0; i < dead.words.length; i += 1) dead.words[i] = (dead.words[i] as number) | (own.words[i] as number);
  return { ...source, dead };
}

function hiddenIn(segment: SegmentBytes, hidden: HiddenRows): Bitmap | undefined {
  const known = entry(bitmaps, hidden);
  let found = known.get(segment);
  if (found === undefined) known.set(segment, (found = { rows: rowsOfValues(segment, hidden.field, hidden.values) }));
  return found.rows;
}

function entry<Key extends object, Inner extends object, Value>(
  all: WeakMap<Key, WeakMap<Inner, Value>>,
  key: Key,
): WeakMap<Inner, Value> {
  let found = all.get(key);
  if (found === undefined) all.set(key, (found = new WeakMap()));
  return found;
}
