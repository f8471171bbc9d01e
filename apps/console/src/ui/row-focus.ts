/**
 * Roving tabindex: the table is one tab stop, and arrows, Home and End move between rows. Controls in a row are reached from that row.
 * The focused row stays mounted while scrolling, so that focus is never lost.
 */
import { defaultRangeExtractor, type Range, type Virtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState, type KeyboardEvent, type RefObject } from "react";

type Rows = Virtualizer<HTMLDivElement, Element>;

export interface RowFocus {
  readonly stop: number;
  /** Focused by click, by Tab, or from within. */
  readonly moveTo: (index: number) => void;
  readonly onKeyDown: (event: KeyboardEvent, rows: Rows) => void;
  readonly rangeExtractor: (range: Range) => number[];
}

export function useRowFocus(scroller: RefObject<HTMLDivElement | null>, count: number): RowFocus {
  const [chosen, setChosen] = useState(0);
  /** Moved there by keyboard, but it may not be mounted yet. */
  const wanted = useRef<number>(undefined);
  const stop = Math.min(chosen, Math.max(count - 1, 0));
  useEffect(() => {
    if (wanted.current !== stop) return;
    const row = scroller.current?.querySelector<HTMLElement>(`[data-row="${stop}"]`);
    if (row === null || row === undefined) return;
    wanted.current = undefined;
    row.focus({ preventScroll: true });
  });
  return {
    stop,
    moveTo: setChosen,
    onKeyDown: (event, rows) => {
      const next = nextRow(event.key, stop, count);
      // Keys inside a field, a menu or the table head belong to those.
      if (next === undefined || !(event.target instanceof HTMLElement) || event.target.dataset["row"] === undefined)
        return;
      event.preventDefault();
      wanted.current = next;
      setChosen(next);
      rows.scrollToIndex(next);
    },
    rangeExtractor: (range) =>
      [...new Set([...defaultRangeExtractor(range), ...(count === 0 ? [] : [stop])])].sort((a, b) => a - b),
  };
}

export function nextRow(key: string, at: number, count: number): number | undefined {
  if (count === 0) return undefined;
  if (key === "ArrowDown") return Math.min(at + 1, count - 1);
  if (key === "ArrowUp") return Math.max(at - 1, 0);
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : undefined;
}

/** Removes links and buttons of all other rows from the tab order. */
export function useTabStops(row: RefObject<HTMLElement | null>, managed: boolean, isStop: boolean): void {
  useEffect(() => {
    if (!managed) return;
    for (const one of row.current?.querySelectorAll<HTMLElement>(
      "a[href], button, input, select, [tabindex], [data-tab-stop]",
    ) ?? []) {
      // Elements that are never a tab stop, such as a link that duplicates the row, stay that way.
      if (one.tabIndex >= 0) one.dataset["tabStop"] = "";
      if (one.dataset["tabStop"] !== undefined) one.tabIndex = isStop ? 0 : -1;
    }
  });
}
