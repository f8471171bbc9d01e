/** `pinakes quarantine …`: data that `fsck --repair` removed, and its restore. */
import type { QuarantineEntry } from "@pinakes/client";
import { PinakesError } from "../../domain/errors.ts";
import type { ListPage } from "../../knowledge/index.ts";
import { defineCommand, failureExitCode, UsageError, type Group } from "../terminal/command.ts";
import { confirm, yesOption } from "../terminal/confirm.ts";
import { count, fields, grid, inTime } from "../terminal/layout.ts";
import { listOptions, moreBelow, readPages } from "../terminal/pages.ts";
import { nothingIn } from "../store-location.ts";
import { actorOptions, withStores, type Session } from "../session.ts";
import { styled } from "../terminal/terminal.ts";

const wordsMax = 100;
const of = { type: "string", value: "REPOSITORY/COLLECTION", help: "entries of this collection" } as const;

const list = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "list what repairs removed, and until when it can be restored",
  options: { of, ...listOptions, ...actorOptions },
  examples: ["pinakes quarantine list", "pinakes quarantine list --of kb/papers --json"],
  localOnly: "it reads and writes the stores directly",
  run: (call) =>
    withStores(call, "reads", async ({ knowledge, caller, place }) => {
      const page: ListPage<QuarantineEntry> = await readPages(call.given, (paging) =>
        knowledge.quarantine.list(caller, { ...placeOf(call.given.text("of")), ...paging }),
      );
      const shown = () =>
        grid(call.terminal, page.items.map(row), { whole: ["entry"], optional: ["target", "taken"] }) + moreBelow(page);
      return {
        answer: page,
        show: () => (page.items.length === 0 ? nothingIn(place, "The quarantine is empty") : shown()),
      };
    }),
});

const show = defineCommand({
  usage: "<entry>",
  words: [1, 1],
  summary: "one entry",
  options: actorOptions,
  examples: ["pinakes quarantine show 01936f4e-….4be0…"],
  localOnly: "it reads and writes the stores directly",
  run: (call) =>
    withStores(call, "reads", async ({ knowledge, caller }) => {
      const entry = await knowledge.quarantine.get(caller, call.words[0] as string);
      return {
        answer: entry,
        show: () =>
          fields(call.terminal, {
            ...entry,
            document_id: entry.document_id ?? "",
            job_id: entry.job_id ?? "",
            restored_at: entry.restored_at ?? "",
          }),
      };
    }),
});

const restore = defineCommand({
  usage: "[entry…]",
  words: [0, wordsMax],
  summary: "restore an entry to its original location",
  details: `Can be repeated. Rejected if the location is in use; nothing is overwritten. An entry stays until it expires. The
exit code is 1 if any of them was rejected.`,
  options: { of: { ...of, help: "all entries of this collection" }, ...actorOptions },
  examples: ["pinakes quarantine restore 01936f4e-….4be0…", "pinakes quarantine restore --of kb/papers"],
  localOnly: "it reads and writes the stores directly",
  run: (call) =>
    withStores(call, { action: "quarantine.restore", verb: "restore", resource: "quarantine" }, async (session) => {
      const ids = await chosen(session, call.words, call.given.text("of"));
      const restored: string[] = [];
      const refused: { entry_id: string; error: string }[] = [];
      for (const id of ids) {
        try {
          await session.knowledge.quarantine.restore(session.caller, id);
          restored.push(id);
        } catch (error) {
          if (ids.length === 1 || !PinakesError.isInstance(error)) throw error;
          refused.push({ entry_id: id, error: error.detail });
        }
      }
      const lines = refused.map((one) => styled(call.terminal, "red", `${one.entry_id}: ${one.error}`));
      const code = refused.length > 0 ? failureExitCode : 0;
      return {
        answer: { restored, refused },
        show: () => [...lines, `${count(restored.length, "entry", "entries")} restored.`].join("\n"),
        code,
      };
    }),
});

const drop = defineCommand({
  usage: "[entry…]",
  words: [0, wordsMax],
  summary: "permanently remove an entry before it expires",
  options: { of: { ...of, help: "all entries of this collection" }, yes: yesOption, ...actorOptions },
  examples: ["pinakes quarantine drop 01936f4e-….4be0… --yes"],
  localOnly: "it reads and writes the stores directly",
  run: (call) =>
    withStores(call, { action: "quarantine.drop", verb: "purge", resource: "quarantine" }, async (session) => {
      const ids = await chosen(session, call.words, call.given.text("of"));
      if (ids.length > 0)
        await confirm(call, {
          what: `${count(ids.length, "entry", "entries")} will be permanently removed.`,
          unasked: "refused",
        });
      for (const id of ids) await session.knowledge.quarantine.drop(session.caller, id);
      return { answer: { dropped: ids }, show: () => `${count(ids.length, "entry", "entries")} permanently removed.` };
    }),
});

export const quarantine: Group = {
  summary: "manage what fsck --repair removed",
  commands: { list, show, restore, drop },
};

async function chosen(
  { knowledge, caller }: Session,
  words: readonly string[],
  place: string | undefined,
): Promise<readonly string[]> {
  if ((words.length === 0) === (place === undefined))
    throw new UsageError("give entries (pinakes quarantine list), or a collection with --of kb/papers.");
  if (place === undefined) return words;
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page: ListPage<QuarantineEntry> = await knowledge.quarantine.list(caller, {
      ...placeOf(place),
      cursor,
      limit: 100,
    });
    ids.push(...page.items.map(({ entry_id }) => entry_id));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return ids;
}

function placeOf(text: string | undefined): { readonly repository?: string; readonly collection?: string } {
  if (text === undefined) return {};
  const [repository, collection, ...more] = text.split("/");
  if (repository === undefined || repository === "" || collection === undefined || collection === "" || more.length > 0)
    throw new UsageError(`--of: "${text}" is not a collection; write kb/papers.`);
  return { repository, collection };
}

function row({
  entry_id,
  kind,
  repository_id,
  collection_id,
  target,
  count: number,
  quarantined_at,
  expires_at,
  restored_at,
}: QuarantineEntry) {
  return {
    entry: entry_id,
    kind,
    of: collection_id === "" ? repository_id : `${repository_id}/${collection_id}`,
    target,
    count: number,
    taken: inTime(quarantined_at),
    expires: inTime(expires_at).slice(0, 10),
    restored: restored_at === null ? "" : "yes",
  };
}
