import { deletionStrings } from "../../strings/deletions.ts";
import { remainingText } from "./remaining.ts";

export function RemainingCell({ of }: { readonly of: number | null }) {
  return <span {...(of === null ? { title: deletionStrings.notCounted } : {})}>{remainingText(of)}</span>;
}
