/** `pinakes encryption …`: the keys of encrypted objects (RFC 0019). */
import { resolve } from "node:path";
import { requireScope } from "../../domain/scope.ts";
import { PinakesError } from "../../domain/errors.ts";
import { createMasterKeyFile, MasterKeys } from "../../encryption/index.ts";
import type { Pinakes } from "../../open.ts";
import { actorOptions, withStores } from "../session.ts";
import { defineCommand, type Group } from "../terminal/command.ts";
import { grid } from "../terminal/layout.ts";

const why = "keys are read from the stores and from a file of this machine";

const newKey = defineCommand({
  usage: "<file>",
  words: [1, 1],
  summary: "create a file with a new master key, readable by its owner only",
  details: `Set PINAKES_MASTER_KEY_FILE to the file before the first start of a new store. Keep a copy of the file apart from the data:
without it the objects cannot be read. To rotate the master key, put a new key on the first line, above the old one, and
restart every process; remove the old line when "pinakes encryption status" shows no key under it.`,
  options: {},
  examples: ["pinakes encryption new-key ./master.key"],
  localOnly: why,
  run: async ({ words }) => {
    const file = resolve(words[0] as string);
    const master_id = await createMasterKeyFile(file);
    return {
      answer: { file, master_id },
      show: () =>
        `Master key ${master_id} is in ${file}.\nKeep a copy of it apart from the data; nothing can replace it.`,
    };
  },
});

const status = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "the data keys of each workspace, and the master key that wraps them",
  options: actorOptions,
  examples: ["pinakes encryption status", "pinakes encryption status --workspace acme --json"],
  localOnly: why,
  run: (call) =>
    withStores(call, "reads", async ({ pinakes, config }) => {
      const master = await MasterKeys.read(required(config.stores.masterKeyFile));
      const keys = await keysOf(pinakes).list(call.given.text("workspace"));
      const rows = keys.map((key) => ({
        workspace: key.owner,
        key: key.key_id,
        use: key.current ? "new objects" : "older objects",
        master: key.master_id,
        created: key.created_at,
      }));
      return {
        answer: { master_ids: master.ids, keys },
        show: () =>
          `${rows.length === 0 ? "No key yet: the first object of a workspace creates one." : grid(call.terminal, rows)}\n\nMaster keys in the file, current first: ${master.ids.join(", ")}`,
      };
    }),
});

const rotate = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "a new data key for a workspace; objects that exist keep theirs",
  options: actorOptions,
  examples: ["pinakes encryption rotate --workspace acme"],
  localOnly: why,
  run: (call) =>
    withStores(
      call,
      { action: "encryption.rotate", verb: "update", resource: "encryption" },
      async ({ pinakes, caller }) => {
        const key = await keysOf(pinakes).rotate(requireScope(caller.scope));
        return { answer: key, show: () => `New objects of ${key.owner} use key ${key.key_id}.` };
      },
    ),
});

export const encryption: Group = {
  summary: "the keys of encrypted objects",
  commands: { "new-key": newKey, status, rotate },
};

function keysOf({ keys }: Pick<Pinakes, "keys">): NonNullable<Pinakes["keys"]> {
  if (keys !== undefined) return keys;
  throw notEncrypted();
}

function required(file: string | undefined): string {
  if (file !== undefined) return file;
  throw notEncrypted();
}

function notEncrypted(): PinakesError {
  return new PinakesError(
    "PRECONDITION_FAILED",
    "The objects of this store are not encrypted. Set PINAKES_MASTER_KEY_FILE before the first start of a new store, or copy this one into an encrypted one: pinakes migrate engine --help",
  );
}
