/**
 * Documents marked as relevant, per question. Kept in session storage until they are saved as an evaluation, so that a reload loses nothing,
 * and other users do not see them.
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
  /** Searched collections. */
  readonly collections: readonly CollectionId[];
  readonly relevant: readonly MarkedDocument[];
}

export interface Marks {
  readonly questions: readonly MarkedQuestion[];
  /** Toggles the mark of a document. Questions without marks are removed. */
  readonly toggle: (query: string, collections: readonly CollectionId[], document: MarkedDocument) => void;
  readonly forget: (query: string) => void;
  readonly forgetAll: () => void;
}

const storageKey = "pinakes.search.marks";
/** The maximum of an evaluation. */
const questionsMax = 1_000;
const relevantMax = 100;

/** Per user: the next user of the same tab does not see them. */
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
    // Storage is full or forbidden: marks last as long as the page.
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
