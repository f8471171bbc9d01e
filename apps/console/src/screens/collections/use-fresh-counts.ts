/** While documents are indexed, counts and sizes in lists change all the time: they are asked for again, but not for every document. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { useEvents } from "../../api/events.ts";

const againMs = 3_000;

export function useFreshCounts(): void {
  const client = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEvents(({ type }) => {
    if (type !== "document.status") return;
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      void client.invalidateQueries({ queryKey: ["collections"] });
    }, againMs);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
}
