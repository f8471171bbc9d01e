/** `pinakes containers …`: documents of any shape; those of the system, and those that a workspace makes for itself. */
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
  summary: "the containers: the system's, then the workspace's own",
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
  summary: "one container and its indexes",
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
Documents with the same value of the partition key lie together and can be changed in one batch. The policy is a file in the form of
Cosmos DB: { "includedPaths": [{ "path": "/status/?" }], "excludedPaths": [{ "path": "/*" }], "compositeIndexes": […] }.`,
  options: {
    partition: { type: "string", value: "/a,/b", help: "the path of the partition key, or up to three" },
    ttl: {
      type: "string",
      value: "N",
      help: "items expire after so many seconds; --ttl=-1: only those with their own ttl (never)",
    },
    policy: { type: "string", value: "FILE", help: "what is indexed, as JSON" },
    strict: { type: "boolean", help: "refuse queries that no index serves, instead of answering slowly" },
    replace: { type: "boolean", help: "when it is there already: give it this declaration; its documents stay" },
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
            `There is a container ${name} already (pinakes containers show ${name}); --replace gives it this declaration.`,
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
  summary: "remove a container of one's own with everything in it, for good",
  options: { ...confirmOptions, ...actorOptions },
  examples: ["pinakes containers delete tickets", "pinakes containers delete tickets --confirm"],
  run: (call) =>
    withClient(call, async ({ state }) => {
      const name = nameOf(call);
      const { kind } = await state.containers.get(name);
      // One of the system's is refused in any case: nobody should have to confirm that first.
      if (kind === "own")
        await confirm(call, {
          what: `Container ${name} with everything in it will be removed for good.`,
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
  summary: "what changed lately, in order",
  details: "The answer ends with a cursor: with it the next call tells what came since.",
  options: {
    from: { type: "string", value: "WHERE", help: "oldest, now (oldest)" },
    mode: { type: "string", value: "MODE", help: "latest: the newest of each document; all: deletes, too (latest)" },
    limit: { type: "string", value: "N", help: "at most so many (100)" },
    cursor: { type: "string", value: "CURSOR", help: "go on where the last call ended" },
    ...actorOptions,
  },
  examples: ["pinakes containers changes tickets --mode all", "pinakes containers changes tickets --cursor …"],
  run: async (call) => {
    const { given, terminal } = call;
    const [from, cursor] = [given.oneOf("from", ["oldest", "now"]), given.text("cursor")];
    if (from !== undefined && cursor !== undefined)
      throw new UsageError("--from and --cursor: give one of them, both say where to begin.");
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
  summary: "documents of any shape: the containers of the system, and those of one's own",
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
    throw new UsageError("say which property documents are kept by, with --partition /property.");
  const ttl = given.whole("ttl", -1, limits.ttlSecondsMax);
  if (ttl === 0)
    throw new UsageError(
      "--ttl: must be a number of seconds from 1, or -1 for items with their own; leave it out for none.",
    );
  const policy = given.text("policy");
  return {
    partition_key: partition.length === 1 ? (partition[0] as string) : partition,
    ...(ttl === undefined ? {} : { default_ttl: ttl }),
    ...(policy === undefined ? {} : { indexing_policy: await policyOf(resolve(terminal.cwd, policy), policy) }),
    ...(given.has("strict") ? { strict: true } : {}),
  };
}

/** Its content is checked where containers are declared. */
async function policyOf(path: string, shown: string): Promise<IndexingPolicy> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw invalid(`--policy: the file cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  });
  return readJson(text, `--policy: ${shown}`) as IndexingPolicy;
}
