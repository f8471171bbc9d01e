/** The extracted text. Loaded in windows, starting with the one that contains the selected position. */
import type { Document, DocumentText } from "@pinakes/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { textOptions, textWindowChars } from "../../api/document-parts.ts";
import type { DocumentId } from "../../api/documents.ts";
import { moreOf } from "../../api/page.ts";
import { cx } from "../../lib/class-names.ts";
import { formatNumber } from "../../lib/format.ts";
import { documentStrings } from "../../strings/documents.ts";
import { Button } from "../../ui/button.tsx";
import { Select } from "../../ui/field.tsx";
import { Empty, ErrorBox, Pending } from "../../ui/states.tsx";
import { bestPlaceOf } from "../search/excerpt.ts";
import { partsOf } from "../search/found-words.ts";
import { piecesOf, type Piece, type Span } from "./text-marks.ts";
import type { Selection } from "./use-selection.ts";

const s = documentStrings.text;
/** Characters of a chunk that are visible without scrolling. */
const seenChars = 400;

interface DocumentTextProps {
  readonly id: DocumentId;
  readonly document: Document;
  readonly selection: Selection;
}

export function DocumentText({ id, document, selection }: DocumentTextProps) {
  const { span } = selection;
  const [first, setFirst] = useState(() => windowOf(span));
  const text = useInfiniteQuery(textOptions(id, document, first));
  const windows = text.data?.pages;
  const [from, to] = [windows?.[0]?.start ?? 0, windows?.at(-1)?.end ?? 0];
  const length = windows?.[0]?.length ?? 0;
  // A position outside the loaded windows: restart with the window that contains it, or with the first one.
  const wanted = span === undefined || (windows !== undefined && span.start >= length) ? 0 : windowOf(span);
  const elsewhere = span !== undefined && (span.start < from || span.start >= to);
  if (windows !== undefined && elsewhere && wanted !== first) setFirst(wanted);
  const { isFetching, fetchNextPage } = text;
  const cutOff = span !== undefined && windows !== undefined && span.start < to && span.end > to && moreOf(text).has;
  useEffect(() => {
    if (cutOff && !isFetching) void fetchNextPage();
  }, [cutOff, isFetching, fetchNextPage]);
  if (windows === undefined) return <Pending of={text} what={s.loading} />;
  return (
    <>
      {windows.flatMap(({ warnings }) => warnings).length > 0 && <Warnings windows={windows} />}
      {span !== undefined && span.start >= length && (
        <p role="alert" className="rounded-md bg-warn-soft p-3 text-sm text-warn">
          {s.outside}
        </p>
      )}
      <div className="overflow-hidden rounded-lg border bg-panel">
        <Scroller selection={selection} windows={windows} text={text} />
        {text.error !== null && !isFetching && (
          <div className="border-t p-2">
            <ErrorBox error={text.error} />
          </div>
        )}
        <div className="flex flex-wrap items-center justify-between gap-2 border-t px-3 py-1.5 text-xs text-soft">
          <p>{s.range(formatNumber(from), formatNumber(to), formatNumber(length))}</p>
          <p>{s.marked}</p>
        </div>
      </div>
      <GoToPage windows={windows} onGo={selection.chooseSpan} />
    </>
  );
}

type TextQuery = ReturnType<typeof useInfiniteQuery<DocumentText>>;

interface ScrollerProps {
  readonly selection: Selection;
  readonly windows: readonly DocumentText[];
  readonly text: Pick<TextQuery, "hasNextPage" | "hasPreviousPage" | "isFetching"> & {
    readonly fetchNextPage: () => unknown;
    readonly fetchPreviousPage: () => unknown;
  };
}

function Scroller({ selection: { span, chunks, words }, windows, text }: ScrollerProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const mark = useRef<HTMLElement>(null);
  const whole = windows.map((one) => one.text).join("");
  const from = windows[0]?.start ?? 0;
  const pieces = piecesOf(whole, from, chunks.items ?? [], span);
  const at = pieces.findIndex(({ chosen }) => chosen);
  const shown = at >= 0;
  useEffect(() => {
    if (shown) scrollTo(scroller.current, mark.current);
  }, [shown, span?.start, span?.end]);
  if (whole === "" && from === 0) return <Empty title={s.nothing} />;
  return (
    <div
      ref={scroller}
      role="region"
      aria-label={s.label}
      tabIndex={0}
      className="max-h-[68dvh] overflow-y-auto p-4 focus-visible:-outline-offset-2"
    >
      {text.hasPreviousPage && (
        <Button size="small" className="mb-3" disabled={text.isFetching} onClick={() => void text.fetchPreviousPage()}>
          {s.earlier}
        </Button>
      )}
      <div className="max-w-prose leading-6 break-words whitespace-pre-wrap">
        {pieces.map((piece, index) => (
          <PieceView key={piece.start} piece={piece} words={words} {...(index === at ? { ref: mark } : {})} />
        ))}
      </div>
      {text.hasNextPage && (
        <Button size="small" className="mt-3" disabled={text.isFetching} onClick={() => void text.fetchNextPage()}>
          {s.later}
        </Button>
      )}
    </div>
  );
}

/**
 * Scrolls only the text, not the page, with some context above. In a long chunk, scrolls to the words of the query, which may be far below
 * its start.
 */
function scrollTo(scroller: HTMLElement | null, mark: HTMLElement | null): void {
  if (scroller === null || mark === null) return;
  const { top } = scroller.getBoundingClientRect();
  const down = (element: HTMLElement) => element.getBoundingClientRect().top - top;
  scroller.scrollBy({ top: down(mark) - scroller.clientHeight / 4 });
  const word = mark.querySelector<HTMLElement>("[data-best]");
  if (word !== null && down(word) > scroller.clientHeight * (3 / 4))
    scroller.scrollBy({ top: down(word) - scroller.clientHeight / 2 });
}

interface PieceViewProps {
  readonly piece: Piece;
  readonly words: readonly string[];
  readonly ref?: React.Ref<HTMLElement>;
}

function PieceView({ piece: { text, chunks, odd, chosen }, words, ref }: PieceViewProps) {
  if (chosen)
    return (
      <mark ref={ref}>
        <Stressed text={text} words={words} />
      </mark>
    );
  // Neighbouring chunks alternate in colour; overlaps are darkest.
  return (
    <span className={cx(chunks === 1 && (odd ? "bg-raised" : "bg-brand-soft/60"), chunks > 1 && "bg-brand-soft")}>
      {text}
    </span>
  );
}

/** Within the highlighted chunk, words of the query are emphasized. */
function Stressed({ text, words }: { readonly text: string; readonly words: readonly string[] }) {
  const best = bestPlaceOf(text, words, seenChars);
  let at = 0;
  return partsOf(text, words).map((part) => {
    const from = at;
    at += part.text.length;
    return part.found ? (
      <strong
        key={from}
        className="underline decoration-2 underline-offset-2"
        data-best={from === best ? "" : undefined}
      >
        {part.text}
      </strong>
    ) : (
      part.text
    );
  });
}

function Warnings({ windows }: { readonly windows: readonly DocumentText[] }) {
  return (
    <ul className="rounded-md bg-warn-soft p-3 text-sm text-warn">
      {[...new Set(windows.flatMap(({ warnings }) => warnings))].map((warning) => (
        <li key={warning}>{warning}</li>
      ))}
    </ul>
  );
}

function GoToPage({
  windows,
  onGo,
}: {
  readonly windows: readonly DocumentText[];
  readonly onGo: (span: Span) => void;
}) {
  const pages = new Map(windows.flatMap(({ pages: of }) => of).map((one) => [String(one.page), one]));
  if (pages.size < 2) return null;
  const choices = [
    { value: "", label: s.choosePage },
    ...[...pages].map(([value, { page }]) => ({ value, label: s.page(page) })),
  ];
  return (
    <Select
      label={s.goToPage}
      className="max-w-48"
      value=""
      choices={choices}
      onChoose={(value) => {
        const page = pages.get(value);
        if (page !== undefined) onGo({ start: page.start, end: page.end });
      }}
    />
  );
}

function windowOf(span: Span | undefined): number {
  return span === undefined ? 0 : Math.floor(span.start / textWindowChars);
}
