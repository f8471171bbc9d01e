/** `pinakes documents access`: who of those who may use the collection may see a document. */
import type { Document } from "@pinakes/client";
import { withClient } from "../client-session.ts";
import { actorOptions, readAddress } from "../session.ts";
import { defineCommand, UsageError } from "../terminal/command.ts";
import { oneLine } from "../terminal/layout.ts";
import { findDocument } from "./find-document.ts";

/** No name of a group, user or label contains it. */
const separator = ",";
const nobody = "none";

export const access = defineCommand({
  usage: "<repository/collection> <document>",
  words: [2, 2],
  summary: "narrow who of the collection's users may see a document",
  options: {
    "allow-groups": {
      type: "string",
      value: "GROUPS",
      help: `groups of the collection, separated by commas; "${nobody}": no list`,
    },
    "allow-users": { type: "string", value: "USERS", help: "ids of users beside the groups" },
    labels: { type: "string", value: "LABELS", help: "sensitivity labels that readers must be cleared for" },
    ...actorOptions,
  },
  examples: [
    "pinakes documents access kb/papers salaries.pdf --allow-groups hr,board",
    "pinakes documents access kb/papers salaries.pdf --allow-groups none --labels personal",
  ],
  run: async (call) => {
    const at = readAddress(call.words[0] as string);
    const [groups, users, labels] = (["allow-groups", "allow-users", "labels"] as const).map((name) =>
      listOf(call.given.text(name)),
    );
    if (groups === undefined && users === undefined && labels === undefined)
      throw new UsageError("give --allow-groups, --allow-users or --labels.");
    return withClient(call, async (session) => {
      const { document_id } = await findDocument(session, at, call.words[1] as string);
      const document = await session.knowledge.documents.setAccess(at, document_id, {
        allowed_groups: orNull(groups),
        allowed_users: orNull(users),
        sensitivity: labels,
      });
      return {
        answer: document,
        show: () => `${oneLine(document.name)}: ${accessText(document) ?? "open to all users of the collection"}`,
      };
    });
  },
});

/** Undefined if it does not narrow the access to its collection. */
export function accessText({ allowed_groups, allowed_users, sensitivity }: Document): string | undefined {
  const parts = [
    ...(allowed_groups === null ? [] : [`groups ${allowed_groups.map(oneLine).join(", ")}`]),
    ...(allowed_users === null ? [] : [`users ${allowed_users.map(oneLine).join(", ")}`]),
    ...(sensitivity.length === 0 ? [] : [`labels ${sensitivity.map(oneLine).join(", ")}`]),
  ];
  return parts.length === 0 ? undefined : parts.join("; ");
}

function listOf(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined;
  return text === nobody ? [] : text.split(separator).map((part) => part.trim());
}

function orNull(list: readonly string[] | undefined): readonly string[] | null | undefined {
  return list?.length === 0 ? null : list;
}
