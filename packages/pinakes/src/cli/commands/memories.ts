/** `pinakes memories …`: messages of agents and users, by agent and session. */
import { contextStrategies, memorySearchModes, messageTypes } from "@pinakes/client";
import { confirm, confirmOptions } from "../terminal/confirm.ts";
import { defineCommand, UsageError, type Call, type Group } from "../terminal/command.ts";
import { count } from "../terminal/layout.ts";
import { contextText, foundText, messagesText, sessionsText, sessionText } from "./memories-text.ts";
import { listOptions, moreBelow, readPages } from "../terminal/pages.ts";
import { nothingIn } from "../store-location.ts";
import { withClient } from "../client-session.ts";
import { actorOptions } from "../session.ts";

const tokensMax = 100_000_000;
const hitsMax = 100;
const ofSession = "<agent> <session>";

const sessions = defineCommand({
  usage: "<agent>",
  words: [1, 1],
  summary: "list the sessions of an agent, by name",
  options: { ...listOptions, ...actorOptions },
  examples: ["pinakes memories sessions agent-1"],
  run: (call) =>
    withClient(call, async ({ state, place }) => {
      const agent = call.words[0] as string;
      const page = await readPages(call.given, (paging) => state.memories.sessions(agent, paging));
      const none = nothingIn(place, `Agent ${agent} has no sessions`);
      return {
        answer: page,
        show: () => (page.items.length === 0 ? none : sessionsText(call.terminal, page.items) + moreBelow(page)),
      };
    }),
});

const show = defineCommand({
  usage: ofSession,
  words: [2, 2],
  summary: "show a session and its messages, in chronological order",
  options: {
    type: { type: "string", value: "TYPE", help: `only ${messageTypes.join(", ")}` },
    order: { type: "string", value: "ORDER", help: "asc, desc (asc: oldest first)" },
    ...listOptions,
    ...actorOptions,
  },
  examples: [
    "pinakes memories show agent-1 session-7",
    "pinakes memories show agent-1 session-7 --type user --order desc --limit 5",
  ],
  run: async (call) => {
    const { given, terminal } = call;
    const wanted = {
      message_type: given.oneOf("type", messageTypes),
      order: given.oneOf("order", ["asc", "desc"] as const),
    };
    return withClient(call, async ({ state, place }) => {
      const [agent, session_id] = placeOf(call);
      const session = await state.memories.session(agent, session_id);
      const page = await readPages(given, (paging) => state.memories.list(agent, { session_id, ...wanted, ...paging }));
      const text =
        page.items.length === 0
          ? nothingIn(place, "There are no matching messages")
          : messagesText(terminal, page.items) + moreBelow(page);
      return { answer: { session, ...page }, show: () => `${sessionText(terminal, session)}\n\n${text}` };
    });
  },
});

const context = defineCommand({
  usage: ofSession,
  words: [2, 2],
  summary: "show the messages of a session that fit a token budget: the context of an agent",
  options: {
    tokens: { type: "string", value: "N", help: "token budget", elsewhere: ["max-tokens", "maxtokens"] },
    strategy: { type: "string", value: "STRATEGY", help: `${contextStrategies.join(", ")} (recent)` },
    ...actorOptions,
  },
  examples: [
    "pinakes memories context agent-1 session-7 --tokens 4000",
    "pinakes memories context agent-1 session-7 --tokens 4000 --strategy relevance",
  ],
  run: async (call) => {
    const { given, terminal } = call;
    const maxTokens = given.whole("tokens", 1, tokensMax);
    const strategy = given.oneOf("strategy", contextStrategies);
    if (maxTokens === undefined)
      throw new UsageError(
        "specify the token budget, with --tokens N: pinakes memories context <agent> <session> --tokens 4000",
      );
    return withClient(call, async ({ state }) => {
      const [agent_id, session_id] = placeOf(call);
      const window = await state.memories.context({ agent_id, session_id, maxTokens, strategy });
      // An empty window is valid; a missing session is an error.
      if (window.messages.length + window.omitted === 0) await state.memories.session(agent_id, session_id);
      return { answer: window, show: () => contextText(terminal, window, maxTokens) };
    });
  },
});

const search = defineCommand({
  usage: "<words…>",
  words: [1, 1_000],
  summary: "search messages by keyword and vector",
  details: "Several words need no quotation marks.",
  options: {
    agent: { type: "string", value: "ID", help: "only of this agent" },
    session: { type: "string", value: "ID", help: "only of this session" },
    mode: { type: "string", value: "MODE", help: `${memorySearchModes.join(", ")} (hybrid)` },
    limit: { type: "string", value: "N", help: `how many, 1–${hitsMax} (10)` },
    ...actorOptions,
  },
  examples: [
    "pinakes memories search 'which invoice was wrong?'",
    "pinakes memories search invoice --agent agent-1 --mode keyword --limit 3",
  ],
  run: async (call) => {
    const { given, terminal } = call;
    const query = call.words.join(" ");
    const asked = {
      query,
      agent_id: given.text("agent"),
      session_id: given.text("session"),
      mode: given.oneOf("mode", memorySearchModes),
      limit: given.whole("limit", 1, hitsMax),
    };
    return withClient(call, async ({ state }) => {
      const result = await state.memories.search(asked);
      return { answer: result, show: () => foundText(terminal, query, result) };
    });
  },
});

const remove = defineCommand({
  usage: ofSession,
  words: [2, 2],
  summary: "permanently remove a session with all its messages",
  options: { ...confirmOptions, ...actorOptions },
  examples: ["pinakes memories delete agent-1 session-7", "pinakes memories delete agent-1 session-7 --confirm"],
  run: (call) =>
    withClient(call, async ({ state }) => {
      const [agent, session] = placeOf(call);
      const { message_count } = await state.memories.session(agent, session);
      const what = `Session ${session} of agent ${agent} with ${count(message_count, "message")} will be permanently removed.`;
      await confirm(call, { what, type: session, unasked: "refused" });
      const { deleted } = await state.memories.deleteSession(agent, session);
      return { answer: { deleted }, show: () => `Removed: ${count(deleted, "message")}.` };
    }),
});

export const memories: Group = {
  summary: "manage messages of agents and users, by agent and session",
  commands: { sessions, show, context, search, delete: remove },
};

function placeOf({ words }: Call): readonly [agent: string, session: string] {
  return [words[0] as string, words[1] as string];
}
