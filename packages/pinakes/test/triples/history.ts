/** The steps of a writer that is killed, so that its checker knows what must exist. */
import { defaultGraph, iri, literal, type Quad } from "../../src/domain/rdf.ts";
import { tenantScope } from "../../src/domain/scope.ts";
import type { QuadChange } from "../../src/ports/triple-store.ts";

export const scope = tenantScope("acme");
export const writers = 4;
export const spaceOf = (writer: number): string => `space-${writer % 2}`;

const rowsPerStep = 12;
/** A step removes what the step this many before it has written. */
const kept = 5;

/** The rows of a step share terms with those of others, and have some of their own. */
function rowsOf(writer: number, step: number): Quad[] {
  return Array.from({ length: rowsPerStep }, (_, i) => ({
    s: iri(`urn:${writer}:${step}`),
    p: iri(`urn:p${i % 3}`),
    o: i % 2 === 0 ? literal(`${writer} ${step} ${i}`) : iri(`urn:o${(step + i) % 7}`),
    g: i % 4 === 0 ? iri(`urn:g${writer}`) : defaultGraph,
  }));
}

export function changeOf(writer: number, step: number): QuadChange {
  return {
    insert: rowsOf(writer, step),
    remove: step < kept ? [] : rowsOf(writer, step - kept),
    ...(step % 2 === 0 ? { source: { source: `writer-${writer}`, part: step } } : {}),
    atomic: true,
  };
}

/** A writer's quads after `step`; nothing before its first. */
export function quadsAfter(writer: number, step: number): Quad[] {
  return Array.from({ length: kept }, (_, i) => step - i)
    .filter((at) => at >= 0)
    .flatMap((at) => rowsOf(writer, at));
}
