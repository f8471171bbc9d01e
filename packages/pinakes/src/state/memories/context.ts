/**
 * Context windows: the messages of a session that fit a token budget.
 *
 * - System messages at the start of a session come first, up to the budget; later ones are ordinary messages.
 * - `recent`: the newest without a gap, until the next older one would not fit. `relevance`: the most relevant, ties by
 *   recency; one that does not fit is skipped.
 * - A tool call and its results are included or omitted together (tool-pairs.ts). A result whose call does not fit is omitted.
 * - A `recent` window that leaves out earlier messages starts with a user or system message, since models refuse or misread a
 *   conversation that starts in the middle of a turn. If it has neither, it stays as it is: that is better than an empty window.
 * - The result is in chronological order.
 */
import type { ContextQuery, ContextWindow } from "@pinakes/client";
import type { Caller } from "../../domain/caller.ts";
import { invalid, show } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Item, SessionTokens } from "../../ports/item-store.ts";
import { memoryLimits } from "./limits.ts";
import { requireName, type MemoryStore } from "./memory-store.ts";
import { viewOf } from "./schema.ts";
import { earlier, isSeam, linkTools, saidOf, type Said } from "./tool-pairs.ts";

/** Starts with a small page, since most contexts are short, and doubles the page size. */
const pageItemsFirst = 50;
const pageItemsMax = 1_000;

interface Session {
  readonly scope: Scope;
  readonly agentId: string;
  readonly sessionId: string;
  readonly session: SessionTokens | undefined;
}

/** The newest messages of a session, in order. */
interface Tail {
  readonly items: readonly Item[];
  readonly said: readonly Said[];
  /** Aligned: the index of the call that a result answers. */
  readonly callOf: readonly (number | undefined)[];
  /** From here on all links are resolved. */
  readonly start: number;
  readonly whole: boolean;
}

export async function contextWindow(
  store: MemoryStore,
  caller: Caller,
  query: ContextQuery & { readonly session?: SessionTokens | undefined },
): Promise<ContextWindow> {
  const { maxTokens, strategy = "recent" } = query;
  if (!Number.isInteger(maxTokens) || maxTokens < 1 || maxTokens > memoryLimits.contextTokensMax)
    throw invalid(
      `maxTokens (over HTTP max_tokens): must be a whole number from 1 to ${memoryLimits.contextTokensMax}, got ${show(maxTokens)}.`,
    );
  if (strategy !== "recent" && strategy !== "relevance")
    throw invalid(`strategy: must be "recent" or "relevance", got ${show(strategy)}.`);
  const session: Session = {
    scope: caller.scope,
    agentId: requireName(query.agent_id, "agent_id"),
    sessionId: requireName(query.session_id, "session_id"),
    session: query.session,
  };
  const opening = await readOpening(store, session);
  const kept: Item[] = [];
  let budget = maxTokens;
  for (const item of opening) {
    if (saidOf(item).tokens > budget) break;
    budget -= saidOf(item).tokens;
    kept.push(item);
  }
  const known = new Set(opening.map(({ id }) => id));
  const chosen =
    strategy === "recent" ? await recent(store, session, known, budget) : await relevant(store, session, known, budget);
  const items = [...kept, ...chosen];
  const count = await store.countSession(session.scope, session.agentId, session.sessionId);
  const token_count = items.reduce((sum, item) => sum + saidOf(item).tokens, 0);
  return { messages: items.map(viewOf), token_count, omitted: Math.max(0, count - items.length) };
}

async function readOpening(store: MemoryStore, session: Session): Promise<readonly Item[]> {
  const max = memoryLimits.openingMessagesMax;
  const { items } = await store.page(
    session.scope,
    session.agentId,
    { ...inSession(session), limit: max },
    session.session,
  );
  const end = items.findIndex(({ document }) => document["message_type"] !== "system");
  return end < 0 ? items : items.slice(0, end);
}

function inSession({ agentId, sessionId }: Session) {
  return { index: "bySession", equals: { agent_id: agentId, session_id: sessionId } } as const;
}

async function recent(
  store: MemoryStore,
  session: Session,
  opening: ReadonlySet<string>,
  budget: number,
): Promise<readonly Item[]> {
  for await (const tail of tails(store, session, opening)) {
    const { items, said, callOf, start, whole } = tail;
    const cost = said.map(({ tokens }, i) => (callOf[i] === undefined ? tokens : 0));
    for (const [i, call] of callOf.entries())
      if (call !== undefined && call !== earlier) cost[call] = (cost[call] as number) + (said[i]?.tokens ?? 0);
    let cut = items.length;
    for (let sum = 0; cut > start; cut -= 1) {
      sum += cost[cut - 1] as number;
      if (sum > budget) break;
    }
    const full = items.length - cut >= memoryLimits.contextMessagesMax;
    // All loaded messages fit: there may be earlier ones.
    if (cut === start && !whole && !full) continue;
    const first = Math.max(cut, items.length - memoryLimits.contextMessagesMax);
    const from = first === 0 && whole ? 0 : startOfTurn(tail, first);
    return items.filter((_, i) => isInWindow(tail, i, from));
  }
  return [];
}

function isInWindow({ callOf }: Tail, i: number, first: number): boolean {
  return i >= first && (callOf[i] ?? i) >= first;
}

/** The first user or system message of the window; its start if it has none. */
function startOfTurn(tail: Tail, first: number): number {
  const start = tail.said.findIndex(
    ({ type }, i) => (type === "user" || type === "system") && isInWindow(tail, i, first),
  );
  return start < 0 ? first : start;
}

/** Longer and longer suffixes, up to the whole session. */
async function* tails(store: MemoryStore, session: Session, opening: ReadonlySet<string>): AsyncGenerator<Tail, void> {
  const newestFirst: Item[] = [];
  const earlierCalls = new Set<string>();
  const asked = new Set<string>();
  let limit = pageItemsFirst;
  for (let cursor: string | undefined; ;) {
    const page = await store.page(
      session.scope,
      session.agentId,
      { ...inSession(session), order: "desc", limit, cursor },
      session.session,
    );
    newestFirst.push(...page.items.filter(({ id }) => !opening.has(id)));
    cursor = page.cursor;
    limit = Math.min(pageItemsMax, limit * 2);
    const whole = cursor === undefined;
    const items = newestFirst.toReversed();
    const said = items.map(saidOf);
    if (!whole) await findCalls(store, session, said, { asked, earlierCalls });
    const start = whole ? 0 : said.findIndex((_, i) => i > 0 && isSeam(said, i));
    if (start >= 0) yield { items, said, callOf: linkFrom(said, start, earlierCalls), start, whole };
    if (whole) return;
  }
}

/** Messages before the first seam may link to earlier ones; later ones only by id. */
function linkFrom(
  said: readonly Said[],
  start: number,
  earlierCalls: ReadonlySet<string>,
): readonly (number | undefined)[] {
  const before = new Set([
    ...earlierCalls,
    ...said.slice(0, start).flatMap(({ id, type }) => (type === "tool_call" ? [id] : [])),
  ]);
  const linked = linkTools(said.slice(start), before).map((call) =>
    call === undefined || call === earlier ? call : call + start,
  );
  return [...said.slice(0, start).map(() => earlier), ...linked];
}

/** Parents of results before the loaded messages: only tool calls of this session count. */
async function findCalls(
  store: MemoryStore,
  { scope, agentId, sessionId }: Session,
  said: readonly Said[],
  { asked, earlierCalls }: { readonly asked: Set<string>; readonly earlierCalls: Set<string> },
): Promise<void> {
  const here = new Set(said.map(({ id }) => id));
  const parents = said.flatMap(({ type, parent }) =>
    type === "tool_result" && parent !== null && !here.has(parent) && !asked.has(parent) ? [parent] : [],
  );
  if (parents.length === 0) return;
  const unique = [...new Set(parents)];
  const found = await store.readMany(
    scope,
    unique.map((id) => ({ agentId, id })),
  );
  for (const id of unique) asked.add(id);
  for (const item of found)
    if (item?.document["session_id"] === sessionId && item.document["message_type"] === "tool_call")
      earlierCalls.add(item.id);
}

async function relevant(
  store: MemoryStore,
  session: Session,
  opening: ReadonlySet<string>,
  budget: number,
): Promise<readonly Item[]> {
  let tail: Tail | undefined;
  for await (tail of tails(store, session, opening)) if (tail.items.length >= memoryLimits.relevanceMessagesMax) break;
  if (tail === undefined) return [];
  const { items, said, callOf, start } = tail;
  const groups = new Map<number, number[]>();
  for (let i = start; i < said.length; i += 1) {
    const head = callOf[i] ?? i;
    if (head !== earlier) groups.set(head, [...(groups.get(head) ?? []), i]);
  }
  const ranked = [...groups.values()].map((members) => {
    const of = (pick: (one: Said) => number) => members.map((i) => pick(said[i] as Said));
    return {
      members,
      tokens: of(({ tokens }) => tokens).reduce((sum, tokens) => sum + tokens, 0),
      score: Math.max(...of(({ score }) => score)),
    };
  });
  ranked.sort((a, b) => b.score - a.score || (b.members.at(-1) as number) - (a.members.at(-1) as number));
  const chosen = new Set<number>();
  let left = budget;
  for (const { members, tokens } of ranked) {
    if (tokens > left || chosen.size + members.length > memoryLimits.contextMessagesMax) continue;
    left -= tokens;
    for (const i of members) chosen.add(i);
  }
  return items.filter((_, i) => chosen.has(i));
}
