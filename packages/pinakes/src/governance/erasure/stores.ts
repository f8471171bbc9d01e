/**
 * Every store, and the effect of an erasure on it (RFC 0012). A test compares the table with the containers that exist and with the one in
 * docs/governance.md, so that no new container is forgotten.
 */
import { hash } from "node:crypto";
import type { JsonObject } from "../../domain/json.ts";
import { isJsonObject } from "../../domain/json.ts";
import { companionField, isErasedEntry } from "../../state/index.ts";
import type { WalkedItem } from "../../ports/item-erasure.ts";
import type { Links } from "./links.ts";
import type { Naming } from "../subjects/naming.ts";
import { userHash } from "../subjects/subject.ts";

/** `delete`, `redact`: this row. The others are done by the feature that owns it. */
export type Verdict =
  | { readonly do: "delete" | "partition" | "workflow" | "invocation" | "metric" | "document" | "collection" }
  | { readonly do: "redact"; readonly document: JsonObject };

interface Asked {
  readonly naming: Naming;
  readonly links: Links;
  readonly workspace: string;
  /** Epoch milliseconds: when this attempt began. */
  readonly since: number;
}
type Decide = (row: WalkedItem, asked: Asked) => Verdict | undefined;

export interface StoreRow {
  /** The container, or the name of another store. */
  readonly store: string;
  readonly kind: "container" | "other";
  /** The tenant that its rows are under, where that is not the workspace. */
  readonly tenant?: string;
  /** How what names the subject is found. */
  readonly find: string;
  readonly erase: string;
  readonly verify: string;
  readonly decide?: Decide;
  /** Stays when its workspace goes. */
  readonly outlives?: true;
}

const remove: Verdict = { do: "delete" };
const again = "the same walk finds none";

/** A row that names the subject at its paths is the subject's own; what names it elsewhere is another's. */
const owned: Decide = (row, { naming }) => (naming.names(row.document) ? remove : redacted(row, naming));
const named: Decide = (row, { naming }) => redacted(row, naming);
const untouched: Decide = () => undefined;

function redacted({ document }: WalkedItem, naming: Naming): Verdict | undefined {
  const next = naming.redacted(document);
  return next === undefined ? undefined : { do: "redact", document: next };
}

/** In containers whose partition is an agent or a thread. */
const keyedBy =
  (type: "agent" | "session"): Decide =>
  (row, asked) => {
    const { subject } = asked.naming;
    if (subject.type === type && row.partition[0] === subject.id) return remove;
    // The companion of a session, beside the messages of an agent.
    if (subject.type === "session" && row.document["session"] === subject.id) return remove;
    if (isOwnSession(row.document, asked)) return remove;
    return owned(row, asked);
  };

/** Includes what others wrote in a session that only this user has: answers to the user. */
function isOwnSession(document: JsonObject, { links, naming }: Asked): boolean {
  if (naming.subject.type !== "user") return false;
  const session = document["session_id"] ?? document["session"];
  return typeof session === "string" && links.ownsSession(session);
}

const ofUser: Decide = ({ partition }, { naming: { subject } }) =>
  subject.type === "user" && partition[0] === userHash(subject.id) ? remove : undefined;

const workflow: Decide = (row, asked) => {
  const { document } = row;
  if (document[companionField] !== undefined) return undefined;
  const isWorkflow = document["kind"] !== "checkpoint";
  const own = asked.naming.subject.type === "agent" ? false : asked.naming.names(document);
  return isWorkflow && own ? { do: "workflow" } : redacted(row, asked.naming);
};

const metric: Decide = ({ document, expired }, { naming, links }) => {
  if (document[companionField] !== undefined) return undefined;
  const dimensions = isJsonObject(document["dimensions"]) ? document["dimensions"] : {};
  const linked = links.hasSession(dimensions["session_id"]) || links.hasWorkflow(dimensions["workflow_id"]);
  if (!linked && !naming.names(document)) return undefined;
  return expired ? remove : { do: "metric" };
};

const invocation: Decide = (row, asked) => {
  if (row.document[companionField] !== undefined || isErasedEntry(row.document)) return undefined;
  if (!asked.naming.names(row.document) && !isOwnSession(row.document, asked))
    return asked.links.hasWorkflow(row.document["workflow_id"]) ? { do: "invocation" } : redacted(row, asked.naming);
  return { do: "invocation" };
};

const catalog: Decide = (row, { naming }) => {
  const { document } = row;
  const { subject } = naming;
  if (subject.type !== "user") return undefined;
  const own = document["created_by"] === subject.id;
  if (document["kind"] === "collection" && own && document["private"] === true) return { do: "collection" };
  // A personal repository goes once its collections have.
  if (document["kind"] === "repository" && document["owner"] === subject.id) return { do: "partition" };
  if (document["kind"] === "operation" && own && document["status"] === "done") return remove;
  return redacted(row, naming);
};

const document: Decide = (row, { naming }) => {
  const { subject } = naming;
  const { kind } = row.document;
  if (subject.documents !== undefined) {
    const { repository_id, collection_id, document_ids } = subject.documents;
    const isOne =
      kind === "document" &&
      row.document["repository_id"] === repository_id &&
      row.document["collection_id"] === collection_id &&
      document_ids.includes(row.document["document_id"] as string);
    return isOne ? { do: "document" } : undefined;
  }
  if (!naming.names(row.document))
    return kind === "document" || kind === "restricted" ? redacted(row, naming) : undefined;
  if (kind === "document") return { do: "document" };
  return kind === "attachment" ? remove : undefined;
};

/** Answers that quote the subject, or a session of the user alone. The key stays, so that a repeated request is still executed once. */
const answer: Decide = (row, { naming, links, since }) => {
  const stored = row.document["answer"];
  // Behind the fence no answer is stored to a request that names the subject, and those of others do not end.
  if (row.modifiedAt > since || !isJsonObject(stored) || typeof stored["body"] !== "string") return undefined;
  const { type, documents, id } = naming.subject;
  const texts = type === "documents" ? (documents?.document_ids ?? []) : [id, ...links.ownSessions];
  if (!texts.some((text) => (stored["body"] as string).includes(JSON.stringify(text)))) return undefined;
  return { do: "redact", document: { ...row.document, answer: { ...stored, body: null, tooLarge: true } } };
};

const credential: Decide = (row, { naming, workspace }) => {
  const { subject } = naming;
  const { workspace_id, user_id } = row.document;
  if (workspace_id !== workspace) return undefined;
  if (subject.type === "workspace" || (subject.type === "user" && user_id === subject.id)) return remove;
  return subject.type === "user" ? redacted(row, naming) : undefined;
};

const grant: Decide = ({ document: { tenant, user } }, { naming: { subject }, workspace }) => {
  if (tenant !== workspace) return undefined;
  const own = isJsonObject(user) && user["id"] === subject.id;
  return subject.type === "workspace" || (subject.type === "user" && own) ? remove : undefined;
};

const subjectExport: Decide = (
  { document: { workspace_id, subject: exported } },
  { naming: { subject }, workspace },
) => {
  if (workspace_id !== workspace) return undefined;
  const same = isJsonObject(exported) && exported["type"] === subject.type && exported["id"] === subject.id;
  return subject.type === "workspace" || same ? remove : undefined;
};

/** A copy of data that expired under a hold: the hold was released, or the copy would have been kept. */
const copy: Decide = ({ document: { held } }, { naming }) =>
  isJsonObject(held) && (naming.names(held) || naming.redacted(held) !== undefined) ? remove : undefined;

const session: Decide = ({ document: { user_id, session: id } }, { naming: { subject } }) =>
  (subject.type === "user" && user_id === subject.id) || (subject.type === "session" && id === subject.id)
    ? { do: "partition" }
    : undefined;

const job: Decide = (row, { naming }) => {
  const { subject } = naming;
  if (subject.type !== "user" || row.document["created_by"] !== subject.id) return redacted(row, naming);
  const ended = ["succeeded", "failed", "cancelled"].includes(row.document["status"] as string);
  return ended ? remove : redacted(row, naming);
};

/** Work and messages of a workspace in the system's own registries. */
const ofTenant: Decide = ({ document: { tenant } }, { naming: { subject } }) =>
  subject.type === "workspace" && tenant === subject.id ? remove : undefined;
const lane: Decide = ({ partition: [queue] }, { naming: { subject } }) =>
  subject.type === "workspace" && queue === `documents-${hash("sha256", subject.id, "hex").slice(0, 32)}`
    ? remove
    : undefined;

/** Objects and their backups that were encrypted with it cannot be read any more (RFC 0019). */
const dataKey: Decide = ({ id }, { naming: { subject } }) =>
  subject.type === "workspace" && id.startsWith(`${subject.id}:`) ? remove : undefined;

/** The salt of a subject: without it the entries of the audit log are anonymous, and the log still verifies (RFC 0013). */
const salt: Decide = ({ document: { kind, subject_id } }, { naming: { subject } }) =>
  subject.type === "workspace" || (kind === subject.type && subject_id === subject.id) ? remove : undefined;

const container = (
  store: string,
  [find, erase]: readonly [string, string],
  decide: Decide,
  tenant?: string,
): StoreRow => ({
  store,
  kind: "container",
  find,
  erase,
  verify: again,
  decide,
  ...(tenant === undefined ? {} : { tenant }),
});

const kept = (store: string, why: string, tenant?: string): StoreRow => ({
  ...container(store, [why, "with its workspace"], untouched, tenant),
});

const paths = "paths";
const deleted = "rows deleted, feed entries removed";
const redact = "names replaced";

/** Containers of callers and of adapters: any name that no row of the table has. */
export const otherContainers: StoreRow = container(
  "own containers",
  [`${paths}, partition`, `${deleted}; ${redact} in rows of others`],
  owned,
);

/** In erasure order: rows through which other rows are found come last. */
export const stores: readonly StoreRow[] = [
  container(
    "identity-keys",
    ["workspace and user", "deleted; `act_as` and creator redacted"],
    credential,
    "pinakes.identity",
  ),
  container("identity-sessions", ["workspace and user", "deleted"], credential, "pinakes.identity"),
  container("agent-metrics", [`${paths}, linked sessions and workflows`, "anonymous rows with equal totals"], metric),
  container("workflow-states", [paths, "workflow with checkpoints deleted; redacted where another owns it"], workflow),
  container("agent-memories", [`${paths}, partition, sessions of the user alone`, deleted], keyedBy("agent")),
  container(
    "tool-invocations",
    [`${paths}, linked sessions and workflows`, "deleted; a link stays in a chained day"],
    invocation,
  ),
  container("thread-message-store", [`${paths}, partition`, deleted], keyedBy("session")),
  container("system-thread-message-store", [`${paths}, partition`, deleted], keyedBy("session")),
  container("agent-entity-store", [`${paths}, partition`, deleted], keyedBy("agent")),
  otherContainers,
  container(
    "documents",
    [
      "uploader, metadata, ids, allowed users",
      "deleted with chunks, files, triples; uploader of versions, allowed users redacted",
    ],
    document,
  ),
  container("collections", ["creator", "private ones purged; creator redacted in others"], catalog),
  container("files", ["hash of the user", deleted], ofUser),
  container("library", ["hash of the user", deleted], ofUser),
  container("responses", ["hash of the user", deleted], ofUser),
  container("jobs", ["creator", "ended ones deleted; creator redacted in running ones"], job),
  container("evaluations", [paths, redact], named),
  container("knowledge-pipelines", [paths, redact], named),
  container("migrations", [paths, redact], named),
  container("state-settings", [paths, redact], named),
  container("held-items", [paths, deleted], copy),
  container("http-idempotency", ["answers that quote it", "bodies removed, keys stay"], answer),
  container("mcp-sessions", ["user, session", deleted], session),
  container("catalog-selections", ["user", deleted], session),
  container("knowledge-grants", ["user", deleted], grant, "pinakes.knowledge"),
  container("knowledge-work", ["workspace", deleted], ofTenant, "pinakes.knowledge"),
  container("vector-work", ["workspace", deleted], ofTenant, "pinakes.system"),
  container("state-work", ["workspace", deleted], ofTenant, "pinakes.state"),
  container("migrations-work", ["workspace", deleted], ofTenant, "pinakes.migrations"),
  container("queues", ["lane of the workspace", deleted], lane, "pinakes.knowledge"),
  container(
    "workspace-keys",
    ["workspace", "destroyed, so encrypted objects in backups cannot be read"],
    dataKey,
    "pinakes.keys",
  ),
  container("audit-subjects", ["kind and id", "deleted, so that entries of the audit log become anonymous"], salt),
  {
    ...kept("audit-log", "tokens of subjects, and ciphertext under their salts; it stays, also without its workspace"),
    outlives: true,
  },
  kept("queue-attempts", "counts by message id"),
  kept("vectors", "heads and logs of vector collections: names and hashes only"),
  kept("triples", "quads; removed with the documents that support them"),
  kept("knowledge-activity", "counters by the minute"),
  kept("audit", "ids of suspects of consistency checks", "pinakes.audit"),
  kept("lifecycle-participants", "names of stores", "pinakes.lifecycle"),
  kept("identity-workspaces", "the name of a workspace and who made its first key", "pinakes.identity"),
  kept("engine-moves", "progress of moves between engines", "pinakes.moves"),
  kept("pinakes-probe", "the store id", "pinakes.store"),
  container(
    "subject-exports",
    ["workspace and subject", "deleted with their archives"],
    subjectExport,
    "pinakes.governance",
  ),
  kept("retention-settings", "lifetimes of a workspace; names of containers"),
  kept("erasures", "keyed hashes of subjects", "pinakes.governance"),
  kept(
    "legal-holds",
    "a hold outlives an erasure that it blocks; it names the subject until its release",
    "pinakes.governance",
  ),
  {
    store: "objects",
    kind: "other",
    find: "prefixes of documents, files, workflows and sealed hours",
    erase: "deleted; sealed hours of affected days dropped",
    verify: "a list of the prefixes is empty",
  },
  {
    store: "vector files",
    kind: "other",
    find: "collections of the documents; rows whose metadata names it, in every collection; indexes of memories",
    erase: "segments rewritten, versions and applied deltas removed",
    verify: "no row that does not count, one version",
  },
  {
    store: "triple spaces",
    kind: "other",
    find: "sources of the documents",
    erase: "supports removed, and quads that nothing else supports",
    verify: "no removal is left",
  },
  {
    store: "engine files",
    kind: "other",
    find: "free pages, gaps and logs",
    erase: "rewritten (SQLite; PostgreSQL on request)",
    verify: "the engine's report",
  },
];

const rows = new Map(stores.map((row) => [row.store, row]));

export function rowOf(name: string): StoreRow {
  return rows.get(name) ?? otherContainers;
}

/** For a workspace: everything under its tenant goes, whatever it is. */
export const everything: Decide = () => remove;
