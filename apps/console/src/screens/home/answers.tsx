/** Search results of the home page, linked to their position in the document. */
import type { Hit, SearchAnswer } from "@pinakes/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEvents } from "../../api/events.ts";
import { hitName, search } from "../../api/search.ts";
import { formatMs } from "../../lib/format.ts";
import { homeStrings } from "../../strings/home.ts";
import { buttonClass } from "../../ui/button.tsx";
import { ShownName } from "../../ui/name.tsx";
import { Pending } from "../../ui/states.tsx";
import { documentLink } from "../documents/links.ts";
import { useUploads } from "../documents/upload-store.ts";
import { excerptOf } from "../search/excerpt.ts";
import { fitsBadly } from "../search/fits.ts";
import { wordsOf } from "../search/found-words.ts";
import { MarkedText } from "../search/marked-text.tsx";
import { NoAnswer, Skipped } from "../search/no-answer.tsx";

const s = homeStrings.ask;
const route = getRouteApi("/shell/");
const hitsMax = 8;
const excerptChars = 420;

export function Answers() {
  const { q } = route.useSearch();
  return q === undefined ? null : <AnswersTo q={q} />;
}

function AnswersTo({ q }: { readonly q: string }) {
  const client = useQueryClient();
  const answer = useQuery({
    queryKey: ["home-answers", q],
    queryFn: ({ signal }) => search({ query: q, limit: hitsMax }, signal),
  });
  // Newly indexed documents may add hits.
  useEvents(({ type, data }) => {
    if (type === "document.status" && data["status"] === "indexed")
      void client.invalidateQueries({ queryKey: ["home-answers"] });
  });
  if (answer.data === undefined) return <Pending of={answer} what={s.asking} />;
  const { hits, timings } = answer.data;
  if (hits.length === 0) return <NothingFound answer={answer.data} />;
  const words = wordsOf(q);
  return (
    <section aria-label={s.answers} className="flex flex-col gap-2">
      <p role="status" className="flex flex-wrap items-center gap-2 text-sm text-soft">
        <span className="min-w-0 flex-1 basis-60">
          {fitsBadly(q, hits) ? s.farOff : s.results(hits.length, formatMs(timings.total_ms))}
        </span>
        <Link to="/search" search={{ q }} className={buttonClass("quiet", "small")}>
          {s.inLab}
        </Link>
      </p>
      <ol className="flex flex-col gap-2">
        {hits.map((hit) => (
          <li key={`${hit.collection_id} ${hit.chunk_id}`}>
            <HitLink hit={hit} q={q} words={words} />
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Includes uploads of this browser. */
function NothingFound({ answer }: { readonly answer: SearchAnswer }) {
  const sending = useUploads().some(({ state }) => state === "indexing" || state === "sending" || state === "waiting");
  return (
    <>
      <NoAnswer answer={sending ? { outcome: "indexing" } : answer} />
      <Skipped answer={answer} />
    </>
  );
}

const scoreDigits = 2;

function HitLink({ hit, q, words }: { readonly hit: Hit; readonly q: string; readonly words: readonly string[] }) {
  const { repository_id: rid, collection_id: cid, document_id: did, chunk_id: chunk, text, score, citation } = hit;
  const { page, section, start, end } = citation;
  const where = [page === undefined ? undefined : s.page(page), section]
    .filter((part) => part !== undefined)
    .join(" · ");
  const content = (
    <>
      <span className="flex flex-wrap items-baseline gap-x-2 text-sm">
        <span className="min-w-0 font-medium break-words text-brand">
          <ShownName of={hitName(hit)} />
        </span>
        <span className="min-w-0 flex-1 basis-48 text-xs break-words text-soft">{where}</span>
        <span className="text-xs text-soft tabular-nums">{s.score(score.toFixed(scoreDigits))}</span>
      </span>
      <span className="mt-1 block text-sm break-words whitespace-pre-line">
        <MarkedText text={excerptOf(text.replaceAll(/\n\s*\n/g, "\n"), words, excerptChars)} words={words} />
      </span>
    </>
  );
  if (citation.row_id !== undefined) return <div className="rounded-lg border bg-panel p-3">{content}</div>;
  return (
    <Link
      {...documentLink({ rid, cid, did, chunk, start, end, q })}
      className="block rounded-lg border bg-panel p-3 hover:border-brand"
    >
      {content}
    </Link>
  );
}
