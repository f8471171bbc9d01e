import type { AgentInputItem } from "@openai/agents-core";
import type { StateApi, ThreadsApi } from "@pinakes/client";
import { openWorld, type Engine, type Via, type World } from "../../../client/test/support/worlds.ts";
import { PinakesSession } from "../../src/index.ts";

export const ways: readonly (readonly [Engine, Via])[] = [
  ["sqlite", "embedded"],
  ["sqlite", "http"],
];

export interface Sessions extends AsyncDisposable {
  readonly world: World;
  readonly api: StateApi;
  /** Each is another object, as in another process. */
  session(sessionId?: string): PinakesSession;
  /** With an interface of its own, so that nothing in this process makes it take turns with others. */
  stranger(sessionId?: string): Promise<PinakesSession>;
}

export async function openSessions(engine: Engine, via: Via): Promise<Sessions> {
  const world = await openWorld(engine, via);
  const api = await world.api();
  return {
    world,
    api,
    session: (sessionId = "s1") => new PinakesSession({ api, sessionId }),
    stranger: async (sessionId = "s1") => new PinakesSession({ api: await world.api(), sessionId }),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

export const user = (text: string): AgentInputItem => ({ type: "message", role: "user", content: text });
export const users = (count: number, name = "m"): AgentInputItem[] =>
  Array.from({ length: count }, (_, i) => user(`${name}${i}`));
export const call = (callId: string, args = "{}"): Extract<AgentInputItem, { type: "function_call" }> => ({
  type: "function_call",
  callId,
  name: "look_up",
  status: "completed",
  arguments: args,
});
export const textOf = (item: AgentInputItem | undefined) =>
  item !== undefined && "content" in item ? item.content : item?.type;
export const textsOf = (items: readonly AgentInputItem[]) => items.map(textOf);

/** The real threads, on a network that loses the answer of the calls whose numbers are given (from 1), or does not deliver them. */
export function unreliable(
  threads: ThreadsApi,
  lost: ReadonlySet<number>,
  undelivered: ReadonlySet<number> = new Set(),
): ThreadsApi {
  let calls = 0;
  const deliver = async <Result>(run: () => Promise<Result>): Promise<Result> => {
    calls += 1;
    const number = calls;
    if (undelivered.has(number)) throw new Error("the network is down");
    const result = await run();
    if (lost.has(number)) throw new Error("the answer was lost");
    return result;
  };
  return {
    append: (...args) => deliver(() => threads.append(...args)),
    appendMany: (...args) => deliver(() => threads.appendMany(...args)),
    list: (...args) => threads.list(...args),
    get: (...args) => threads.get(...args),
    deleteMessage: (...args) => threads.deleteMessage(...args),
    clear: (...args) => threads.clear(...args),
  };
}
