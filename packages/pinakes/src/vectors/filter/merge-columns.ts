/**
 * The metadata sections of a merged segment, from those of its sources: dictionaries and lists are merged, no document is read. The result
 * is byte for byte what building from the surviving metadata gives. The union of many sources may have more than `metadataFieldsMax`
 * fields: a merge never fails for that; appends must reject new fields.
 */
import { compareUtf8 } from "../../domain/json.ts";
import { MergeHeap } from "../text/merge-heap.ts";
import type { MergeSource } from "../text/merge-postings.ts";
import { RowList } from "../text/row-list.ts";
import { compareBytes } from "../text/text-index.ts";
import { elementKind, kindCount, kindOf } from "./column-format.ts";
import { ColumnIndex } from "./column-index.ts";
import { ColumnWriter, type ColumnSections, type EntryValue } from "./column-writer.ts";

interface Source {
  readonly index: ColumnIndex;
  readonly newRow: Int32Array;
}

/** The entries of one kind of a field in one source, from `entry` to below `end`. */
interface Head extends Source {
  entry: number;
  readonly end: number;
}

type Compare = (a: Head, b: Head) => number;

export function mergeColumnSections(sources: readonly MergeSource[], rows: number): ColumnSections {
  const byPath = new Map<string, Source[]>();
  for (const { segment, newRow } of sources) {
    const source = { index: new ColumnIndex(segment), newRow };
    for (const { path } of segment.header.fields) {
      const having = byPath.get(path);
      if (having === undefined) byPath.set(path, [source]);
      else having.push(source);
    }
  }
  const writer = new ColumnWriter();
  const list = new RowList(rows);
  for (const [path, having] of [...byPath].sort(([a], [b]) => compareUtf8(a, b))) {
    for (let kind = 0; kind < kindCount; kind += 1) mergeKind(having, path, kind, list, writer);
  }
  return writer.done();
}

function mergeKind(sources: readonly Source[], path: string, kind: number, list: RowList, writer: ColumnWriter): void {
  const plainKind = kind >= elementKind ? kind - elementKind : kind;
  const compare = comparisonOf(plainKind);
  const heap = new MergeHeap<Head>(compare);
  for (const { index, newRow } of sources) {
    const field = index.field(path);
    const entry = index.firstEntry(field, kind);
    const end = index.firstEntry(field, kind + 1);
    if (entry < end) heap.push({ index, newRow, entry, end });
  }
  for (let head = heap.pop(); head !== undefined; head = heap.pop()) {
    const first: Head = { ...head };
    list.length = 0;
    for (let same: Head | undefined = head; same !== undefined; same = nextSame(heap, first, compare)) {
      gather(same, list);
      same.entry += 1;
      if (same.entry < same.end) heap.push(same);
    }
    list.sort();
    if (list.length > 0) writer.add(path, kind, valueOf(first, plainKind), list.rows.subarray(0, list.length));
  }
}

function nextSame(heap: MergeHeap<Head>, first: Head, compare: Compare): Head | undefined {
  const next = heap.peek();
  return next !== undefined && compare(next, first) === 0 ? heap.pop() : undefined;
}

function gather({ index, newRow, entry }: Head, list: RowList): void {
  const start = index.starts[entry] as number;
  const end = index.starts[entry + 1] as number;
  list.reserve(end - start);
  for (let i = start; i < end; i += 1) {
    const row = newRow[index.rows[i] as number] as number;
    if (row >= 0) list.rows[list.length++] = row;
  }
}

function comparisonOf(kind: number): Compare {
  if (kind === kindOf.number)
    return (a, b) => (a.index.numbers[a.entry] as number) - (b.index.numbers[b.entry] as number);
  // The other kinds have one entry each, the same in every source.
  if (kind !== kindOf.string) return () => 0;
  return ({ index: a, entry: x }, { index: b, entry: y }) =>
    compareBytes(a.strings, a.stringStart(x), a.stringEnd(x), b.strings, b.stringStart(y), b.stringEnd(y));
}

function valueOf({ index, entry }: Head, kind: number): EntryValue {
  if (kind === kindOf.number) return index.numbers[entry];
  return kind === kindOf.string ? index.strings.subarray(index.stringStart(entry), index.stringEnd(entry)) : undefined;
}
