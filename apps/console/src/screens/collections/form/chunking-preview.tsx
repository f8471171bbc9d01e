/** Previews the chunking of the user's own text while settings change. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState } from "react";
import { chunkingPreviewOptions, type Piece } from "../../../api/chunking.ts";
import { formatNumber } from "../../../lib/format.ts";
import { collectionFormStrings as s } from "../../../strings/collection-form.ts";
import { TextArea } from "../../../ui/field.tsx";
import { ErrorBox } from "../../../ui/states.tsx";
import { ChunkedText } from "./chunked-text.tsx";
import { fieldErrorsOf, type FieldErrors } from "./field-errors.ts";

interface Props {
  /** Undefined while incomplete. */
  readonly strategy: object | undefined;
  readonly known: boolean;
  readonly onRefused: (errors: FieldErrors) => void;
}

const restMs = 350;
/** Limits the rendered chunks. */
const piecesShownMax = 200;
const none = {};

export function ChunkingPreview({ strategy, known, onRefused }: Props) {
  const [text, setText] = useState<string>(s.previewSample);
  const asked = useRested(JSON.stringify({ text, strategy }));
  const { text: askedText, strategy: askedStrategy } = JSON.parse(asked) as {
    readonly text: string;
    readonly strategy?: object;
  };
  const preview = useQuery({
    ...chunkingPreviewOptions(askedText, askedStrategy ?? none),
    enabled: known && askedStrategy !== undefined && askedText !== "",
    placeholderData: keepPreviousData,
  });
  const refused = useEffectEvent((error: unknown) => onRefused(fieldErrorsOf(error)));
  useEffect(() => refused(preview.error), [preview.error]);
  const unexplained = preview.error !== null && Object.keys(fieldErrorsOf(preview.error)).length === 0;
  return (
    <section aria-labelledby="chunking-preview" className="flex flex-col gap-3 rounded-md border p-3">
      <h3 id="chunking-preview" className="text-sm font-semibold">
        {s.previewTitle}
      </h3>
      {known ? (
        <>
          <TextArea label={s.previewText} rows={5} value={text} onChange={({ target }) => setText(target.value)} />
          {unexplained && <ErrorBox error={preview.error} />}
          {preview.data !== undefined && preview.error === null && (
            <Cut text={askedText} pieces={preview.data.chunks} stale={preview.isPlaceholderData} />
          )}
        </>
      ) : (
        <p className="text-sm text-soft">{s.previewInherit}</p>
      )}
    </section>
  );
}

function Cut({
  text,
  pieces,
  stale,
}: {
  readonly text: string;
  readonly pieces: readonly Piece[];
  readonly stale: boolean;
}) {
  const shown = pieces.slice(0, piecesShownMax);
  const sizes = pieces.map(({ start, end }) => end - start);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  return (
    <div className={stale ? "flex flex-col gap-3 opacity-60" : "flex flex-col gap-3"} aria-busy={stale}>
      <p role="status" className="text-sm">
        <strong className="font-semibold">{s.previewCount(pieces.length)}</strong>
        {sizes.length > 0 && (
          <span className="text-soft">
            {" · "}
            {s.previewSizes(
              formatNumber(Math.min(...sizes)),
              formatNumber(Math.round(total / sizes.length)),
              formatNumber(Math.max(...sizes)),
            )}
          </span>
        )}
      </p>
      {/* Chunks of the previous text would be drawn at wrong positions. */}
      {!stale && <ChunkedText text={text} pieces={shown} />}
      {shown.length < pieces.length && (
        <p className="text-xs text-soft">{s.previewMore(shown.length, pieces.length)}</p>
      )}
      <PieceList pieces={shown} />
    </div>
  );
}

function PieceList({ pieces }: { readonly pieces: readonly Piece[] }) {
  return (
    <ol className="flex max-h-72 flex-col gap-1 overflow-auto text-xs" tabIndex={0} aria-label={s.previewChunks}>
      {pieces.map(({ index, start, end, section }, at) => {
        const shared = Math.max(0, (pieces[at - 1]?.end ?? start) - start);
        return (
          <li key={index} className="flex flex-wrap gap-x-3 border-b py-1 last:border-0">
            <span className="font-medium">{s.previewChunk(index + 1)}</span>
            <span className="text-soft">{s.previewRange(formatNumber(start), formatNumber(end))}</span>
            <span className="text-soft">{s.previewSize(formatNumber(end - start))}</span>
            {shared > 0 && <span className="text-soft">{s.previewOverlap(formatNumber(shared))}</span>}
            {section !== undefined && <span className="min-w-0 truncate text-soft">{section}</span>}
          </li>
        );
      })}
    </ol>
  );
}

/** A debounced value. */
function useRested(value: string): string {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), restMs);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}
