import type { More } from "../api/page.ts";
import { ErrorBox } from "./states.tsx";

/** Footer of a list whose next page failed to load. Loaded rows stay visible. */
export function MoreError({ more }: { readonly more: More | undefined }) {
  if (more === undefined || more.error === undefined || more.loading) return null;
  return (
    <div className="border-t p-2">
      <ErrorBox error={more.error} onRetry={more.load} />
    </div>
  );
}
