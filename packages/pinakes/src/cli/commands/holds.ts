/** `pinakes holds …`: legal holds, which protect matching data from expiry, purges and erasures. */
import type { HoldScope, LegalHold } from "@pinakes/client";
import { isJsonObject } from "../../domain/json.ts";
import type { ClientSession } from "../client-session.ts";
import { readAddress } from "../session.ts";
import { defineCommand, UsageError, type Given, type Group } from "../terminal/command.ts";
import { confirm, yesOption } from "../terminal/confirm.ts";
import { fields, grid, inTime } from "../terminal/layout.ts";
import { waited } from "./erasures.ts";
import { withGovernance, workspaceOptions } from "./subject-options.ts";

const create = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "keep what matches from expiry, purges and erasures, until the release",
  options: {
    user: { type: "string", value: "ID", help: "what names this user" },
    agent: { type: "string", value: "ID", help: "what names this agent" },
    session: { type: "string", value: "ID", help: "what names this session or thread" },
    collection: { type: "string", value: "R/C", help: "a collection, such as kb/papers" },
    container: { type: "string", value: "NAME", help: "rows of a container that match --filter" },
    filter: { type: "string", value: "JSON", help: 'such as {"status":"open"}' },
    everything: { type: "boolean", help: "the whole workspace" },
    reason: { type: "string", help: "why, such as the number of the case" },
    ...workspaceOptions,
  },
  examples: [
    'pinakes holds create --user erin --reason "case 7"',
    'pinakes holds create --collection kb/papers --reason "case 8"',
    `pinakes holds create --container orders --filter '{"customer":"acme"}' --reason "case 9"`,
  ],
  run: async (call) => {
    const scope = scopeOf(call.given);
    const reason = call.given.text("reason");
    if (reason === undefined) throw new UsageError('say why: --reason "case 7".');
    return withGovernance(call, async ({ knowledge }) => {
      const hold = await knowledge.holds.create({ scope, reason });
      return { answer: hold, show: () => fields(call.terminal, row(hold)) };
    });
  },
});

function scopeOf(given: Given): HoldScope {
  const [at, container, filter] = [given.text("collection"), given.text("container"), given.json("filter")];
  const scopes: HoldScope[] = (["user", "agent", "session"] as const).flatMap((type) => {
    const id = given.text(type);
    return id === undefined ? [] : [{ type, id }];
  });
  if (at !== undefined) {
    const { repository, collection } = readAddress(at);
    scopes.push({ type: "collection", repository_id: repository, collection_id: collection });
  }
  if (container !== undefined || filter !== undefined) {
    if (container === undefined || !isJsonObject(filter))
      throw new UsageError("a query has both: --container NAME and --filter with an object of JSON.");
    scopes.push({ type: "query", container, filter });
  }
  if (given.has("everything")) scopes.push({ type: "workspace" });
  const [scope, ...more] = scopes;
  if (scope === undefined || more.length > 0)
    throw new UsageError(
      "name one scope: --user, --agent, --session, --collection, --container with --filter, or --everything.",
    );
  return scope;
}

const list = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "list the active holds, oldest first",
  options: workspaceOptions,
  examples: ["pinakes holds list"],
  run: (call) =>
    withGovernance(call, async ({ knowledge }) => {
      const items = await knowledge.holds.list();
      const none = "There are no legal holds.";
      return {
        answer: { items },
        show: () =>
          items.length === 0 ? none : grid(call.terminal, items.map(row), { whole: ["hold"], optional: ["by"] }),
      };
    }),
});

const release = defineCommand({
  usage: "<hold>",
  words: [1, 1],
  summary: "end a hold; erasures that it stopped start again, and are waited for",
  options: {
    "no-wait": { type: "boolean", help: "do not wait; the server erases" },
    yes: yesOption,
    ...workspaceOptions,
  },
  examples: ["pinakes holds release 01936f4e-…"],
  run: (call) =>
    withGovernance(
      call,
      async (session) => {
        const { knowledge } = session;
        const hold = await knowledge.holds.get(call.words[0] as string);
        const what = `The hold on ${scopeText(hold.scope)} (${hold.reason}) will be released: data protected only by this hold may expire, and erasures that it blocked resume.`;
        await confirm(call, { what, unasked: "refused" });
        const stopped = await stoppedBy(session, hold.hold_id);
        await knowledge.holds.release(hold.hold_id);
        const erasures = [];
        for (const erasureId of call.given.has("no-wait") ? [] : stopped)
          erasures.push(await waited(session, erasureId, call.terminal));
        const lines = erasures.map(({ erasure_id, state }) => `The erasure ${erasure_id} is ${state}.`);
        return {
          answer: { released: hold.hold_id, erasures },
          show: () => [`The hold ${hold.hold_id} is released.`, ...lines].join("\n"),
        };
      },
      // Without a server this process erases.
      { background: true },
    ),
});

async function stoppedBy({ knowledge }: ClientSession, holdId: string): Promise<readonly string[]> {
  const stopped: string[] = [];
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const page = await knowledge.erasures.list({ cursor });
    for (const { erasure_id, state, holds: kept } of page.items)
      if (state === "held" && kept.includes(holdId)) stopped.push(erasure_id);
    cursor = page.next_cursor ?? undefined;
  }
  return stopped;
}

export const holds: Group = {
  summary: "keep data from expiry, purges and erasures",
  commands: { create, list, release },
};

function row({ hold_id, scope, reason, matched, created_by, created_at }: LegalHold) {
  return { hold: hold_id, on: scopeText(scope), reason, matched, since: inTime(created_at), by: created_by };
}

function scopeText({ type, id, repository_id, collection_id, container, filter }: HoldScope): string {
  if (type === "workspace") return "the whole workspace";
  if (type === "collection") return `the collection ${repository_id}/${collection_id}`;
  return type === "query" ? `${container} where ${JSON.stringify(filter)}` : `the ${type} ${id}`;
}
