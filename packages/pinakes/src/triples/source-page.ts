/**
 * A page of what a source supports: quads with their parts, from the rows that an engine reads, one per quad and part. A quad ends where
 * the next one begins, so it reads at least one row more than it returns, and at most a step more.
 */
import type { Quad } from "../domain/rdf.ts";
import type { SupportedQuad } from "../ports/triple-store.ts";
import type { SourceRequest, SourceResult } from "./triple-engine.ts";
import { tripleLimits } from "./triple-limits.ts";

const { sourcePageSupportsMax, sourceStepRowsMax, sourceStepRowsMin, pageCharsMax } = tripleLimits;

interface Page {
  readonly quads: readonly SupportedQuad[];
  readonly next?: string | undefined;
  readonly examined: number;
}

type Read = (request: Pick<SourceRequest, "after" | "limit">) => Promise<SourceResult>;

export async function sourcePage(read: Read, limit: number, begin: string | undefined): Promise<Page> {
  const told = new ToldQuads(limit);
  let examined = 0;
  for (let after = begin; ;) {
    const step = await read({ after, limit: told.wanted });
    examined += step.examined;
    for (const { quad, part, place } of step.rows) {
      // If the page ended with the last row of the previous step, the next page starts after that row.
      if (!told.take(quad, part)) return { quads: told.quads, next: after, examined };
      after = place;
    }
    if (step.next === undefined) return { quads: told.quads, examined };
    after = step.next;
  }
}

class ToldQuads {
  readonly #limit: number;
  readonly #quads: { readonly quad: Quad; readonly parts: number[] }[] = [];
  #supports = 0;
  #chars = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Engines may sort them as strings. */
  get quads(): readonly SupportedQuad[] {
    return this.#quads.map(({ quad, parts }) => ({ quad, parts: parts.toSorted((a, b) => a - b) }));
  }

  /** How many rows to read next: never many more than can be returned. */
  get wanted(): number {
    const quads = this.#limit - this.#quads.length + 1;
    return Math.min(sourceStepRowsMax, Math.max(sourceStepRowsMin, quads), sourcePageSupportsMax - this.#supports + 1);
  }

  /** False if the page is full: the row belongs to the next page. */
  take(quad: Quad, part: number): boolean {
    if (this.#supports === sourcePageSupportsMax) return false;
    const last = this.#quads.at(-1);
    if (last !== undefined && isSame(last.quad, quad)) last.parts.push(part);
    else if (this.#quads.length === this.#limit || this.#chars >= pageCharsMax) return false;
    else {
      this.#quads.push({ quad, parts: [part] });
      this.#chars += quad.s.length + quad.p.length + quad.o.length + quad.g.length;
    }
    this.#supports += 1;
    return true;
  }
}

function isSame(a: Quad, b: Quad): boolean {
  return a.s === b.s && a.p === b.p && a.o === b.o && a.g === b.g;
}
