import type { SearchAnswer } from "@pinakes/client";
import { noAnswerStrings, skippedStrings } from "../../strings/no-answer.ts";
import { Empty } from "../../ui/states.tsx";

export function NoAnswer({ answer: { outcome } }: { readonly answer: Pick<SearchAnswer, "outcome"> }) {
  const { title, about } = noAnswerStrings[outcome === "ok" ? "no_match" : outcome];
  return <Empty title={title}>{about}</Empty>;
}

export function Skipped({ answer: { skipped = [] } }: { readonly answer: Pick<SearchAnswer, "skipped"> }) {
  if (skipped.length === 0) return null;
  return (
    <details className="text-sm text-warn">
      <summary>{skippedStrings.title(skipped.length)}</summary>
      <ul className="list-disc pl-5">
        {skipped.map(({ repository_id, collection_id, reason }) => (
          <li key={`${repository_id}/${collection_id}`} className="break-words">
            {repository_id}/{collection_id}: {reason}
          </li>
        ))}
      </ul>
    </details>
  );
}
