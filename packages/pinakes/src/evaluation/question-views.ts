/** The queries of an evaluation, and their outcomes in a run, page by page. They never change, so a cursor is an index. */
import type { EvaluationQuestion as QuestionView, RunQuestion as RunQuestionView } from "@pinakes/client";
import { invalid, show } from "../domain/errors.ts";
import { checkLimit } from "../knowledge/collections/list-collections.ts";
import type { ListPage, Paging } from "../knowledge/records/paging.ts";
import { evaluationLimits } from "./evaluation-input.ts";
import { ndcgAt, recallAt, reciprocalRankAt, type Answered, type JudgedQuery } from "./measure.ts";
import type { QueryOutcome } from "./question-store.ts";

export type { QuestionView, RunQuestionView };

export function questionsPage(queries: readonly JudgedQuery[], paging: Paging): ListPage<QuestionView> {
  return pageOf(queries.map(questionView), paging);
}

export function runPage(
  queries: readonly JudgedQuery[],
  outcomes: readonly QueryOutcome[],
  mayRank: boolean,
  paging: Paging,
): ListPage<RunQuestionView> {
  const views = queries.flatMap((query, i) => {
    const outcome = outcomes[i];
    return outcome === undefined
      ? []
      : [{ ...questionView(query, i), ...outcome, ranked: mayRank ? outcome.ranked : null }];
  });
  return pageOf(views, paging);
}

export function outcomeOf(answered: Answered, k: number): QueryOutcome {
  const { ranked, relevant, searchMs } = answered;
  const found = ranked
    .slice(0, k)
    .flatMap((document_id, i) => ((relevant.get(document_id) ?? 0) > 0 ? [{ document_id, rank: i + 1 }] : []));
  return {
    ndcg: ndcgAt(k).of(answered),
    recall: recallAt(k).of(answered),
    mrr: reciprocalRankAt(k).of(answered),
    search_ms: searchMs,
    found,
    ranked: ranked.slice(0, Math.min(k, evaluationLimits.rankedKeptMax)),
  };
}

function questionView({ text, relevant }: JudgedQuery, i: number): QuestionView {
  return {
    number: i + 1,
    query: text,
    relevant: [...relevant].map(([document_id, grade]) => ({ document_id, grade })),
  };
}

function pageOf<View>(all: readonly View[], { limit, cursor }: Paging): ListPage<View> {
  const from = cursor === undefined ? 0 : checkCursor(cursor);
  const until = from + checkLimit(limit);
  return { items: all.slice(from, until), next_cursor: until < all.length ? String(until) : null };
}

function checkCursor(cursor: string): number {
  if (/^\d{1,4}$/.test(cursor) && Number(cursor) <= evaluationLimits.queriesMax) return Number(cursor);
  throw invalid(`cursor: must be from the previous page, got ${show(cursor)}.`);
}
