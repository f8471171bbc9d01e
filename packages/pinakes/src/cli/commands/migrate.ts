/** `pinakes migrate …`: imports data of other programs and layouts as verified collections, and copies a store to another engine. */
import type { MigrationView } from "../../migrations/index.ts";
import { defineCommand, failureExitCode, type Call, type Group, type Outcome } from "../terminal/command.ts";
import { grid } from "../terminal/layout.ts";
import { engine } from "./migrate-engine.ts";
import { collectionPlace, readSource, type CollectionWords } from "./migrate-source.ts";
import { migrationRow, migrationText } from "./migrate-text.ts";
import { listOptions, moreBelow, readPages } from "../terminal/pages.ts";
import { nothingIn } from "../store-location.ts";
import { ProgressBar } from "../terminal/progress-bar.ts";
import { actorOptions, withStores, type ActorOption, type Session } from "../session.ts";

type Step = "plan" | "copy" | "validate" | "cutover";

const plan = defineCommand({
  usage: "<kind> [place]",
  words: [1, 2],
  summary: "read a whole source and report counts, hashes and problems; nothing is changed",
  details: [
    "Kinds: triples (a SQLite file, postgres://…, cassandra://…, or a folder of CSV files), rows (JSONL or Parquet, a file or a folder), chroma",
    "(a folder, or http://…), qdrant and milvus (http://…), unregistered (data in the stores without a record, or a listing), lisa (a folder",
    "of tables and objects). docs/migrations.md describes the mapping.",
  ].join("\n"),
  options: {
    repository: { type: "string", value: "ID", help: "the target repository" },
    owner: { type: "string", value: "USER", help: "the user whose personal repository is the target" },
    mapping: { type: "string", value: "JSON", help: "further settings: a JSON file, or JSON" },
    "retain-days": { type: "string", value: "N", help: "days to keep the old form after the switch (30)" },
    ...actorOptions,
  },
  examples: [
    `pinakes migrate plan triples ./legacy.db --mapping '{"separator":"__","objects":"absolute"}'`,
    "pinakes migrate plan rows ./export.parquet --repository kb",
    "pinakes migrate plan chroma ./chroma-data --repository kb",
  ],
  localOnly: "a migration reads its source from this machine",
  run: (call) =>
    withStores(
      call,
      { action: "migrations.create", verb: "create", resource: "migrations" },
      async (session) => {
        const { given, words } = call;
        const [kind, place] = words as [string, string | undefined];
        const source = await readSource({
          kind,
          place,
          repository: given.text("repository"),
          owner: given.text("owner"),
          mapping: given.text("mapping"),
        });
        const retain_days = given.whole("retain-days", 0, 3_650);
        const { migration_id } = await session.pinakes.migrations.create(session.caller, { source, retain_days });
        return told(call, session, await driven(call, session, migration_id));
      },
      { creates: true },
    ),
});

const collection = defineCommand({
  usage: "<repository/collection> <repository/collection>",
  words: [2, 2],
  summary:
    "move a collection to another id or repository: copied, verified, switched; the old one is then in the trash",
  options: {
    plan: { type: "boolean", help: "plan only; continue with migrate run" },
    "allow-partial": {
      type: "boolean",
      help: "even if a store of another process may hold data of it, which is not copied",
    },
    ...actorOptions,
  },
  examples: [
    "pinakes migrate collection kb/papers kb/articles",
    "pinakes migrate collection kb/papers archive/papers --plan",
  ],
  localOnly: "a migration reads its source from this machine",
  run: (call) =>
    withStores(call, { action: "migrations.create", verb: "create", resource: "migrations" }, async (session) => {
      const [from, to] = call.words.map((word) => collectionPlace(word)) as [CollectionWords, CollectionWords];
      const partial = call.given.has("allow-partial") ? { allow_partial: true } : {};
      const source = { kind: "collection", ...from, to, ...partial };
      const { migration_id } = await session.pinakes.migrations.create(session.caller, {
        source,
        auto: !call.given.has("plan"),
      });
      return told(call, session, await driven(call, session, migration_id));
    }),
});

const run = defineCommand({
  usage: "<migration>",
  words: [1, 1],
  summary: "copy and compare, from where it stopped; with --switch also switch",
  options: { switch: { type: "boolean", help: "and switch if all is equal" }, ...actorOptions },
  examples: ["pinakes migrate run 01936f4e-…", "pinakes migrate run 01936f4e-… --switch"],
  localOnly: "a migration reads its source from this machine",
  run: (call) =>
    withStores(call, { action: "migrations.run", verb: "update", resource: "migrations" }, async (session) => {
      const id = call.words[0] as string;
      // Finishes an interrupted step first, whichever it was.
      let migration = await driven(call, session, id);
      const steps: readonly Step[] = call.given.has("switch") ? ["copy", "validate", "cutover"] : ["copy", "validate"];
      for (const step of steps) {
        if (
          ["switched", "finished", "rolled_back"].includes(migration.state) ||
          (step === "copy" && migration.state === "ready")
        )
          continue;
        migration = await asked(call, session, id, step);
        if (migration.error !== null) break;
      }
      return told(call, session, migration);
    }),
});

const stepCommand = (word: string, step: Step, summary: string) =>
  defineCommand({
    usage: "<migration>",
    words: [1, 1],
    summary,
    options: actorOptions,
    examples: [`pinakes migrate ${word} 01936f4e-…`],
    localOnly: "a migration reads its source from this machine",
    run: (call) =>
      withStores(call, { action: `migrations.${step}`, verb: "update", resource: "migrations" }, async (session) =>
        told(call, session, await asked(call, session, call.words[0] as string, step)),
      ),
  });

const verify = stepCommand("verify", "validate", "compare counts and content hashes of both sides again");
const switching = stepCommand("switch", "cutover", "compare once more, and open the collections for writes");

const finish = defineCommand({
  usage: "<migration>",
  words: [1, 1],
  summary: "finish it; the old form is removed only with --remove-old",
  options: {
    "remove-old": { type: "boolean", help: "remove the old tables, if they are unchanged since verification" },
    now: { type: "boolean", help: "before their retention period ends" },
    ...actorOptions,
  },
  examples: ["pinakes migrate finish 01936f4e-…", "pinakes migrate finish 01936f4e-… --remove-old"],
  localOnly: "a migration reads its source from this machine",
  run: (call) =>
    withStores(call, { action: "migrations.finish", verb: "update", resource: "migrations" }, async (session) => {
      const id = call.words[0] as string;
      await session.pinakes.migrations.finish(session.caller, id, {
        remove_old: call.given.has("remove-old"),
        now: call.given.has("now"),
      });
      return told(call, session, await driven(call, session, id));
    }),
});

const rollback = defineCommand({
  usage: "<migration>",
  words: [1, 1],
  summary: "restore the old form and remove the new one",
  options: {
    force: { type: "boolean", help: "even if the new form was written since; those writes go to the trash" },
    ...actorOptions,
  },
  examples: ["pinakes migrate rollback 01936f4e-…"],
  localOnly: "a migration reads its source from this machine",
  run: (call) =>
    withStores(call, { action: "migrations.rollback", verb: "update", resource: "migrations" }, async (session) => {
      const id = call.words[0] as string;
      await session.pinakes.migrations.rollback(session.caller, id, { force: call.given.has("force") });
      return told(call, session, await driven(call, session, id));
    }),
});

const status = defineCommand({
  usage: "<migration>",
  words: [1, 1],
  summary: "show its progress, with counts and hashes of both sides",
  options: actorOptions,
  examples: ["pinakes migrate status 01936f4e-…"],
  localOnly: "a migration reads its source from this machine",
  run: (call) =>
    withStores(call, "reads", async (session) => ({
      ...(await told(call, session, await session.pinakes.migrations.get(session.caller, call.words[0] as string))),
      code: 0,
    })),
});

const list = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "list list the migrations of the workspace, newest first",
  options: { ...listOptions, ...actorOptions },
  examples: ["pinakes migrate list"],
  localOnly: "a migration reads its source from this machine",
  run: (call) =>
    withStores(call, "reads", async ({ pinakes, caller, place }) => {
      const page = await readPages(call.given, (paging) => pinakes.migrations.list(caller, paging));
      return {
        answer: page,
        show: () =>
          page.items.length === 0
            ? nothingIn(place, "There are no migrations")
            : grid(call.terminal, page.items.map(migrationRow), { whole: ["migration"], optional: ["created"] }) +
              moreBelow(page),
      };
    }),
});

export const migrate: Group = {
  summary: "migrate data of other programs, layouts and engines: plan, copy, verify, switch",
  commands: { plan, collection, run, status, verify, switch: switching, finish, rollback, list, engine },
};

async function asked(call: Call<ActorOption>, session: Session, id: string, step: Step): Promise<MigrationView> {
  await session.pinakes.migrations[step](session.caller, id);
  return driven(call, session, id);
}

/** The work runs here, with a progress bar; if a server is already working on it, its progress is polled. */
async function driven({ terminal }: Call, { pinakes, caller }: Session, id: string): Promise<MigrationView> {
  const bar =
    terminal.progressColumns === undefined
      ? undefined
      : new ProgressBar(terminal.err, undefined, terminal.progressColumns);
  const onProgress = ({ state, progress }: MigrationView) => {
    if (progress !== null) bar?.show(state, progress.done, Math.max(progress.done, progress.total), progress.unit);
  };
  try {
    return await pinakes.migrations.drive(caller, id, { signal: terminal.signal, onProgress });
  } finally {
    bar?.end();
  }
}

const unitsShown = 50;

async function told(call: Call, { pinakes, caller }: Session, migration: MigrationView): Promise<Outcome> {
  const { items: units } = await pinakes.migrations.units(caller, migration.migration_id, { limit: unitsShown });
  return {
    answer: { ...migration, units },
    show: () => migrationText(call.terminal, migration, units),
    code: migration.problem_count > 0 || migration.error !== null ? failureExitCode : 0,
  };
}
