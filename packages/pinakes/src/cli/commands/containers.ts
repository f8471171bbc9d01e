/** `pinakes containers …`: JSON documents; the system's containers and the workspace's. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { ContainerInfo, ContainerSpec, IndexingPolicy } from "@pinakes/client";
import { invalid, PinakesError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { ifMissing } from "../../runtime/expected-errors.ts";
import { changesText, containersText, containerText } from "./containers-text.ts";
import { confirm, confirmOptions } from "../terminal/confirm.ts";
import { defineCommand, readJson, UsageError, type Call, type Group, type Outcome } from "../terminal/command.ts";
import { listItemsMax } from "../terminal/pages.ts";
import { withClient, type ClientSession } from "../client-session.ts";
import { actorOptions } from "../session.ts";

const list = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "list the containers: the system's, then the workspace's",
  options: actorOptions,
  examples: ["pinakes containers list"],
  run: (call) =>
    withClient(call, async ({ state }) => {
      const all = await state.containers.list();
      return { answer: all, show: () => containersText(call.terminal, all.items) };
    }),
});

const show = defineCommand({
  usage: "<container>",
  words: [1, 1],
  summary: "show a container and its indexes",
  options: actorOptions,
  examples: ["pinakes containers show tickets"],
  run: (call) =>
    withClient(call, async (session) => described(call, session, await session.state.containers.get(nameOf(call)))),
});

const create = defineCommand({
  usage: "<container>",
  words: [1, 1],
  summary: "make a container",
  details: `
Documents with the same value of the partition key are stored together and can be changed in one batch. The policy is a file in the format of
Cosmos DB: { "includedPaths": [{ "path": "/status/?" }], "excludedPaths": [{ "path": "/*" }], "compositeIndexes": […] }.`,
  options: {
    partition: { type: "string", value: "/a,/b", help: "path of the partition key; up to three" },
    ttl: {
      type: "string",
      value: "N",
      help: "items expire after this many seconds; --ttl=-1: only those with their own ttl (never)",
    },
    policy: { type: "string", value: "FILE", help: "indexing policy, as JSON" },
    strict: { type: "boolean", help: "reject queries that no index serves" },
    replace: { type: "boolean", help: "if it exists: replace its definition; its documents stay" },
    ...actorOptions,
  },
  examples: [
    "pinakes containers create tickets --partition /customer",
    "pinakes containers create events --partition /tenant,/user --ttl 2592000 --policy policy.json",
  ],
  run: async (call) => {
    const spec = await specOf(call);
    return withClient(
      call,
      async (session) => {
        const name = nameOf(call);
        const there = await found(session, name);
        if (there !== undefined && !call.given.has("replace"))
          throw new PinakesError(
            "CONFLICT",
            `Container ${name} already exists (pinakes containers show ${name}); --replace changes its definition.`,
          );
        const put = await session.state.containers.put(name, spec, { ifMatch: there?.etag });
        return described(call, session, put);
      },
      { creates: true },
    );
  },
});

const remove = defineCommand({
  usage: "<container>",
  words: [1, 1],
  summary: "permanently remove a container of the workspace and its items",
  options: { ...confirmOptions, ...actorOptions },
  examples: ["pinakes containers delete tickets", "pinakes containers delete tickets --confirm"],
  run: (call) =>
    withClient(call, async ({ state }) => {
      const name = nameOf(call);
      const { kind } = await state.containers.get(name);
      // System containers are rejected before asking for confirmation.
      if (kind === "own")
        await confirm(call, {
          what: `Container ${name} and all its items will be permanently removed.`,
          type: name,
          unasked: "refused",
        });
      await state.containers.delete(name);
      return { answer: { deleted: name }, show: () => `Container ${name} is removed.` };
    }),
});

const changes = defineCommand({
  usage: "<container>",
  words: [1, 1],
  summary: "recent changes, in order",
  details: "The output ends with a cursor: pass it to the next call to get later changes.",
  options: {
    from: { type: "string", value: "WHERE", help: "oldest, now (oldest)" },
    mode: {
      type: "string",
      value: "MODE",
      help: "latest: the newest version of each document; all: also deletes (latest)",
    },
    limit: { type: "string", value: "N", help: "maximum number of changes (100)" },
    cursor: { type: "string", value: "CURSOR", help: "continue after the last call" },
    ...actorOptions,
  },
  examples: ["pinakes containers changes tickets --mode all", "pinakes containers changes tickets --cursor …"],
  run: async (call) => {
    const { given, terminal } = call;
    const [from, cursor] = [given.oneOf("from", ["oldest", "now"]), given.text("cursor")];
    if (from !== undefined && cursor !== undefined)
      throw new UsageError("--from and --cursor: give one of them; both specify the start.");
    const limit = given.whole("limit", 1, listItemsMax) ?? changesDefault;
    const mode = given.oneOf("mode", ["latest", "all"]);
    return withClient(call, async ({ state }) => {
      const items = [];
      let page = await state.containers.changes(nameOf(call), {
        from,
        cursor,
        mode,
        limit: Math.min(limit, limits.pageItemsMax),
      });
      items.push(...page.items);
      while (page.more && items.length < limit) {
        const left = Math.min(limit - items.length, limits.pageItemsMax);
        page = await state.containers.changes(nameOf(call), { cursor: page.cursor, mode, limit: left });
        items.push(...page.items);
      }
      const answer = { ...page, items };
      return { answer, show: () => changesText(terminal, nameOf(call), answer) };
    });
  },
});

const changesDefault = 100;

export const containers: Group = {
  summary: "manage containers of JSON documents: the system's and the workspace's",
  commands: { list, show, create, delete: remove, changes },
};

function nameOf({ words }: Call): string {
  return words[0] as string;
}

async function described(call: Call, { state }: ClientSession, info: ContainerInfo): Promise<Outcome> {
  const { items: indexes } = await state.containers.indexes(info.name);
  return { answer: { ...info, index_states: indexes }, show: () => containerText(call.terminal, info, indexes) };
}

async function found({ state }: ClientSession, name: string): Promise<ContainerInfo | undefined> {
  return ifMissing(state.containers.get(name));
}

async function specOf({ given, terminal }: Call<"partition" | "ttl" | "policy" | "strict">): Promise<ContainerSpec> {
  const partition = given.list("partition");
  if (partition === undefined || partition.length === 0)
    throw new UsageError("specify the partition key with --partition /property.");
  const ttl = given.whole("ttl", -1, limits.ttlSecondsMax);
  if (ttl === 0)
    throw new UsageError(
      "--ttl: must be a number of seconds from 1, or -1 for items with their own; omit it for none.",
    );
  const policy = given.text("policy");
  return {
    partition_key: partition.length === 1 ? (partition[0] as string) : partition,
    ...(ttl === undefined ? {} : { default_ttl: ttl }),
    ...(policy === undefined ? {} : { indexing_policy: await policyOf(resolve(terminal.cwd, policy), policy) }),
    ...(given.has("strict") ? { strict: true } : {}),
  };
}

/** Its content is validated by the feature. */
async function policyOf(path: string, shown: string): Promise<IndexingPolicy> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw invalid(`--policy: the file cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  });
  return readJson(text, `--policy: ${shown}`) as IndexingPolicy;
}
