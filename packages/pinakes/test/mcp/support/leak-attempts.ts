/** Every tool and every resource as an attempt on what belongs to others. A tool or a template that is missing here fails the suite. */
import type { Json } from "../../http/support/server.ts";
import { base64 } from "./mcp-world.ts";

/** Ids of another's things, or of things that never were. */
export interface Target {
  readonly rid: string;
  readonly cid: string;
  readonly did: string;
  readonly jid: string;
  readonly handle: string;
  readonly wid: string;
  readonly aid: string;
  readonly sid: string;
  readonly tool: string;
  readonly container: string;
  /** An erasure with a receipt. */
  readonly xid: string;
  readonly citation: Json;
}
/** The arguments of attempts; each is made with a target, and with ids that never were. */
export type Attempts = (target: Target) => readonly Record<string, unknown>[];

const at = ({ rid, cid }: Target): string => `${rid}/${cid}`;
const pair = ({ cid, did }: Target) => ({ catalog_id: cid, document_id: did });
const flow = ({ wid }: Target) => ({ workflow_id: wid });
const talk = ({ aid, sid }: Target) => ({ agent_id: aid, session_id: sid });
const march = { from: "2025-03-01T00:00:00Z", to: "2025-04-01T00:00:00Z" };
const selectAll = "SELECT * FROM c";
const containers = ["workflow-states", "agent-memories", "agent-metrics", "tool-invocations", "thread-message-store"];

/** About documents: another user of the same workspace must not see them either. */
export const onDocuments: Readonly<Record<string, Attempts>> = {
  search: (t) => [
    { query: "plans of the vault" },
    { query: "plans of the vault", mode: "keyword", min_score: 0 },
    { query: "plans of the vault", in: [at(t)] },
    { query: "plans of the vault", in: [t.rid] },
    { query: "plans of the vault", in: [`me/${t.cid}`] },
  ],
  answer: (t) => [
    { question: "plans of the vault" },
    { question: "plans of the vault", in: [at(t)] },
    { question: "plans of the vault", in: [t.rid] },
  ],
  verify_citation: (t) => [
    { citation: { ...t.citation, repository_id: t.rid, collection_id: t.cid, document_id: t.did } },
  ],
  create_catalog: () => [{ catalog_name: "Plans" }, { catalog_name: "plans" }],
  list_catalogs: () => [{}],
  upload_to_catalog: ({ cid }) =>
    [{ file_content: base64("mine") }, { file_content: base64("mine"), replace: true }, {}].map((more) => ({
      catalog_id: cid,
      filename: "plans.txt",
      ...more,
    })),
  list_catalog_documents: ({ cid }) => [{ catalog_id: cid }],
  delete_catalog_document: (t) => [pair(t), { ...pair(t), confirm: true }],
  select_catalog: ({ cid, handle }) => [{ catalog_id: cid }, { catalog_id: cid, selection_handle: handle }],
  query_catalog: ({ cid, handle }) => [
    { query: "plans", catalog_id: cid },
    { query: "plans", selection_handle: handle },
    { query: "plans" },
  ],
  delete_catalog: ({ cid }) => [{ catalog_id: cid }, { catalog_id: cid, confirm: true }],
  get_indexing_status: ({ cid }) => [{ catalog_id: cid }],
  download_from_catalog: (t) => [pair(t)],
  triples_match: (t) => [{ collection: at(t) }, { collection: at(t), s: "<a:plans>" }],
  sparql_select: (t) => [
    { collection: at(t), query: "SELECT * WHERE { ?s ?p ?o }" },
    { collection: at(t), query: "ASK { <a:plans> ?p ?o }" },
    { collection: at(t), query: "SELECT nonsense" },
  ],
  job_wait: ({ jid }) => [{ job_id: jid, timeout_seconds: 0 }],
};

/** About the state of agents, which users of one workspace share. */
export const onState: Readonly<Record<string, Attempts>> = {
  workflow_list: () => [{}, { status: "in_progress" }, { type: "saga" }],
  workflow_get: (t) => [flow(t)],
  workflow_create: () => [],
  workflow_update: (t) => [
    { ...flow(t), change: { name: "mine" } },
    { ...flow(t), change: { name: "mine" }, if_match: '"1"', fencing_token: 1 },
  ],
  workflow_checkpoint: (t) => [{ ...flow(t), step: 1, state: {} }],
  workflow_resume: (t) => [flow(t), { ...flow(t), owner: "intruder" }],
  memory_append: () => [],
  memory_recall: (t) => [{ ...talk(t), max_tokens: 1_000 }],
  memory_search: ({ aid, sid }) => [
    { query: "launch code", mode: "keyword" },
    { query: "launch code", mode: "keyword", agent_id: aid },
    { query: "launch code", mode: "keyword", agent_id: aid, session_id: sid },
  ],
  session_list: ({ aid }) => [{ agent_id: aid }],
  metrics_query: ({ aid }) => [
    { aggregates: ["count", "sum", "p95"], group_by: ["agent_id"], ...march },
    { aggregates: ["count"], filter: { agent_id: aid }, ...march },
  ],
  tool_log_search: ({ aid, sid, wid, tool }) => [
    {},
    { agent_id: aid },
    { session_id: sid },
    { workflow_id: wid },
    { tool_name: tool },
  ],
  state_query: ({ container, aid }) => [
    { container, query: selectAll },
    ...containers.map((name) => ({ container: name, query: selectAll })),
    { container: "agent-memories", query: "SELECT VALUE COUNT(1) FROM c" },
    { container: "agent-memories", query: `SELECT * FROM c WHERE c.agent_id = "${aid}"` },
  ],
  erasure_request: ({ rid, cid, did, aid, sid }) => [
    { subject: { type: "agent", id: aid } },
    { subject: { type: "session", id: sid } },
    { subject: { type: "documents", repository_id: rid, collection_id: cid, document_ids: [did] } },
  ],
  erasure_status: ({ xid }) => [{ erasure_id: xid }, { erasure_id: xid, timeout_seconds: 1 }],
};

/** The same names are free in another workspace: what is made with them is the maker's own. */
export const making: Readonly<Record<string, Attempts>> = {
  workflow_create: ({ wid }) => [{ type: "saga", name: "Mine", total_steps: 1, idempotency_key: wid }],
  memory_append: (t) => [{ ...talk(t), message_type: "user", content: "mine", idempotency_key: "k" }],
};

/** By the name of the template. */
export const onResources: Readonly<Record<string, (target: Target) => readonly string[]>> = {
  collection: ({ rid, cid }) => [`pinakes://repositories/${rid}/collections/${cid}`],
  document: ({ rid, cid, did }) => [`pinakes://repositories/${rid}/collections/${cid}/documents/${did}`],
  excerpt: ({ rid, cid, did }) => [
    `pinakes://repositories/${rid}/collections/${cid}/documents/${did}/versions/1/text/0/9`,
  ],
  workflow: ({ wid }) => [`state://workflows/${wid}`],
  checkpoint: ({ wid }) => [`state://workflows/${wid}/checkpoints/1`, `state://workflows/${wid}/checkpoints/latest`],
  session: ({ aid, sid }) => [`state://agents/${aid}/sessions/${sid}`],
  receipt: ({ xid }) => [`state://receipts/${xid}`],
};
/** Of admins, not of every user of the workspace. */
export const adminResources: ReadonlySet<string> = new Set(["receipt"]);
export const stateResources: ReadonlySet<string> = new Set(["workflow", "checkpoint", "session"]);

/** What was filled in before, as a client would have it. */
export function filledOf({ rid, cid, did, wid, aid }: Target): Readonly<Record<string, string>> {
  return { repository: rid, collection: cid, document: did, workflow: wid, agent: aid };
}
