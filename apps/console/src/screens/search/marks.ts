/**
 * The documents that a reader marked as right, for each question. Kept in the tab until they are saved as an evaluation: a reload
 * does not lose the work of an hour, and nobody else sees it.
 */
import { useQuery } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import type { CollectionId } from "../../api/collections.ts";
import { meOptions } from "../../api/identity.ts";

export interface MarkedDocument {
  readonly id: string;
  readonly filename: string;
}

export interface MarkedQuestion {
  readonly query: string;
  /** Where it was asked. */
  readonly collections: readonly CollectionId[];
  readonly relevant: readonly MarkedDocument[];
}

export interface Marks {
  readonly questions: readonly MarkedQuestion[];
  /** Marks a document, or takes its mark away. A question without marks is forgotten. */
  readonly toggle: (query: string, collections: readonly CollectionId[], document: MarkedDocument) => void;
  readonly forget: (query: string) => void;
  readonly forgetAll: () => void;
}

const storageKey = "pinakes.search.marks";
/** As many as an evaluation may hold. */
const questionsMax = 1_000;
const relevantMax = 100;

/** By who is signed in: the next one at the same tab does not see them. */
const kept = new Map<string, readonly MarkedQuestion[]>();
const listeners = new Set<() => void>();

export function useMarks(): Marks {
  const me = useQuery(meOptions).data;
  const owner = me === undefined ? "" : `${me.workspace_id}/${me.user_id}`;
  const questions = useSyncExternalStore(subscribe, () => marksOf(owner));
  return {
    questions,
    toggle: (query, collections, document) => set(owner, toggled(marksOf(owner), { query, collections, document })),
    forget: (query) =>
      set(
        owner,
        marksOf(owner).filter((one) => one.query !== query),
      ),
    forgetAll: () => set(owner, []),
  };
}

export function relevantOf(questions: readonly MarkedQuestion[], query: string): ReadonlySet<string> {
  return new Set(questions.find((one) => one.query === query)?.relevant.map(({ id }) => id));
}

interface Toggle {
  readonly query: string;
  readonly collections: readonly CollectionId[];
  readonly document: MarkedDocument;
}

function toggled(
  questions: readonly MarkedQuestion[],
  { query, collections, document }: Toggle,
): readonly MarkedQuestion[] {
  const before = questions.find((one) => one.query === query);
  const relevant = before?.relevant ?? [];
  const without = relevant.filter(({ id }) => id !== document.id);
  const changed = {
    query,
    collections,
    relevant: without.length < relevant.length ? without : [...relevant, document].slice(0, relevantMax),
  };
  const all =
    before === undefined
      ? [...questions, changed].slice(0, questionsMax)
      : questions.map((one) => (one === before ? changed : one));
  return all.filter((one) => one.relevant.length > 0);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function marksOf(owner: string): readonly MarkedQuestion[] {
  const known = kept.get(owner);
  if (known !== undefined) return known;
  const loaded = load(owner);
  kept.set(owner, loaded);
  return loaded;
}

function set(owner: string, next: readonly MarkedQuestion[]): void {
  kept.set(owner, next);
  try {
    sessionStorage.setItem(`${storageKey}.${owner}`, JSON.stringify(next));
  } catch {
    // Full or forbidden: then they live as long as the page.
  }
  for (const listener of listeners) listener();
}

function load(owner: string): readonly MarkedQuestion[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(`${storageKey}.${owner}`) ?? "[]");
    return Array.isArray(stored) ? (stored as readonly MarkedQuestion[]) : [];
  } catch {
    return [];
  }
}
