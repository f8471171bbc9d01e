/** `pinakes collections tag|label|describe|purge`: names, tags and details of a collection, and its purge. */
import type { Collection, CollectionChange, Operation } from "@pinakes/client";
import { collectionText } from "./collection-text.ts";
import { defineCommand, UsageError, type Call, type Outcome } from "../terminal/command.ts";
import { confirm, yesOption } from "../terminal/confirm.ts";
import { jobBegun } from "./jobs.ts";
import { count, fields, inBytes } from "../terminal/layout.ts";
import { operationsText } from "./ops-text.ts";
import { withClient, type ClientSession } from "../client-session.ts";
import { actorOptions, readAddress, type ActorOption, type Address } from "../session.ts";

const where = "<repository/collection>";

export const tag = defineCommand({
  usage: `${where} add|remove <tags…>`,
  words: [3, 53],
  summary: "add or remove tags of a collection",
  options: actorOptions,
  examples: ["pinakes collections tag kb/papers add physics 1905", "pinakes collections tag kb/papers remove draft"],
  run: (call) => {
    const [, verb, ...tags] = call.words;
    if (verb !== "add" && verb !== "remove")
      throw new UsageError(`"${verb ?? ""}": write add or remove, and then the tags.`);
    return change(call, ({ metadata }) => {
      const kept = metadata.tags.filter((one) => verb === "add" || !tags.includes(one));
      return { metadata: { ...metadata, tags: verb === "add" ? [...kept, ...tags] : kept } };
    });
  },
});

export const label = defineCommand({
  usage: where,
  words: [1, 1],
  summary: "change the name and description of a collection",
  details: "An empty value removes it: the name is then the id.",
  options: {
    name: { type: "string", help: "for people" },
    description: { type: "string", help: "description" },
    ...actorOptions,
  },
  examples: [
    "pinakes collections label kb/papers --name Papers --description 'From 1905 on'",
    "pinakes collections label kb/papers --description ''",
  ],
  run: (call) => {
    const [name, description] = [call.given.text("name"), call.given.text("description")];
    if (name === undefined && description === undefined)
      throw new UsageError("specify what to change: --name, --description or both.");
    return change(call, () => ({
      ...(name === undefined ? {} : { name: name === "" ? null : name }),
      ...(description === undefined ? {} : { description }),
    }));
  },
});

export const describe = defineCommand({
  usage: where,
  words: [1, 1],
  summary: "show one collection, its data in each store, and running operations",
  options: actorOptions,
  examples: ["pinakes collections describe kb/papers", "pinakes collections describe kb/papers --json"],
  run: (call) =>
    withAddress(call, async ({ knowledge }, at) => {
      const record = await knowledge.collections.get(at);
      const { stores, triples, consistent } = await knowledge.collections.usage(at);
      const operations = (
        await knowledge.operations.list({ repository: record.repository_id, collection: at.collection })
      ).items.filter(({ incarnation, status }) => incarnation === record.incarnation && status !== "done");
      const answer = { ...record, usage: { stores, triples, bytes: record.total_size_bytes, consistent }, operations };
      const held = fields(call.terminal, {
        ...stores,
        bytes: inBytes(record.total_size_bytes),
        counters: consistent ? "right" : "wrong: pinakes fsck",
      });
      const parts = [
        collectionText(call.terminal, record),
        held,
        ...(operations.length === 0 ? [] : [operationsText(call.terminal, operations)]),
      ];
      return { answer, show: () => parts.join("\n\n") };
    }),
});

export const purge = defineCommand({
  usage: where,
  words: [1, 1],
  summary: "permanently remove a collection in every store, with a report of each store",
  options: {
    incarnation: { type: "string", value: "ID", help: "which incarnation of the id, in the trash" },
    "allow-partial": { type: "boolean", help: "continue even if a store cannot delete" },
    yes: yesOption,
    ...actorOptions,
  },
  examples: ["pinakes collections purge kb/papers", "pinakes collections purge kb/papers --yes --json"],
  run: (call) =>
    withAddress(call, async (session, at) => {
      const { knowledge } = session;
      const incarnation = call.given.text("incarnation");
      const { name, document_count } = await knowledge.collections.get(at, { deleted: true, incarnation });
      const what = `Collection ${at.repository}/${at.collection} (${name}) with ${count(document_count, "document")} will be permanently removed.`;
      await confirm(call, { what, type: at.collection, unasked: "refused" });
      const options = {
        purge: true,
        confirm: at.collection,
        incarnation,
        allow_partial: call.given.has("allow-partial"),
      };
      const job = await knowledge.collections.delete(at, options);
      const ended = await jobBegun(call, session, job, true);
      const operation = await knowledge.operations.get(job.job_id).catch((): Operation | undefined => undefined);
      return operation === undefined
        ? ended
        : { ...ended, answer: operation, show: () => operationsText(call.terminal, [operation]) };
    }),
});

async function change(call: Call<ActorOption>, patch: (now: Collection) => CollectionChange): Promise<Outcome> {
  return withAddress(call, async ({ knowledge }, at) => {
    const now = await knowledge.collections.get(at);
    const { warnings: _, ...changed } = await knowledge.collections.update(at, patch(now), { ifMatch: now.etag });
    return { answer: changed, show: () => collectionText(call.terminal, changed) };
  });
}

async function withAddress(
  call: Call<ActorOption>,
  work: (session: ClientSession, address: Address) => Promise<Outcome>,
): Promise<Outcome> {
  const address = readAddress(call.words[0] as string);
  return withClient(call, (session) => work(session, address));
}
