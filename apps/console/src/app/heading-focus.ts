/**
 * After navigation, focus moves to the heading, for keyboards and screen readers. Not on the first page, which the browser reads from the
 * top, and not where the page focuses a field itself.
 */
import { useRouterState } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

export function useHeadingFocus(): void {
  const shown = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const before = useRef<string>(undefined);
  useEffect(() => {
    const first = before.current === undefined;
    if (shown === undefined || shown === before.current) return undefined;
    before.current = shown;
    return first ? undefined : focusWhenThere();
  }, [shown]);
}

/** The page may still be loading, and the menu closing. User input in the meantime takes precedence. */
function focusWhenThere(): () => void {
  const observer = new MutationObserver(tryNow);
  const given = ["keydown", "pointerdown"] as const;
  function stop(): void {
    observer.disconnect();
    for (const event of given) removeEventListener(event, stop, true);
  }
  function tryNow(): void {
    const heading = document.querySelector<HTMLElement>("main h1");
    if (heading === null || document.querySelector("[role=dialog], [role=menu]") !== null) return;
    stop();
    const chosen = document.activeElement?.closest("main h1, main input, main textarea, main select") ?? null;
    if (chosen === null) heading.focus();
  }
  observer.observe(document.body, { childList: true, subtree: true });
  for (const event of given) addEventListener(event, stop, true);
  tryNow();
  return stop;
}
