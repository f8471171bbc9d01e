/** All quads of a space: read, written and removed in pages. */
import { hasCode } from "../domain/errors.ts";
import type { Quad } from "../domain/rdf.ts";
import type { Scope } from "../domain/scope.ts";
import type { TripleStore } from "../ports/triple-store.ts";

const quadsPerPage = 5_000;

export async function* heldQuads(
  triples: TripleStore,
  scope: Scope,
  space: string,
  signal: AbortSignal,
): AsyncGenerator<Quad> {
  for (let cursor: string | undefined; ;) {
    signal.throwIfAborted();
    const page = await triples.match(scope, space, {}, { limit: quadsPerPage, cursor });
    yield* page.quads;
    cursor = page.cursor;
    if (cursor === undefined) return;
  }
}

/** The first write opens the space, even without quads. */
export async function writeQuads(
  triples: TripleStore,
  scope: Scope,
  space: string,
  quads: readonly Quad[],
): Promise<void> {
  const write = async () => void (quads.length > 0 && (await triples.write(scope, space, { insert: quads })));
  try {
    await write();
  } catch (error) {
    if (!hasCode(error, "NOT_FOUND")) throw error;
    await triples.open(scope, space);
    await write();
  }
}

export async function removeQuads(
  triples: TripleStore,
  scope: Scope,
  space: string,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const { quads } = await triples.match(scope, space, {}, { limit: quadsPerPage });
    if (quads.length === 0) return;
    await triples.write(scope, space, { remove: quads });
  }
}
