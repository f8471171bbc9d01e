/** The subject of governance commands. They act as an admin of a workspace: their --user names a subject, not the caller. */
import type { ErasureSubject } from "@pinakes/client";
import { withClient, type ClientSession } from "../client-session.ts";
import { actorOptions, readAddress, type SessionOptions } from "../session.ts";
import { UsageError, type Call, type Given, type Options } from "../terminal/command.ts";

const workspace = actorOptions.workspace;
export const workspaceOptions = { workspace } as const satisfies Options;

export const subjectOptions = {
  user: { type: "string", value: "ID", help: "what names this user" },
  agent: { type: "string", value: "ID", help: "what names this agent" },
  session: { type: "string", value: "ID", help: "what names this session or thread" },
  documents: { type: "string", value: "a,b", help: "these documents of --collection" },
  collection: { type: "string", value: "R/C", help: "the collection of --documents, such as kb/papers" },
  everything: { type: "boolean", help: "the whole workspace" },
  path: { type: "string", value: "PATH", many: true, help: "one more path that names the subject, such as author.id" },
  ...workspaceOptions,
} as const satisfies Options;

const named = ["user", "agent", "session"] as const;

export interface GivenSubject {
  readonly subject: ErasureSubject;
  readonly paths: readonly string[] | undefined;
  /** The display name of the subject. */
  readonly text: string;
  /** The text to type for confirmation. */
  readonly id: string;
}

/** Exactly one subject. Only the operator's own commands need the workspace's id: a key has its own. */
export async function subjectOf({ given }: Call, { knowledge }: ClientSession): Promise<GivenSubject> {
  const paths = given.texts("path").length === 0 ? undefined : given.texts("path");
  const kinds = [...named.filter((name) => given.text(name) !== undefined), ...others(given)];
  if (kinds.length !== 1)
    throw new UsageError(
      "name one subject: --user, --agent, --session, --documents with --collection, or --everything.",
    );
  const [kind] = kinds as [(typeof kinds)[number]];
  if (kind === "everything") {
    const { workspace_id } = await knowledge.server.me();
    return {
      subject: { type: "workspace", id: workspace_id },
      paths,
      text: `the whole workspace ${workspace_id}`,
      id: workspace_id,
    };
  }
  if (kind === "documents") return { ...documentsOf(given), paths };
  const id = given.text(kind) as string;
  return { subject: { type: kind, id }, paths, text: `the ${kind} ${id}`, id };
}

function others(given: Given): readonly ("documents" | "everything")[] {
  const documents = given.text("documents") !== undefined || given.text("collection") !== undefined;
  return [
    ...(documents ? (["documents"] as const) : []),
    ...(given.has("everything") ? (["everything"] as const) : []),
  ];
}

function documentsOf(given: Given): Omit<GivenSubject, "paths"> {
  const [ids, at] = [given.list("documents"), given.text("collection")];
  if (ids === undefined || ids.length === 0 || at === undefined)
    throw new UsageError("documents: give their ids and their collection: --documents ID,ID --collection kb/papers.");
  const { repository, collection } = readAddress(at);
  return {
    subject: { type: "documents", repository_id: repository, collection_id: collection, document_ids: [...ids] },
    text: `${ids.length === 1 ? "1 document" : `${ids.length} documents`} of ${at}`,
    id: at,
  };
}

export function withGovernance<T>(
  call: Call,
  work: (session: ClientSession) => Promise<T>,
  options: SessionOptions = {},
): Promise<T> {
  return withClient({ ...call, given: call.given.without("user") }, work, options);
}
