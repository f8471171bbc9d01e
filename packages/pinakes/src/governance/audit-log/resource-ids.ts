/**
 * Which fields of a call name resources, and how their ids are written: those of subjects as tokens, those that this system makes as they
 * are, and those that callers choose freely as keyed hashes. A field that is not here is not recorded.
 */
import type { Scope } from "../../domain/scope.ts";
import { auditLimits } from "./limits.ts";
import type { KnownSubject, SubjectKind, Subjects } from "./subjects.ts";

type Treatment = SubjectKind | "made" | "chosen" | "never";

const of = (name: string, treatment: Treatment) => ({ name, treatment });
const repository = of("repository", "repository");
const collection = of("collection", "collection");
const agent = of("agent", "agent");
const session = of("session", "session");
const thread = of("thread", "thread");
const user = of("user", "user");
const document = of("document", "made");
const job = of("job", "made");
const item = of("item", "chosen");

/** By parameter of a path, field of an answer or argument of a tool. */
export const resourceFields: Readonly<Record<string, { readonly name: string; readonly treatment: Treatment }>> = {
  rid: repository,
  repository,
  repository_id: repository,
  repositoryId: repository,
  cid: collection,
  collection,
  collection_id: collection,
  collectionId: collection,
  catalog_id: collection,
  kb: collection,
  did: document,
  document_id: document,
  documentId: document,
  jid: job,
  job_id: job,
  jobId: job,
  aid: agent,
  agent_id: agent,
  agentId: agent,
  sid: session,
  session_id: session,
  sessionId: session,
  threadId: thread,
  thread_id: thread,
  user_id: user,
  kid: of("key", "made"),
  key_id: of("key", "made"),
  oid: of("operation", "made"),
  operation_id: of("operation", "made"),
  mid: of("migration", "made"),
  migration_id: of("migration", "made"),
  eid: of("evaluation", "made"),
  evaluation_id: of("evaluation", "made"),
  run: of("run", "made"),
  xid: of("erasure", "made"),
  erasure_id: of("erasure", "made"),
  hid: of("hold", "made"),
  hold_id: of("hold", "made"),
  export: of("export", "made"),
  export_id: of("export", "made"),
  part: of("part", "made"),
  qid: of("quarantine", "made"),
  pid: of("pipeline", "made"),
  pipeline_id: of("pipeline", "made"),
  wid: of("workflow", "chosen"),
  workflow_id: of("workflow", "chosen"),
  c: of("container", "chosen"),
  container: of("container", "chosen"),
  pk: of("partition", "chosen"),
  id: item,
  item,
  name: of("name", "chosen"),
  tool: of("tool", "chosen"),
  uid: of("upload", "made"),
  upload: of("upload", "made"),
  file: of("file", "made"),
  store: of("store", "made"),
  batch: of("batch", "made"),
  response: of("response", "made"),
  conversation: of("conversation", "made"),
  model: of("model", "made"),
  q: of("queue", "made"),
  dead: of("message", "chosen"),
  date: of("date", "made"),
  step: of("step", "made"),
  flow: of("flow", "chosen"),
  class: of("class", "made"),
  // Whoever has it may use it.
  token: of("token", "never"),
};

/** As they are written in an entry. */
export async function writtenIds(
  fields: Readonly<Record<string, unknown>>,
  {
    scope,
    subjects,
    workspace,
    userId,
  }: {
    readonly scope: Scope;
    readonly subjects: Subjects;
    readonly workspace: KnownSubject;
    readonly userId: string | undefined;
  },
): Promise<Readonly<Record<string, string>>> {
  const clear = clearIds(fields, userId);
  const written = await Promise.all(
    [...clear].slice(0, auditLimits.idsMax).map(async ([name, { treatment, id }]) => {
      if (treatment === "made") return [name, id.slice(0, auditLimits.idCharsMax)] as const;
      if (treatment === "chosen") return [name, `#${workspace.hashOf(id)}`] as const;
      const { token } = await subjects.of(scope, { kind: treatment as SubjectKind, id });
      return [name, `~${token}`] as const;
    }),
  );
  return Object.fromEntries(written);
}

function clearIds(
  fields: Readonly<Record<string, unknown>>,
  userId: string | undefined,
): ReadonlyMap<string, { readonly treatment: Treatment; readonly id: string }> {
  const clear = new Map<string, { readonly treatment: Treatment; readonly id: string }>();
  for (const [field, value] of Object.entries(fields)) {
    const known = Object.hasOwn(resourceFields, field) ? resourceFields[field] : undefined;
    if (known === undefined || known.treatment === "never" || clear.has(known.name)) continue;
    if ((typeof value !== "string" && typeof value !== "number") || value === "") continue;
    clear.set(known.name, { treatment: known.treatment, id: String(value) });
  }
  const parent = clear.get("repository");
  // Everyone has a repository `me`.
  const owner = parent?.id === "me" ? `me:${userId ?? ""}` : parent?.id;
  if (parent !== undefined && owner !== undefined) clear.set("repository", { ...parent, id: owner });
  const child = clear.get("collection");
  if (child !== undefined) clear.set("collection", { ...child, id: `${owner ?? `me:${userId ?? ""}`}/${child.id}` });
  return clear;
}
