/**
 * The text sections of a merged segment, from those of its sources: terms and postings are merged, no text is read. The result is byte for
 * byte what building from the surviving texts gives. Linear in the postings; memory is the result and the longest list of one term.
 */
import type { SegmentBytes } from "../segment-bytes.ts";
import { MergeHeap } from "./merge-heap.ts";
import { RowList } from "./row-list.ts";
import { compareBytes, TextIndex } from "./text-index.ts";
import { TextWriter, type TextSections } from "./text-writer.ts";

export interface MergeSource {
  readonly segment: SegmentBytes;
  /** The row's number in the result; -1: left out. */
  readonly newRow: Int32Array;
}

interface Head {
  readonly index: TextIndex;
  readonly newRow: Int32Array;
  term: number;
}

export function mergeTextSections(sources: readonly MergeSource[], rows: number): TextSections {
  const lengths = new Uint32Array(rows);
  const heap = new MergeHeap<Head>(byTerm);
  for (const { segment, newRow } of sources) {
    const index = new TextIndex(segment);
    newRow.forEach((to, from) => {
      if (to >= 0) lengths[to] = index.lengths[from] as number;
    });
    if (index.frequencies.length > 0) heap.push({ index, newRow, term: 0 });
  }
  const writer = new TextWriter(lengths);
  const list = new RowList(rows);
  for (let head = heap.peek(); head !== undefined; head = heap.peek()) {
    const { index, term } = head;
    const bytes = index.terms.subarray(index.offsets[term], index.offsets[term + 1]);
    list.length = 0;
    do {
      gather(head, list);
      heap.pop();
      head.term += 1;
      if (head.term < head.index.frequencies.length) heap.push(head);
      head = heap.peek();
    } while (head !== undefined && isTerm(head, bytes));
    list.sort();
    if (list.length > 0) writer.add(bytes, list.rows, list.values, list.length);
  }
  return writer.done();
}

/** Appends the surviving rows of the head's term under their new numbers. */
function gather(head: Head, list: RowList): void {
  const { index, newRow, term } = head;
  list.reserve(index.frequencies[term] as number);
  const { rows, values } = list;
  for (let block = index.first[term] as number; block < (index.first[term + 1] as number); block += 1) {
    // Decoded in place behind the existing entries, then moved up over the rows that are left out.
    const end = list.length + index.decode(term, block, rows, values, list.length);
    for (let i = list.length; i < end; i += 1) {
      const row = newRow[rows[i] as number] as number;
      if (row < 0) continue;
      rows[list.length] = row;
      values[list.length] = values[i] as number;
      list.length += 1;
    }
  }
}

function byTerm(a: Head, b: Head): number {
  return compareBytes(
    a.index.terms,
    a.index.offsets[a.term] as number,
    a.index.offsets[a.term + 1] as number,
    b.index.terms,
    b.index.offsets[b.term] as number,
    b.index.offsets[b.term + 1] as number,
  );
}

function isTerm(head: Head, bytes: Uint8Array): boolean {
  const { terms, offsets } = head.index;
  return (
    compareBytes(terms, offsets[head.term] as number, offsets[head.term + 1] as number, bytes, 0, bytes.length) === 0
  );
}
