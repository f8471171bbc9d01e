/** `pinakes collections …`: create, show, change, archive, delete and restore collections. */
import { collectionSorts, collectionStatuses, type Collection, type NewCollection } from "@pinakes/client";
import { describe, label, purge, tag } from "./collection-labels.ts";
import { collectionsOf, collectionText } from "./collection-text.ts";
import { changesHelp, readChanges } from "./collection-changes.ts";
import { defineCommand, type Call, type Group, type Outcome } from "../terminal/command.ts";
import { confirm, yesOption } from "../terminal/confirm.ts";
import { jobBegun } from "./jobs.ts";
import { count, inTime } from "../terminal/layout.ts";
import { listOptions, moreBelow, readPages } from "../terminal/pages.ts";
import { nothingIn } from "../store-location.ts";
import { withClient, type ClientSession } from "../client-session.ts";
import { actorOptions, readAddress, type ActorOption, type Address, type SessionOptions } from "../session.ts";
import type { Terminal } from "../terminal/terminal.ts";

const where = "<repository/collection>";
const statuses = [...collectionStatuses, "all"] as const;

const list = defineCommand({
  usage: "[repository]",
  words: [0, 1],
  summary: "list list the collections of a repository, or of all",
  options: {
    status: { type: "string", value: "STATUS", help: `${statuses.join(", ")} (ACTIVE)` },
    q: { type: "string", help: "substring of the name or description" },
    tag: { type: "string", value: "TAG", many: true, help: "with this tag; repeat for several" },
    "any-tag": { type: "boolean", help: "match any of the tags" },
    "unused-since": { type: "string", value: "TIME", help: "neither loaded nor queried since this time" },
    sort: { type: "string", value: "FIELD", help: `${collectionSorts.join(", ")} (created_at)` },
    ...listOptions,
    ...actorOptions,
  },
  examples: [
    "pinakes collections list",
    "pinakes collections list kb --sort name",
    "pinakes collections list --status DELETED",
  ],
  run: (call) =>
    withClient(call, async ({ knowledge, place }) => {
      const { given } = call;
      const sort = given.oneOf("sort", collectionSorts);
      const tag_match = given.has("any-tag") ? ("any" as const) : undefined;
      const query = {
        repository: call.words[0],
        status: given.oneOf("status", statuses),
        q: given.text("q"),
        tags: given.texts("tag"),
        tag_match,
        unused_since: given.text("unused-since"),
        sort,
      };
      const page = await readPages(
        given,
        (paging) =>
          knowledge.collections.list({ ...query, ...(sort === "name" ? { order: "asc" as const } : {}), ...paging }),
        { total: true },
      );
      return {
        answer: page,
        show: () =>
          page.items.length === 0 ? nothingIn(place) : collectionsOf(call.terminal, page.items) + moreBelow(page),
      };
    }),
});

const create = defineCommand({
  usage: where,
  words: [1, 1],
  summary: "make a collection",
  details: "The repository must exist (pinakes repositories create); `me` is the user's own.",
  options: {
    name: { type: "string", help: "display name (default: the id)" },
    description: { type: "string", help: "description" },
    tags: { type: "string", value: "a,b", help: "tags" },
    model: { type: "string", value: "ID", help: "embedding model (default: the repository's)" },
    chunking: { type: "string", value: "JSON", help: "chunking strategy (default: the repository's)" },
    "allowed-groups": { type: "string", value: "a,b", help: "groups with access (default: the repository's)" },
    private: { type: "boolean", help: "visible to its creator and admins only" },
    pipelines: {
      type: "string",
      value: "JSON",
      help: `created with it: '[{"trigger":"schedule","source":"file:/srv/papers"}]'`,
    },
    ...actorOptions,
  },
  examples: [
    "pinakes collections create kb/papers --name Papers",
    `pinakes collections create kb/manuals --chunking '{"type":"MARKDOWN","chunk_size":800}'`,
    "pinakes collections create me/notes --user ada",
  ],
  run: (call) =>
    withAddress(
      call,
      async ({ knowledge }, at) => {
        const { given } = call;
        const made = await knowledge.collections.create({
          repository: at.repository,
          collection_id: at.collection,
          name: given.text("name"),
          description: given.text("description"),
          embedding_model: given.text("model"),
          allowed_groups: given.list("allowed-groups"),
          ...(given.has("private") ? { private: true } : {}),
          ...(given.text("pipelines") === undefined
            ? {}
            : { pipelines: given.json("pipelines") as unknown as NewCollection["pipelines"] }),
          ...(given.text("chunking") === undefined
            ? {}
            : { chunking_strategy: given.json("chunking") as NewCollection["chunking_strategy"] }),
          ...(given.text("tags") === undefined ? {} : { metadata: { tags: given.list("tags") ?? [] } }),
        });
        const shown = outcome(call.terminal, made);
        return { ...shown, show: () => [shown.show(), ...(made.warnings ?? [])].join("\n\n") };
      },
      { creates: true },
    ),
});

const show = defineCommand({
  usage: where,
  words: [1, 1],
  summary: "one collection",
  options: { deleted: { type: "boolean", help: "also show a deleted one" }, ...actorOptions },
  examples: ["pinakes collections show kb/papers"],
  run: (call) =>
    withAddress(call, async ({ knowledge }, at) =>
      outcome(call.terminal, await knowledge.collections.get(at, { deleted: call.given.has("deleted") })),
    ),
});

const set = defineCommand({
  usage: `${where} field=value…`,
  words: [2, 20],
  summary: "change a collection",
  details: changesHelp,
  options: actorOptions,
  examples: [
    "pinakes collections set kb/papers name='Old papers' tags=physics,1905",
    "pinakes collections set kb/papers description= allowed_groups=",
    `pinakes collections set kb/papers 'chunking_strategy={"type":"SENTENCE","chunk_size":600}'`,
  ],
  run: (call) =>
    withAddress(call, async ({ knowledge }, at) => {
      const now = await knowledge.collections.get(at);
      const { warnings, ...changed } = await knowledge.collections.update(at, readChanges(call.words.slice(1), now), {
        ifMatch: now.etag,
      });
      const text = [collectionText(call.terminal, changed), ...warnings].join("\n\n");
      return { answer: { ...changed, warnings }, show: () => text };
    }),
});

const archive = defineCommand({
  usage: where,
  words: [1, 1],
  summary: "make a collection read-only and exclude it from searches, until it is unarchived",
  options: actorOptions,
  examples: ["pinakes collections archive kb/papers"],
  run: (call) =>
    withAddress(call, async ({ knowledge }, at) => outcome(call.terminal, await knowledge.collections.archive(at))),
});

const unarchive = defineCommand({
  usage: where,
  words: [1, 1],
  summary: "in use again",
  options: actorOptions,
  examples: ["pinakes collections unarchive kb/papers"],
  run: (call) =>
    withAddress(call, async ({ knowledge }, at) => outcome(call.terminal, await knowledge.collections.unarchive(at))),
});

const reindex = defineCommand({
  usage: where,
  words: [1, 1],
  summary: "chunk and embed all documents again, with the collection's current chunking",
  details: "Searches use the old chunks until all new ones are ready.",
  options: { model: { type: "string", value: "ID", help: "with a different embedding model" }, ...actorOptions },
  examples: ["pinakes collections reindex kb/papers"],
  run: (call) =>
    withAddress(call, async (session, at) => {
      const job = await session.knowledge.collections.reindex(at, { embedding_model: call.given.text("model") });
      return jobBegun(call, session, job, true);
    }),
});

const remove = defineCommand({
  usage: where,
  words: [1, 1],
  summary: "delete a collection; it can be restored from the trash, unless it is purged",
  details: "The trash keeps it for PINAKES_TRASH_DAYS (90). With 0 there is no trash, and every delete is permanent.",
  options: { purge: { type: "boolean", help: "permanently remove all data now" }, yes: yesOption, ...actorOptions },
  examples: [
    "pinakes collections delete kb/papers",
    "pinakes collections delete kb/papers --yes",
    "pinakes collections delete kb/papers --purge --yes",
  ],
  run: (call) =>
    withAddress(call, async (session, at) => {
      const { knowledge } = session;
      const { trash_days: trashDays } = await knowledge.server.info();
      const purged = call.given.has("purge");
      // Without a trash every delete is permanent.
      const final = purged || trashDays === 0;
      const { name, document_count } = await knowledge.collections.get(at, { deleted: purged });
      const what = `Collection ${at.repository}/${at.collection} (${name}) with ${count(document_count, "document")} will be`;
      if (final)
        await confirm(call, {
          what: `${what} permanently removed, which cannot be undone.`,
          type: at.collection,
          unasked: "refused",
        });
      else
        await confirm(call, {
          what: `${what} deleted; it can be restored for ${count(trashDays, "day")}.`,
          unasked: "refused",
        });
      const job = await knowledge.collections.delete(at, { purge: purged, confirm: at.collection });
      const ended = await jobBegun(call, session, job, true);
      if (final || ended.code !== 0) return ended;
      const { purge_at } = await knowledge.collections.get(at, { deleted: true });
      const text = `Deleted. Restore it until ${inTime(purge_at)}: pinakes collections restore ${at.repository}/${at.collection}`;
      return { ...ended, show: () => text };
    }),
});

const restore = defineCommand({
  usage: where,
  words: [1, 1],
  summary: "restore a deleted collection exactly as it was",
  options: {
    incarnation: { type: "string", value: "ID", help: "which incarnation of the id (default: the last one)" },
    ...actorOptions,
  },
  examples: ["pinakes collections restore kb/papers"],
  run: (call) =>
    withAddress(call, async ({ knowledge }, at) =>
      outcome(call.terminal, await knowledge.collections.restore(at, { incarnation: call.given.text("incarnation") })),
    ),
});

export const collections: Group = {
  summary: `manage collections of documents`,
  commands: {
    list,
    create,
    show,
    describe,
    set,
    label,
    tag,
    archive,
    unarchive,
    reindex,
    delete: remove,
    restore,
    purge,
  },
};

async function withAddress(
  call: Call<ActorOption>,
  work: (session: ClientSession, address: Address) => Promise<Outcome>,
  options: SessionOptions = {},
): Promise<Outcome> {
  const address = readAddress(call.words[0] as string);
  return withClient(call, (session) => work(session, address), options);
}

function outcome(terminal: Terminal, collection: Collection): Outcome {
  return { answer: collection, show: () => collectionText(terminal, collection) };
}
