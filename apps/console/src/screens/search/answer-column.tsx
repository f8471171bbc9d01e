/** One answer: timings, searched collections, and hits with explanations. */
import type { UseQueryResult } from "@tanstack/react-query";
import { useState } from "react";
import type { ExplainedAnswer } from "../../api/explained-search.ts";
import { formatMs, formatNumber } from "../../lib/format.ts";
import { searchStrings } from "../../strings/search.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorBox, Loading } from "../../ui/states.tsx";
import { rankChanges } from "./compare.ts";
import { fitsBadly } from "./fits.ts";
import { GraphPart } from "./graph-part.tsx";
import { HitCard } from "./hit-card.tsx";
import { type Marks, relevantOf } from "./marks.ts";
import { NoAnswer, Skipped } from "./no-answer.tsx";
import { largestParts } from "./score-bars.tsx";
import { SearchedTable } from "./searched-table.tsx";

const s = searchStrings.answer;
/** Hits are large; rendering a thousand would be slow. */
const shownStep = 50;

export interface Asked {
  readonly question: string;
  /** Why it could not be sent. */
  readonly error?: Error | undefined;
  readonly result: UseQueryResult<ExplainedAnswer>;
}

interface AnswerColumnProps {
  readonly title: string;
  readonly asked: Asked;
  readonly marks: Marks;
  readonly other?: { readonly name: string; readonly answer: ExplainedAnswer | undefined } | undefined;
}

export function AnswerColumn({ title, asked: { question, error, result }, marks, other }: AnswerColumnProps) {
  return (
    <section className="flex min-w-0 flex-col gap-3" aria-label={title}>
      <h2 className="text-sm font-semibold">{title}</h2>
      {error !== undefined ? (
        <ErrorBox error={new Error(s.filterWrong(error.message))} />
      ) : result.error !== null ? (
        <ErrorBox error={result.error} onRetry={() => void result.refetch()} />
      ) : result.data === undefined ? (
        <Loading what={s.searching} />
      ) : (
        <Found answer={result.data} {...{ question, marks, other }} />
      )}
    </section>
  );
}

interface FoundProps extends Pick<AnswerColumnProps, "marks" | "other"> {
  readonly answer: ExplainedAnswer;
  readonly question: string;
}

function Found({ answer, question, marks, other }: FoundProps) {
  const [shown, setShown] = useState(shownStep);
  const { hits, graph, explain } = answer;
  const relevant = relevantOf(marks.questions, question);
  const changes = other?.answer === undefined ? undefined : rankChanges(hits, other.answer.hits);
  const largest = largestParts(hits);
  const collections = (explain?.collections ?? hits).map(({ repository_id: rid, collection_id: cid }) => ({
    rid,
    cid,
  }));
  return (
    <>
      <Summary answer={answer} question={question} relevant={relevant} />
      <Skipped answer={answer} />
      {hits.length === 0 && (
        <div className="rounded-lg border bg-panel">
          <NoAnswer answer={answer} />
        </div>
      )}
      <ol className="flex min-w-0 flex-col gap-3 empty:hidden">
        {hits.slice(0, shown).map((hit, index) => (
          <HitCard
            key={hit.chunk_id}
            hit={hit}
            rank={index + 1}
            question={question}
            largest={largest}
            right={relevant.has(hit.document_id)}
            onMark={() => marks.toggle(question, collections, { id: hit.document_id, filename: hit.citation.filename })}
            change={changes?.get(hit.chunk_id)}
            other={changes === undefined ? undefined : other?.name}
          />
        ))}
      </ol>
      {hits.length > shown && (
        <Button className="self-center" onClick={() => setShown(shown + shownStep)}>
          {s.more(Math.min(shownStep, hits.length - shown))}
        </Button>
      )}
      {graph !== undefined && <GraphPart graph={graph} />}
      {explain !== undefined && <SearchedTable explain={explain} />}
    </>
  );
}

interface SummaryProps extends Pick<FoundProps, "answer" | "question"> {
  readonly relevant: ReadonlySet<string>;
}

function Summary({ answer, question, relevant }: SummaryProps) {
  const { hits, timings, explain } = answer;
  const quality = qualityOf(hits, relevant);
  const removed = (explain?.collections ?? []).reduce((count, { removed_by_filter }) => count + removed_by_filter, 0);
  return (
    <div role="status" className="flex flex-col gap-1 text-xs text-soft">
      <p>
        {s.hits(hits.length)} · {removed > 0 && <>{s.removed(removed, formatNumber(removed))} · </>}{" "}
        {s.timings(formatMs(timings.total_ms), formatMs(timings.embed_ms), formatMs(timings.search_ms))}
      </p>
      {fitsBadly(question, hits) && <p className="text-sm text-warn">{s.farOff}</p>}
      {explain !== undefined && explain.mode === "hybrid" && <p>{s.fusion(explain.fusion, explain.vector_weight)}</p>}
      {explain?.graph !== undefined && (
        <p>
          {s.graphFusion(
            explain.graph.hops,
            explain.graph.weight,
            explain.graph.entities,
            explain.graph.passages_added,
          )}
        </p>
      )}
      {quality !== undefined && (
        <p className="text-ink">
          {searchStrings.marks.quality(
            quality.ndcg.toFixed(3),
            quality.recall.toFixed(3),
            quality.mrr.toFixed(3),
            quality.k,
          )}
        </p>
      )}
    </div>
  );
}

/**
 * Quality of one answer by the user's marks: the same metrics as an evaluation run, for the current question.
 * A document counts once, at its best chunk.
 */
interface Quality {
  readonly ndcg: number;
  readonly recall: number;
  /** 1 divided by the rank of the first relevant one. */
  readonly mrr: number;
  readonly k: number;
}

export function qualityOf(
  hits: readonly { readonly document_id: string }[],
  relevant: ReadonlySet<string>,
  k = 10,
): Quality | undefined {
  if (relevant.size === 0) return undefined;
  const documents = [...new Set(hits.map(({ document_id }) => document_id))].slice(0, k);
  const ranks = documents.flatMap((id, index) => (relevant.has(id) ? [index + 1] : []));
  const gain = (rank: number) => 1 / Math.log2(rank + 1);
  const ideal = Array.from({ length: Math.min(relevant.size, k) }, (_, index) => gain(index + 1));
  return {
    ndcg: sum(ranks.map(gain)) / sum(ideal),
    recall: ranks.length / relevant.size,
    mrr: ranks[0] === undefined ? 0 : 1 / ranks[0],
    k,
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
