/** The chunks in text order, virtualized. Scrolls to the selected one. */
import type { Chunk } from "@pinakes/client";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import { cx } from "../../lib/class-names.ts";
import { formatNumber } from "../../lib/format.ts";
import { documentStrings } from "../../strings/documents.ts";
import { MoreError } from "../../ui/more-error.tsx";
import { Empty, ErrorBox, Loading } from "../../ui/states.tsx";
import type { Selection } from "./use-selection.ts";

const s = documentStrings.chunks;
const rowHeight = 76;
const nearEndRows = 20;
const previewChars = 160;

export function ChunkList({ selection }: { readonly selection: Selection }) {
  const { items, error, retry, more } = selection.chunks;
  return (
    <section aria-label={s.title} className="flex min-w-0 flex-col overflow-hidden rounded-lg border bg-panel">
      <h2 className="border-b px-4 py-2.5 text-sm font-semibold">{s.title}</h2>
      {error !== undefined && error !== null ? (
        <div className="p-3">
          <ErrorBox error={error} onRetry={retry} />
        </div>
      ) : items === undefined ? (
        <Loading />
      ) : items.length === 0 ? (
        <Empty title={s.nothing}>{s.nothingText}</Empty>
      ) : (
        <Rows selection={selection} items={items} />
      )}
      <MoreError more={more} />
      {items !== undefined && items.length > 0 && (
        <p role="status" className="border-t px-3 py-1.5 text-xs text-soft">
          {more.has || more.error !== undefined
            ? s.soFar(formatNumber(items.length))
            : s.all(items.length, formatNumber(items.length))}
        </p>
      )}
    </section>
  );
}

function Rows({ selection, items }: { readonly selection: Selection; readonly items: readonly Chunk[] }) {
  const { chosen, choose } = selection;
  const { has, loading, load } = selection.chunks.more;
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => items[index]?.chunk_id ?? index,
    overscan: 8,
  });
  const shown = virtualizer.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (has && !loading && last >= items.length - nearEndRows) load();
  }, [has, loading, load, last, items.length]);
  const at = chosen === undefined ? -1 : items.indexOf(chosen);
  useEffect(() => {
    if (at >= 0) virtualizer.scrollToIndex(at, { align: "center" });
  }, [at, virtualizer]);
  return (
    <div
      ref={scroller}
      className="max-h-[50dvh] min-h-24 overflow-y-auto"
      tabIndex={0}
      role="region"
      aria-label={s.label}
    >
      <ol className="relative" style={{ height: virtualizer.getTotalSize() }}>
        {shown.map(({ index, start, key }) => {
          const chunk = items[index];
          return chunk === undefined ? null : (
            <li
              key={key}
              className="absolute inset-x-0 top-0 border-b"
              style={{ height: rowHeight, transform: `translateY(${start}px)` }}
            >
              <Row chunk={chunk} chosen={chunk === chosen} onChoose={() => choose(chunk)} />
            </li>
          );
        })}
      </ol>
    </div>
  );
}

function Row({
  chunk: { index, text, page, section },
  chosen,
  onChoose,
}: {
  readonly chunk: Chunk;
  readonly chosen: boolean;
  readonly onChoose: () => void;
}) {
  const where = [page === undefined ? undefined : documentStrings.text.page(page), section]
    .filter((part) => part !== undefined)
    .join(" · ");
  return (
    <button
      type="button"
      aria-current={chosen ? "true" : undefined}
      onClick={onChoose}
      className={cx(
        "flex size-full flex-col px-3 py-2 text-left text-sm hover:bg-raised focus-visible:-outline-offset-2",
        chosen && "bg-mark text-mark-ink hover:bg-mark",
      )}
    >
      <span className={cx("w-full truncate text-xs", chosen ? "text-mark-ink" : "text-soft")}>
        <span className="font-medium">{s.number(index)}</span>
        {where !== "" && ` · ${where}`}
      </span>
      <span className="line-clamp-2 w-full break-words">{text.slice(0, previewChars)}</span>
    </button>
  );
}
