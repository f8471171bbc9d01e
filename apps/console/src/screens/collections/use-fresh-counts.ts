/** While documents are indexed, counts and sizes in lists change all the time: they are asked for again, but not for every document. */
import { useEvents } from "../../api/events.ts";
import { queryClient } from "../../app/query-client.ts";

const againMs = 1_500;
let timer: ReturnType<typeof setTimeout> | undefined;

export function useFreshCounts(): void {
  useEvents(({ type }) => {
    if (type === "document.status") renewCounts();
  });
}

/** Soon, and once for all that happens until then. */
export function renewCounts(): void {
  timer ??= setTimeout(() => {
    timer = undefined;
    void queryClient.invalidateQueries({ queryKey: ["collections"] });
  }, againMs);
}
