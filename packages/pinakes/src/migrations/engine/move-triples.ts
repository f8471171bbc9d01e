/** Moves triples space by space through their port, with their supports, whether they were asserted, and the state of the space. */
import type { Quad } from "../../domain/rdf.ts";
import type { Scope } from "../../domain/scope.ts";
import type { SpaceInfo, Support, TripleStore } from "../../ports/triple-store.ts";
import { ContentHash, type Measured } from "../content-hash.ts";
import { writeQuads } from "../quads.ts";
import type { MoveRecord } from "./move-record.ts";
import type { MoveOptions, MovingStores } from "./move-stores.ts";

const quadsPerPage = 1_000;
const spacesPerPage = 500;

interface HeldQuad {
  readonly quad: Quad;
  /** A quad can be asserted and have supports: it must then outlive them in the target, too. */
  readonly asserted: boolean;
  readonly supports: readonly Support[];
}

export async function copyTriples(
  from: MovingStores,
  to: MovingStores,
  tenants: readonly string[],
  record: MoveRecord,
  options: MoveOptions,
): Promise<void> {
  for (const tenant of tenants) {
    const part = `triples of ${tenant}`;
    const progress = await record.read(part);
    if (progress.done) continue;
    const scope = options.system.forTenant(tenant);
    let { copied } = progress;
    for await (const space of spacesOf(from.triples, scope)) {
      // Ordered by name: those before the cursor are done.
      if (progress.cursor !== undefined && space.space <= progress.cursor) continue;
      copied += await copySpace(from.triples, to.triples, scope, space, options);
      await record.write(part, { cursor: space.space, copied, done: false });
      options.onProgress?.({ what: part, done: copied });
    }
    await record.write(part, { cursor: undefined, copied, done: true });
  }
}

async function copySpace(
  from: TripleStore,
  to: TripleStore,
  scope: Scope,
  { space, status }: SpaceInfo,
  options: MoveOptions,
): Promise<number> {
  if (status === "purged") {
    for (let done = false; !done;) ({ done } = await to.purge(scope, space));
    return 0;
  }
  // A space that an earlier attempt had fenced accepts quads again during the copy.
  await to.unfence(scope, space).catch(() => undefined);
  await to.open(scope, space);
  let copied = 0;
  for await (const page of pagesOf(from, scope, { space, status }, options.signal)) {
    await writeQuads(
      to,
      scope,
      space,
      page.filter(({ asserted }) => asserted).map(({ quad }) => quad),
    );
    const bySupport = Map.groupBy(
      page.flatMap(({ quad, supports }) => supports.map((support) => ({ quad, support }))),
      ({ support }) => JSON.stringify([support.source, support.part]),
    );
    for (const group of bySupport.values()) {
      const [first] = group;
      if (first !== undefined)
        await to.write(scope, space, { insert: group.map(({ quad }) => quad), source: first.support });
    }
    copied += page.length;
  }
  if (status === "fenced") await to.fence(scope, space);
  return copied;
}

export async function measureTriples(
  triples: TripleStore,
  { system, signal }: MoveOptions,
  tenant: string,
): Promise<Measured> {
  const scope = system.forTenant(tenant);
  const sum = new ContentHash();
  for await (const space of spacesOf(triples, scope)) {
    sum.add(JSON.stringify(["space", space.space, space.status]));
    if (space.status === "purged") continue;
    for await (const page of pagesOf(triples, scope, space, signal))
      for (const { quad, asserted, supports } of page) {
        const { s, p, o, g } = quad;
        sum.add(
          JSON.stringify([space.space, s, p, o, g, asserted, supports.map(({ source, part }) => [source, part])]),
        );
      }
    // Only the first thousand supports of a quad are listed; the count reveals whether more were lost.
    sum.add(JSON.stringify(["supports", space.space, (await triples.usage(scope, space.space)).supports]));
  }
  return sum.measured;
}

async function* spacesOf(triples: TripleStore, scope: Scope): AsyncGenerator<SpaceInfo> {
  for (let cursor: string | undefined; ;) {
    const page = await triples.spaces(scope, { limit: spacesPerPage, cursor });
    yield* page.spaces;
    cursor = page.cursor;
    if (cursor === undefined) return;
  }
}

/** A fenced space cannot be read: it is unfenced meanwhile, and fenced again in any case. */
async function* pagesOf(
  triples: TripleStore,
  scope: Scope,
  { space, status }: SpaceInfo,
  signal: AbortSignal,
): AsyncGenerator<readonly HeldQuad[]> {
  if (status === "fenced") await triples.unfence(scope, space);
  try {
    for (let cursor: string | undefined; ;) {
      signal.throwIfAborted();
      const page = await triples.match(scope, space, {}, { limit: quadsPerPage, cursor });
      const supports = await triples.supports(scope, space, page.quads);
      const asserted = await triples.asserted(scope, space, page.quads);
      yield page.quads.map((quad, i) => ({ quad, asserted: asserted[i] === true, supports: supports[i] ?? [] }));
      cursor = page.cursor;
      if (cursor === undefined) return;
    }
  } finally {
    if (status === "fenced") await triples.fence(scope, space);
  }
}
