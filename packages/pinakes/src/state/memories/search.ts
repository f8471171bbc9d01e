/** Searches messages by keyword, vector, or both. */
import type { MemoryHit, MemorySearch, MemorySearchResult } from "@pinakes/client";
import type { Caller } from "../../domain/caller.ts";
import { invalid, show } from "../../domain/errors.ts";
import type { Filter } from "../../domain/filter.ts";
import type { QueryHit, QueryInput } from "../../vectors/index.ts";
import type { StateDependencies } from "../dependencies.ts";
import { memoryLimits } from "./limits.ts";
import { MemoryIndex } from "./memory-index.ts";
import { requireName, type MemoryStore } from "./memory-store.ts";
import { viewOf } from "./schema.ts";

const candidatesMin = 50;
const candidatesMax = 1_000;

type Mode = MemorySearchResult["mode_used"];

export class MemorySearches {
  readonly #deps: StateDependencies;
  readonly #store: MemoryStore;
  readonly #index: MemoryIndex;

  constructor(deps: StateDependencies, store: MemoryStore) {
    this.#deps = deps;
    this.#store = store;
    this.#index = new MemoryIndex(deps);
  }

  async search({ scope }: Caller, query: MemorySearch): Promise<MemorySearchResult> {
    const { limit, filter, mode } = this.#checked(query);
    const embedder = mode === "keyword" ? undefined : await this.#deps.embedder?.();
    const { collection, complete } = await this.#index.catchUp(scope, embedder);
    const vector = (await embedder?.embed([query.query], { kind: "query" }))?.[0];
    const asked: QueryInput = {
      mode: mode === "semantic" ? "vector" : mode,
      vector,
      ...(mode === "semantic" ? {} : { text: query.query }),
      filter,
    };
    for (let candidates = Math.max(candidatesMin, limit * 2); ; candidates = Math.min(candidatesMax, candidates * 4)) {
      const { hits } = await this.#deps.vectors.query(scope, collection, { ...asked, limit: candidates });
      const found = await this.#readBack(scope, hits, query);
      // Some candidates may have expired; then lower-ranked ones fill up.
      const enough = found.length >= limit || hits.length < candidates || candidates >= candidatesMax;
      if (enough) return { hits: found.slice(0, limit), mode_used: mode, ...(complete ? {} : { incomplete: true }) };
    }
  }

  /** The messages decide: a hit whose message is deleted, expired, or outside the filter is not returned. */
  async #readBack(
    scope: Caller["scope"],
    hits: readonly QueryHit[],
    { agent_id, session_id }: MemorySearch,
  ): Promise<readonly MemoryHit[]> {
    const seen = new Set<string>();
    const keys = hits.map(({ metadata }) => ({
      agentId: metadata["agent_id"] as string,
      id: metadata["message_id"] as string,
    }));
    const items = await this.#store.readMany(scope, keys);
    return hits.flatMap(({ id, score }, i) => {
      const item = items[i];
      // Each message once, even if the index has duplicates.
      if (item === undefined || seen.has(id)) return [];
      seen.add(id);
      const memory = viewOf(item);
      const asked =
        (agent_id === undefined || memory.agent_id === agent_id) &&
        (session_id === undefined || memory.session_id === session_id);
      return asked && memory.workspace_id === scope.tenant ? [{ memory, score }] : [];
    });
  }

  #checked({ query, agent_id, session_id, mode, limit = memoryLimits.searchHitsDefault }: MemorySearch): {
    readonly limit: number;
    readonly filter: Filter | undefined;
    readonly mode: Mode;
  } {
    const { searchQueryCharsMax: charsMax, searchHitsMax: hitsMax } = memoryLimits;
    if (typeof query !== "string" || query.trim() === "" || query.length > charsMax)
      throw invalid(`query: must be a string of 1–${charsMax} characters, got ${show(query)}.`);
    if (!Number.isInteger(limit) || limit < 1 || limit > hitsMax)
      throw invalid(`limit: must be a whole number from 1 to ${hitsMax}, got ${show(limit)}.`);
    const named = [
      ...(agent_id === undefined ? [] : [["agent_id", requireName(agent_id, "agent_id")] as const]),
      ...(session_id === undefined ? [] : [["session_id", requireName(session_id, "session_id")] as const]),
    ];
    return { limit, filter: named.length === 0 ? undefined : Object.fromEntries(named), mode: this.#mode(mode) };
  }

  #mode(mode: unknown): Mode {
    const can = this.#deps.embedder !== undefined;
    if (mode === undefined) return can ? "hybrid" : "keyword";
    if (mode !== "keyword" && mode !== "semantic" && mode !== "hybrid")
      throw invalid(`mode: must be keyword, semantic or hybrid, got ${show(mode)}.`);
    if (mode !== "keyword" && !can)
      throw invalid(`mode: ${mode} needs an embedding model, and none is configured here; use keyword.`);
    return mode;
  }
}
