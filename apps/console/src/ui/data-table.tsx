/**
 * A virtualized table: only visible rows are mounted, and the next page is loaded near the end.
 * Columns and sorting come from TanStack Table, virtualization from TanStack Virtual.
 */
import {
  createSortedRowModel,
  rowSortingFeature,
  sortFns,
  tableFeatures,
  useTable,
  type ColumnDef,
  type Row,
  type SortingState,
} from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp } from "lucide-react";
import { useEffect, useRef, type KeyboardEvent, type ReactNode } from "react";
import type { More } from "../api/page.ts";
import { cx } from "../lib/class-names.ts";
import { uiStrings as s } from "../strings/ui.ts";
import { MoreError } from "./more-error.tsx";
import { useRowFocus, useTabStops, type RowFocus } from "./row-focus.ts";
import { ErrorBox, Loading } from "./states.tsx";

const features = tableFeatures({ rowSortingFeature, sortedRowModel: createSortedRowModel(), sortFns });
type Features = typeof features;

export interface Column<Item> {
  readonly id: string;
  readonly header: string;
  /** The sort value; without it the column is not sortable. */
  readonly value?: (item: Item) => string | number | null | undefined;
  readonly cell: (item: Item) => ReactNode;
  /** A CSS grid track; minmax(8rem, 1fr) when absent. */
  readonly width?: string;
  readonly align?: "right";
  /** false: the server cannot sort by this column. */
  readonly sortable?: false;
}

export interface Sorting {
  readonly id: string;
  readonly desc: boolean;
}

export interface DataTableProps<Item> {
  readonly label: string;
  readonly columns: readonly Column<Item>[];
  readonly items: readonly Item[] | undefined;
  readonly rowId: (item: Item) => string;
  readonly onOpen?: (item: Item) => void;
  /** Kept in the URL. Without `onSort`, columns are not sortable. */
  readonly sorting?: Sorting | undefined;
  readonly onSort?: (sorting: Sorting | undefined) => void;
  /** The server sorts; rows keep their order. */
  readonly sortedByServer?: boolean;
  readonly empty: ReactNode;
  readonly error?: unknown;
  readonly onRetry?: () => void;
  /** Of moreOf. A failed next page is reported below the rows, not instead of them. */
  readonly more?: More;
  readonly className?: string;
}

const rowHeight = 44;
/** Height of the head with its border. */
const headHeight = 37;
const nearEndRows = 20;
const noItems: readonly never[] = [];

export function DataTable<Item extends object>(props: DataTableProps<Item>) {
  const { items, onRetry, className, more } = props;
  const error = more?.error !== undefined && items !== undefined ? undefined : props.error;
  return (
    <div
      className={cx(
        "flex max-h-[70dvh] min-h-40 min-w-0 flex-col overflow-hidden rounded-lg border bg-panel",
        className,
      )}
    >
      {error !== undefined && error !== null ? (
        <div className="p-4">
          <ErrorBox error={error} {...(onRetry === undefined ? {} : { onRetry })} />
        </div>
      ) : items === undefined ? (
        <Loading />
      ) : items.length === 0 ? (
        <NoRows {...props} />
      ) : (
        <Rows {...props} />
      )}
    </div>
  );
}

/** A match may be on the page that failed to load: then the list cannot be called empty. */
function NoRows<Item extends object>({ empty, more }: DataTableProps<Item>) {
  if (more?.error === undefined) return empty;
  return more.loading ? <Loading /> : <MoreError more={more} />;
}

function Rows<Item extends object>({
  label,
  columns,
  items,
  rowId,
  onOpen,
  sorting,
  onSort,
  sortedByServer = false,
  more,
}: DataTableProps<Item>) {
  const scroller = useRef<HTMLDivElement>(null);
  const table = useTable<Features, Item>({
    features,
    columns: columns.map((column) => definition<Item>(column)),
    data: items ?? noItems,
    getRowId: rowId,
    state: { sorting: sorting === undefined ? [] : ([sorting] as SortingState) },
    manualSorting: sortedByServer,
  });
  const { rows } = table.getRowModel();
  const focus = useRowFocus(scroller, rows.length);
  const virtualizer = useVirtualizer<HTMLDivElement, Element>({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => rows[index]?.id ?? index,
    overscan: 12,
    // Scrolls a row below the sticky head when it is focused by keyboard.
    scrollPaddingEnd: headHeight,
    ...(onOpen === undefined ? {} : { rangeExtractor: focus.rangeExtractor }),
  });
  const shown = virtualizer.getVirtualItems();
  const last = virtualizer.range?.endIndex ?? 0;
  useEffect(() => {
    if (more !== undefined && more.has && !more.loading && last >= rows.length - nearEndRows) more.load();
  }, [more, last, rows.length]);
  const template = columns.map(({ width }) => width ?? "minmax(8rem,1fr)").join(" ");
  return (
    <>
      <div
        ref={scroller}
        role="table"
        aria-label={label}
        aria-rowcount={more?.has === true || more?.error !== undefined ? -1 : rows.length + 1}
        // With focusable rows, the table itself needs no tab stop for scrolling.
        tabIndex={onOpen === undefined ? 0 : -1}
        className="min-h-0 flex-1 overflow-auto"
      >
        <div className="relative min-w-max" style={{ height: virtualizer.getTotalSize() + headHeight }}>
          <div role="rowgroup" className="sticky top-0 z-10">
            <div
              role="row"
              aria-rowindex={1}
              className="grid border-b bg-raised text-xs font-medium text-soft"
              style={{ gridTemplateColumns: template }}
            >
              {columns.map((column) => (
                <Head
                  key={column.id}
                  column={column}
                  sorting={sorting}
                  onSort={canSort(column, sortedByServer) ? onSort : undefined}
                />
              ))}
            </div>
          </div>
          <div
            role="rowgroup"
            onKeyDown={onOpen === undefined ? undefined : (event) => focus.onKeyDown(event, virtualizer)}
          >
            {shown.map(({ index, start, key }) => {
              const row = rows[index];
              return row === undefined ? null : (
                <Line
                  key={key}
                  row={row}
                  columns={columns}
                  index={index}
                  start={start + headHeight}
                  template={template}
                  onOpen={onOpen}
                  focus={focus}
                />
              );
            })}
          </div>
        </div>
      </div>
      <MoreError more={more} />
      <p role="status" className="border-t px-3 py-1.5 text-xs text-soft">
        {footOf(rows.length, more)}
      </p>
    </>
  );
}

function footOf(rows: number, more: More | undefined): string {
  if (more?.loading === true) return s.loadingMore;
  return more?.error === undefined ? s.rows(rows, more?.has === true) : s.rowsCutOff(rows);
}

interface HeadProps<Item> {
  readonly column: Column<Item>;
  readonly sorting: Sorting | undefined;
  readonly onSort: ((sorting: Sorting | undefined) => void) | undefined;
}

function Head<Item>({ column: { id, header, align }, sorting, onSort }: HeadProps<Item>) {
  const direction = sorting?.id === id ? (sorting.desc ? "descending" : "ascending") : "none";
  const next = direction === "none" ? { id, desc: false } : direction === "ascending" ? { id, desc: true } : undefined;
  return (
    <div
      role="columnheader"
      aria-sort={direction}
      className={cx("flex h-9 min-w-0 items-center px-3", align === "right" && "justify-end")}
    >
      {onSort === undefined ? (
        <span className="truncate">{header}</span>
      ) : (
        <button
          type="button"
          className="flex min-w-0 items-center gap-1 hover:text-ink"
          onClick={() => onSort(next)}
          title={s.sortBy(header)}
        >
          <span className="truncate">{header}</span>
          {direction === "ascending" && <ArrowUp className="size-3" aria-hidden />}
          {direction === "descending" && <ArrowDown className="size-3" aria-hidden />}
        </button>
      )}
    </div>
  );
}

interface LineProps<Item extends object> {
  readonly row: Row<Features, Item>;
  readonly columns: readonly Column<Item>[];
  readonly index: number;
  readonly start: number;
  readonly template: string;
  readonly onOpen: ((item: Item) => void) | undefined;
  readonly focus: RowFocus;
}

function Line<Item extends object>({ row, columns, index, start, template, onOpen, focus }: LineProps<Item>) {
  const item = row.original;
  const line = useRef<HTMLDivElement>(null);
  useTabStops(line, onOpen !== undefined, focus.stop === index);
  const keyed = (event: KeyboardEvent) => {
    if (event.key === "Enter" && event.target === event.currentTarget) onOpen?.(item);
  };
  return (
    // The whole row is clickable; by keyboard it is reached with Tab and arrows and opened with Enter.
    <div
      ref={line}
      role="row"
      aria-rowindex={index + 2}
      data-row={index}
      tabIndex={onOpen === undefined ? undefined : focus.stop === index ? 0 : -1}
      onFocus={onOpen === undefined ? undefined : () => focus.moveTo(index)}
      onClick={onOpen === undefined ? undefined : () => onOpen(item)}
      onKeyDown={onOpen === undefined ? undefined : keyed}
      className={cx(
        "absolute inset-x-0 top-0 grid border-b text-sm",
        onOpen !== undefined && "cursor-pointer hover:bg-raised focus-visible:-outline-offset-2",
      )}
      style={{ gridTemplateColumns: template, height: rowHeight, transform: `translateY(${start}px)` }}
    >
      {columns.map((column) => (
        <div
          role="cell"
          key={column.id}
          className={cx("flex min-w-0 items-center gap-2 px-3", column.align === "right" && "justify-end tabular-nums")}
        >
          {column.cell(item)}
        </div>
      ))}
    </div>
  );
}

function canSort<Item>({ value, sortable }: Column<Item>, sortedByServer: boolean): boolean {
  return sortable !== false && (value !== undefined || sortedByServer);
}

function definition<Item extends object>({ id, value }: Column<Item>): ColumnDef<Features, Item> {
  return {
    id,
    ...(value === undefined ? {} : { accessorFn: (item: Item) => value(item) ?? undefined }),
    sortUndefined: "last",
  };
}
