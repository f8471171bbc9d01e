/** `pinakes repositories …`: groups of collections. */
import type { NewRepository, Repository } from "@pinakes/client";
import { confirm, yesOption } from "../terminal/confirm.ts";
import { collectionsOf, describeChunking } from "./collection-text.ts";
import { defineCommand, type Group, type Outcome } from "../terminal/command.ts";
import { count, fields, grid, inTime } from "../terminal/layout.ts";
import { jobBegun } from "./jobs.ts";
import { listOptions, moreBelow, readPages } from "../terminal/pages.ts";
import { withClient } from "../client-session.ts";
import { actorOptions } from "../session.ts";
import type { Terminal } from "../terminal/terminal.ts";

const list = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "list list the repositories, newest first",
  options: { ...listOptions, ...actorOptions },
  examples: ["pinakes repositories list"],
  run: (call) =>
    withClient(call, async ({ knowledge }) => {
      const page = await readPages(call.given, (paging) => knowledge.repositories.list(paging), { total: true });
      const none = "There are no repositories. Create one: pinakes repositories create kb";
      return {
        answer: page,
        show: () =>
          page.items.length === 0
            ? none
            : grid(call.terminal, page.items.map(row), {
                whole: ["repository", "updated"],
                optional: ["model", "updated"],
              }) + moreBelow(page),
      };
    }),
});

const create = defineCommand({
  usage: "<repository>",
  words: [1, 1],
  summary: "create a repository, with its default collection",
  options: {
    name: { type: "string", help: "display name (default: the id)" },
    description: { type: "string", help: "description" },
    model: { type: "string", value: "ID", help: "the embedding model of its collections" },
    chunking: { type: "string", value: "JSON", help: "default chunking of its collections" },
    "allowed-groups": { type: "string", value: "a,b", help: "groups with access (default: everyone in the workspace)" },
    tags: { type: "string", value: "a,b", help: "tags that its collections inherit" },
    graph: {
      type: "string",
      value: "JSON",
      help: `graph extraction: '{"extract":"structured"}', off, cooccurrence, llm`,
    },
    "auto-create": {
      type: "boolean",
      help: "the first upload creates a missing collection",
      elsewhere: ["auto_create"],
    },
    "create-on-query": {
      type: "boolean",
      help: "the first query creates a missing collection",
      elsewhere: ["create_on_query"],
    },
    "no-user-collections": {
      type: "boolean",
      help: "only admins create collections in it",
      elsewhere: ["allow_user_collections"],
    },
    ...actorOptions,
  },
  examples: [
    "pinakes repositories create kb --name 'Knowledge base'",
    "pinakes repositories create legal --allowed-groups lawyers",
    "pinakes repositories create inbox --auto-create",
  ],
  run: (call) =>
    withClient(
      call,
      async ({ knowledge }) => {
        const { given } = call;
        const repository = await knowledge.repositories.create({
          repository_id: call.words[0],
          name: given.text("name"),
          description: given.text("description"),
          embedding_model: given.text("model"),
          allowed_groups: given.list("allowed-groups"),
          ...(given.has("auto-create") ? { auto_create: true } : {}),
          ...(given.has("create-on-query") ? { create_on_query: true } : {}),
          ...(given.has("no-user-collections") ? { allow_user_collections: false } : {}),
          ...(given.text("chunking") === undefined
            ? {}
            : { chunking_strategy: given.json("chunking") as NewRepository["chunking_strategy"] }),
          ...(given.text("graph") === undefined ? {} : { graph: given.json("graph") as NewRepository["graph"] }),
          ...(given.text("tags") === undefined ? {} : { metadata: { tags: given.list("tags") ?? [] } }),
        });
        return outcome(call.terminal, repository);
      },
      { creates: true },
    ),
});

const show = defineCommand({
  usage: "<repository>",
  words: [1, 1],
  summary: "show a repository and its collections",
  options: actorOptions,
  examples: ["pinakes repositories show kb", "pinakes repositories show me --user ada"],
  run: (call) =>
    withClient(call, async ({ knowledge }) => {
      const repository = await knowledge.repositories.get(call.words[0] as string);
      const collections = await knowledge.collections.list({
        repository: repository.repository_id,
        limit: shownCollectionsMax,
      });
      const below =
        collections.items.length === 0
          ? "\n\nIt has no collections yet."
          : `\n\n${collectionsOf(call.terminal, collections.items)}`;
      const more =
        collections.next_cursor === null ? "" : `\nAll of them: pinakes collections list ${repository.repository_id}`;
      return { answer: repository, show: () => details(call.terminal, repository) + below + more };
    }),
});

const remove = defineCommand({
  usage: "<repository>",
  words: [1, 1],
  summary: "permanently remove a repository with all its collections and documents",
  options: { yes: yesOption, ...actorOptions },
  examples: ["pinakes repositories delete kb --yes"],
  run: (call) =>
    withClient(call, async (session) => {
      const id = call.words[0] as string;
      const { knowledge } = session;
      const { name } = await knowledge.repositories.get(id);
      const { total = 0 } = await knowledge.collections.list({
        repository: id,
        status: "all",
        limit: 1,
        include_total: true,
      });
      const what = `Repository ${id} (${name}) with ${count(total, "collection")} and all documents will be permanently removed.`;
      await confirm(call, { what, type: id, unasked: "refused" });
      return jobBegun(call, session, await knowledge.repositories.delete(id, { confirm: id }), true);
    }),
});

export const repositories: Group = {
  summary: "manage repositories of collections",
  commands: { list, create, show, delete: remove },
};

const shownCollectionsMax = 20;

function outcome(terminal: Terminal, repository: Repository): Outcome {
  return { answer: repository, show: () => details(terminal, repository) };
}

function row({ repository_id, name, personal, status, embedding_model, updated_at }: Repository) {
  return {
    repository: repository_id,
    name,
    kind: personal ? "personal" : "shared",
    status,
    model: embedding_model,
    updated: inTime(updated_at),
  };
}

function details(terminal: Terminal, repository: Repository): string {
  const { description, chunking_strategy, graph, allowed_groups, metadata, created_at, created_by } = repository;
  return fields(terminal, {
    ...row(repository),
    description,
    tags: metadata.tags.join(", "),
    "allowed groups": allowed_groups?.join(", ") ?? "everyone in the workspace",
    chunking: chunking_strategy === null ? undefined : describeChunking(chunking_strategy),
    graph: graph?.extract,
    "makes collections": madeBy(repository),
    created: `${inTime(created_at)} by ${created_by}`,
  });
}

/** The operations that create a collection implicitly. */
function madeBy({ auto_create, create_on_query }: Repository): string | undefined {
  const uses = [...(auto_create ? ["by the first upload"] : []), ...(create_on_query ? ["by the first query"] : [])];
  return uses.length === 0 ? undefined : uses.join(", ");
}
