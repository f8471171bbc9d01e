/** A hit: text, score, citation, and whether it is marked as relevant. */
import { Link } from "@tanstack/react-router";
import { ArrowDown, ArrowUp, Equal, FileText } from "lucide-react";
import type { ExplainedHit, Parts } from "../../api/explained-search.ts";
import { hitName } from "../../api/search.ts";
import { labelOf, useCollection } from "../../api/collection-names.ts";
import { shownName } from "../../lib/shown-name.ts";
import { searchStrings } from "../../strings/search.ts";
import { Badge } from "../../ui/badge.tsx";
import { buttonClass } from "../../ui/button.tsx";
import { Check } from "../../ui/field.tsx";
import { ShownName } from "../../ui/name.tsx";
import { documentLink } from "../documents/links.ts";
import type { RankChange } from "./compare.ts";
import { useEffect, useRef } from "react";
import { bestPlaceOf } from "./excerpt.ts";
import { partsOf, wordsOf } from "./found-words.ts";
import { numberText, ScoreBars } from "./score-bars.tsx";

const s = searchStrings.hit;

interface HitCardProps {
  readonly hit: ExplainedHit;
  readonly rank: number;
  readonly question: string;
  /** The score of a full bar. */
  readonly largest: Parts;
  readonly right: boolean;
  readonly onMark: () => void;
  /** Its rank in the other answer, and that answer's name. */
  readonly change?: RankChange | undefined;
  readonly other?: string | undefined;
}

export function HitCard({ hit, rank, question, largest, right, onMark, change, other }: HitCardProps) {
  const { citation } = hit;
  const name = hitName(hit);
  return (
    <li className="@container relative flex min-w-0 flex-col gap-2 rounded-lg border bg-panel p-3">
      <div className="flex flex-wrap items-center gap-2">
        <span className="font-semibold tabular-nums">{s.rank(rank)}</span>
        <span className="min-w-0 flex-1 truncate font-medium" title={shownName(name)}>
          <ShownName of={name} />
        </span>
        {other !== undefined && <Change change={change ?? {}} other={other} />}
        <Badge tone="brand">
          {s.score} {numberText(hit.score)}
        </Badge>
      </div>
      <div className="grid min-w-0 gap-x-6 gap-y-2 @3xl:grid-cols-[minmax(0,1fr)_20rem]">
        <HitText text={hit.text} question={question} label={name} />
        <ScoreBars hit={hit} largest={largest} />
      </div>
      <Details hit={hit} />
      <div className="flex flex-wrap items-center gap-3">
        {citation.row_id === undefined && (
          <Link
            {...documentLink({
              rid: hit.repository_id,
              cid: hit.collection_id,
              did: hit.document_id,
              chunk: hit.chunk_id,
              start: citation.start,
              end: citation.end,
              q: question,
            })}
            className={buttonClass("plain", "small")}
          >
            <FileText aria-hidden />
            {s.open}
          </Link>
        )}
        {citation.row_id === undefined && (
          <Check
            label={
              <>
                {s.relevant}
                <span className="sr-only">: {s.relevantFor(name)}</span>
              </>
            }
            checked={right}
            onCheck={onMark}
          />
        )}
      </div>
    </li>
  );
}

function Details({
  hit: { repository_id, collection_id, citation, metadata, explain, more },
}: {
  readonly hit: ExplainedHit;
}) {
  const collection = useCollection({ rid: repository_id, cid: collection_id });
  const fields = typeof metadata === "object" && metadata !== null ? Object.entries(metadata) : [];
  const place = [
    ...(collection === undefined ? [`${repository_id} / ${collection_id}`] : [collection.name, labelOf(collection)]),
    ...(citation.section === undefined ? [] : [citation.section]),
    ...(citation.page === undefined ? [] : [s.page(citation.page)]),
    ...(more === undefined || more.length === 0 ? [] : [s.alsoIn(more.length)]),
  ];
  return (
    <div className="flex flex-col gap-1 text-xs text-soft">
      <p className="break-words">{shownName(place.join(" · "))}</p>
      {fields.length > 0 && (
        <ul aria-label={s.metadata} className="flex flex-wrap gap-1">
          {fields.map(([name, value]) => (
            <li key={name} className="max-w-full truncate rounded bg-raised px-1.5 py-0.5">
              {name}: {typeof value === "string" ? value : JSON.stringify(value)}
            </li>
          ))}
        </ul>
      )}
      {explain !== undefined && (
        <p>
          {s.whyRead}: {explain.access}
        </p>
      )}
    </div>
  );
}

function Change({ change: { by, otherRank }, other }: { readonly change: RankChange; readonly other: string }) {
  if (by === undefined || otherRank === undefined) return <Badge tone="warn">{s.notInOther(other)}</Badge>;
  if (by === 0)
    return (
      <Badge>
        <Equal className="size-3" aria-hidden />
        {s.same(other)}
      </Badge>
    );
  const Arrow = by > 0 ? ArrowUp : ArrowDown;
  return (
    <Badge tone={by > 0 ? "good" : "bad"}>
      <Arrow className="size-3" aria-hidden />
      {by > 0 ? s.up(by, otherRank, other) : s.down(-by, otherRank, other)}
    </Badge>
  );
}

/** Characters that are visible without scrolling. */
const seenChars = 400;

/** The whole chunk, scrolled to the words of the question. */
function HitText({
  text,
  question,
  label,
}: {
  readonly text: string;
  readonly question: string;
  readonly label: string;
}) {
  const box = useRef<HTMLParagraphElement>(null);
  const best = useRef<HTMLElement>(null);
  const words = wordsOf(question);
  const place = bestPlaceOf(text, words, seenChars);
  useEffect(() => {
    if (box.current === null || best.current === null) return;
    const down = best.current.getBoundingClientRect().top - box.current.getBoundingClientRect().top;
    // Does not scroll if it is already visible.
    if (down > box.current.clientHeight * (3 / 4)) box.current.scrollTop += down - box.current.clientHeight / 4;
  }, [text, place]);
  let at = 0;
  return (
    <p
      ref={box}
      className="max-h-60 overflow-auto text-sm break-words whitespace-pre-wrap"
      tabIndex={0}
      role="group"
      aria-label={label}
    >
      {partsOf(text, words).map((part) => {
        const from = at;
        at += part.text.length;
        return part.found ? (
          <mark key={from} {...(from === place ? { ref: best } : {})}>
            {part.text}
          </mark>
        ) : (
          <span key={from}>{part.text}</span>
        );
      })}
    </p>
  );
}
