/** `pinakes keys …`: API keys of a workspace. Uses the root token of the settings. */
import { readConfig } from "../../config.ts";
import { permissions, roles, type Key } from "@pinakes/client";
import { confirm, yesOption } from "../terminal/confirm.ts";
import { defineCommand, UsageError, type Call, type Group } from "../terminal/command.ts";
import { withClient, type ClientSession } from "../client-session.ts";
import { fields, grid, inTime } from "../terminal/layout.ts";
import { listOptions, moreBelow, readPages } from "../terminal/pages.ts";
import { requireData } from "../store-location.ts";
import { rotateRootToken } from "../root-token.ts";
import type { SessionOptions } from "../session.ts";
import { styled } from "../terminal/terminal.ts";

const workspace = { type: "string", value: "ID", help: "the workspace (default)" } as const;

const create = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "create a key; its secret is shown once",
  options: {
    user: { type: "string", value: "ID", help: "whose key" },
    workspace: { ...workspace, help: "the workspace, created if new (default)" },
    role: { type: "string", value: "ROLE", help: `${roles.join(", ")} (user)` },
    groups: { type: "string", value: "a,b", help: "groups of the user (none)" },
    purge: { type: "boolean", help: "permanently remove what the user may delete (admins always can)" },
    audit: { type: "boolean", help: "may read the audit log (admins always may)" },
    name: { type: "string", help: "a description" },
    expires: {
      type: "string",
      value: "90d",
      help: "after days, or at a time such as 2030-01-01T00:00:00Z (never)",
    },
    "act-as": { type: "string", value: "a,b", help: "users that TrustGraph's clients may act as (none)" },
    "read-only": { type: "boolean", help: "read-only" },
  },
  examples: [
    "pinakes keys create --user ada --name laptop --expires 90d",
    "pinakes keys create --user ci --role admin --workspace acme --json",
  ],
  run: async (call) => {
    const { given, terminal } = call;
    const user_id = given.text("user");
    if (user_id === undefined) throw new UsageError("specify the user: pinakes keys create --user ID");
    const input = {
      user_id,
      ...(given.text("workspace") === undefined ? {} : { workspace_id: given.text("workspace") }),
      role: given.oneOf("role", roles) ?? "user",
      groups: [...(given.list("groups") ?? [])],
      permissions: permissions.filter((one) => given.has(one)),
      ...(given.text("name") === undefined ? {} : { name: given.text("name") }),
      ...(given.text("expires") === undefined ? {} : { expires_at: expiry(given.text("expires") as string) }),
      ...(given.text("act-as") === undefined ? {} : { act_as: [...(given.list("act-as") ?? [])] }),
      ...(given.has("read-only") ? { scopes: ["read" as const] } : {}),
    };
    return asRoot(call, { creates: true }, async ({ knowledge }) => {
      const made = await knowledge.keys.create(input);
      const { key, ...info } = made;
      const text = `${styled(terminal, "bold", key)}\n\nIt is shown only once. Use it as: Authorization: Bearer ${key.slice(0, 8)}…\n\n${fields(terminal, row(info))}`;
      return { answer: made, show: () => text };
    });
  },
});

const list = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "list list the keys of a workspace, newest first",
  options: { workspace, ...listOptions },
  examples: ["pinakes keys list", "pinakes keys list --workspace acme --json"],
  run: (call) =>
    asRoot(call, {}, async ({ knowledge }) => {
      const workspace_id = call.given.text("workspace");
      const page = await readPages(call.given, (paging) => knowledge.keys.list({ workspace_id, ...paging }));
      const none = `There are no keys in workspace ${workspace_id ?? "default"}.`;
      return {
        answer: page,
        show: () =>
          page.items.length === 0 ? none : grid(call.terminal, page.items.map(row), listed) + moreBelow(page),
      };
    }),
});

const revoke = defineCommand({
  usage: "<key id>",
  words: [1, 1],
  summary: "revoke a key (a running server rejects it within 5 seconds)",
  details: "The id is the part between pk_ and the next _; a whole key is accepted, too.",
  options: { workspace: { ...workspace, help: "only if the key belongs to this workspace (any)" }, yes: yesOption },
  examples: [
    "pinakes keys revoke 4f1c09aa52b3d7e60f12",
    "pinakes keys revoke 4f1c09aa52b3d7e60f12 --workspace acme --yes",
  ],
  run: async (call) => {
    const word = call.words[0] as string;
    const id = /^pk_([0-9a-f]{20})_/.exec(word)?.[1] ?? word;
    return asRoot(call, {}, async ({ knowledge }) => {
      await confirm(call, { what: `Key ${id} will be revoked.`, unasked: "done" });
      await knowledge.keys.revoke(id, { workspace_id: call.given.text("workspace") });
      return { answer: { revoked: id }, show: () => `Key ${id} is revoked.` };
    });
  },
});

const rotateRoot = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "replace the root token of the data folder",
  details:
    "A running server uses the new one within 5 seconds; the old one, and sessions that were opened with it, end then. API keys stay valid. A token from PINAKES_ROOT_TOKEN is replaced there, followed by a restart.",
  options: { yes: yesOption },
  examples: ["pinakes keys rotate-root --yes"],
  localOnly: "the root token is a file in the data folder",
  run: async (call) => {
    const config = readConfig(call.terminal.env);
    if (config.rootToken !== undefined)
      throw new UsageError("the root token comes from PINAKES_ROOT_TOKEN: change it there, and restart the server.");
    await requireData(config);
    await confirm(call, { what: "The root token will be replaced, and the old one revoked.", unasked: "done" });
    const file = rotateRootToken(config.stores.data);
    return { answer: { file }, show: () => `The new root token is in ${file}, readable by its owner only.` };
  },
});

export const keys: Group = {
  summary: "manage API keys for programs",
  commands: { create, list, revoke, "rotate-root": rotateRoot },
};

const listed = {
  whole: ["key", "created", "expires", "last used"],
  optional: ["workspace", "may", "created", "expires", "last used"],
};

async function asRoot<T>(
  call: Call,
  options: SessionOptions,
  work: (session: ClientSession) => Promise<T>,
): Promise<T> {
  return withClient(call, work, { ...options, root: true });
}

const dayMs = 86_400_000;

function expiry(text: string): string {
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  if (days !== undefined) return new Date(Date.now() + Number(days) * dayMs).toISOString();
  const at = Date.parse(text);
  if (Number.isNaN(at))
    throw new UsageError(`--expires: write days such as 90d, or a time such as 2030-01-01T00:00:00Z; got "${text}".`);
  return new Date(at).toISOString();
}

function row({
  key_id,
  name,
  user_id,
  workspace_id,
  groups,
  role,
  permissions: granted,
  scopes,
  created_at,
  expires_at,
  last_used_at,
}: Key) {
  return {
    key: key_id,
    name: name ?? "",
    user: user_id,
    workspace: workspace_id,
    role,
    groups: groups.join(", "),
    may: [...scopes, ...granted].join(", "),
    created: inTime(created_at),
    expires: inTime(expires_at),
    "last used": inTime(last_used_at),
  };
}
