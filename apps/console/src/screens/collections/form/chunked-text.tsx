/** A text with chunk boundaries and overlaps highlighted. */
import { Fragment } from "react";
import type { Piece } from "../../../api/chunking.ts";
import { cx } from "../../../lib/class-names.ts";
import { collectionFormStrings as s } from "../../../strings/collection-form.ts";

export function ChunkedText({ text, pieces }: { readonly text: string; readonly pieces: readonly Piece[] }) {
  const stretches = stretchesOf(text, pieces);
  return (
    <div>
      <div
        className="max-h-80 overflow-auto rounded-md border p-3 font-mono text-xs leading-6 break-words whitespace-pre-wrap"
        tabIndex={0}
        role="group"
        aria-label={s.previewChunks}
      >
        {stretches.map(({ at, words, begins, inside }) => (
          <Fragment key={at}>
            {begins.map((index) => (
              <span
                key={index}
                className="mr-0.5 rounded bg-brand px-1 py-0.5 text-[10px] font-semibold text-brand-ink"
              >
                {index + 1}
              </span>
            ))}
            {inside.length > 1 ? (
              <mark>{words}</mark>
            ) : (
              <span className={cx(inside[0] !== undefined && inside[0] % 2 === 1 && "bg-raised")}>{words}</span>
            )}
          </Fragment>
        ))}
      </div>
      <p className="mt-1 text-xs text-soft">{s.previewLegend}</p>
    </div>
  );
}

interface Stretch {
  readonly at: number;
  readonly words: string;
  /** Chunks that start here, and chunks that cover it. */
  readonly begins: readonly number[];
  readonly inside: readonly number[];
}

/** Splits the text at chunk boundaries. Chunks are sorted by start. */
function stretchesOf(text: string, pieces: readonly Piece[]): readonly Stretch[] {
  const last = pieces.at(-1)?.end ?? text.length;
  const edges = [...new Set([0, last, ...pieces.flatMap(({ start, end }) => [start, end])])].sort((a, b) => a - b);
  return edges.slice(0, -1).map((at, index) => {
    const end = edges[index + 1] ?? text.length;
    return {
      at,
      words: text.slice(at, end),
      begins: pieces.filter((piece) => piece.start === at).map((piece) => piece.index),
      inside: pieces.filter((piece) => piece.start <= at && piece.end >= end).map((piece) => piece.index),
    };
  });
}
