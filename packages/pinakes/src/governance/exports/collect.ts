/**
 * Everything stored about a subject, as files (R-AGT-71): rows by container as JSON lines, then original files and texts. It finds what an
 * erasure would remove, by the same table (erasure/stores.ts), and changes nothing.
 */
import type { JsonObject } from "../../domain/json.ts";
import type { WalkedItem } from "../../ports/item-erasure.ts";
import type { KnowledgeErasure, OwnRow, SubjectObjects } from "../../knowledge/index.ts";
import type { StateErasure } from "../../state/index.ts";
import { OwnRows } from "../erasure/own-rows.ts";
import { findLinks, hitsOf, placesOf, type Hit, type ScanContext, type StorePlace } from "../erasure/scan.ts";
import { mentionsIn } from "./mentions.ts";
import type { ArchiveFile } from "./zip-stream.ts";

/** Rows that say nothing about the subject beyond what other files have, and why. */
export const notIncluded: Readonly<Record<string, string>> = {
  "http-idempotency": "copies of responses to requests",
  "identity-sessions": "sign-in sessions: hashes of cookies",
  "knowledge-grants": "links that expire",
  "held-items": "expired rows that a legal hold keeps",
  queues: "messages in transit",
  "knowledge-work": "background work",
  "vector-work": "background work",
  "state-work": "background work",
  "migrations-work": "background work",
  "subject-exports": "exports like this one",
  "workspace-keys": "keys",
  vectors: "indexes, computed from documents; rows with vectors of callers are in vectors/",
  triples: "graphs: see the export of triples of each collection",
};
/** Credentials, including their hashes, are never exported. */
const secretFields: readonly string[] = ["secret_sha256", "wrapped"];

export interface CollectDependencies {
  readonly objects: SubjectObjects;
  readonly state: StateErasure;
  readonly knowledge: KnowledgeErasure;
}

export interface Collected {
  /** Rows by container. */
  readonly rows: Map<string, { own: number; mentions: number }>;
}

export async function* subjectFiles(
  context: ScanContext,
  deps: CollectDependencies,
  collected: Collected,
): AsyncGenerator<ArchiveFile, void> {
  const places = (await placesOf(context)).filter(({ container }) => !(container in notIncluded));
  await findLinks(context, places);
  for (const place of places) {
    const lines = linesOf(context, place, collected);
    const first = await lines.next();
    if (first.done === true) continue;
    yield { name: `rows/${place.container}.ndjson`, body: joined(first.value, lines) };
  }
  for (const place of places) yield* objectsOf(context, place, deps);
  for await (const { key, rows } of new OwnRows(context, deps.knowledge).each()) {
    const lines = vectorLines(rows, collected);
    const first = await lines.next();
    const name = `vectors/${key.repository_id}/${key.collection_id}/${key.incarnation}.ndjson`;
    if (first.done !== true) yield { name, body: joined(first.value, lines) };
  }
  const { type, id } = context.naming.subject;
  const scope = context.system.forTenant(context.workspace);
  if (type === "user") yield* deps.objects.ofUser(scope, id, "files/");
  if (type === "workspace") yield* deps.objects.ofAllUsers(scope, "files/");
}

async function* linesOf(
  context: ScanContext,
  place: StorePlace,
  { rows }: Collected,
): AsyncGenerator<Uint8Array, void> {
  for await (const hits of pagesOf(context, place)) {
    for (const hit of hits) {
      const line = lineOf(hit, context);
      if (line === undefined) continue;
      const counts = rows.get(place.container) ?? { own: 0, mentions: 0 };
      rows.set(place.container, counts);
      if (line["own"] === true) counts.own += 1;
      else counts.mentions += 1;
      yield Buffer.from(`${JSON.stringify(line)}\n`, "utf8");
    }
  }
}

async function* vectorLines(rows: AsyncIterable<OwnRow>, collected: Collected): AsyncGenerator<Uint8Array, void> {
  for await (const { id, text, metadata, vector } of rows) {
    const { own, mentions } = collected.rows.get("vectors") ?? { own: 0, mentions: 0 };
    collected.rows.set("vectors", { own: own + 1, mentions });
    yield Buffer.from(`${JSON.stringify({ id, text, metadata, vector: [...vector] })}\n`, "utf8");
  }
}

function lineOf({ row, verdict }: Hit, { naming }: ScanContext): JsonObject | undefined {
  const { partition, id, document } = row;
  const place = { partition: [...partition], id, modified_at: new Date(row.modifiedAt).toISOString() } as JsonObject;
  if (verdict.do !== "redact") return { ...place, own: true, document: withoutSecrets(document) };
  const mentions = mentionsIn(document, naming);
  return mentions.length === 0 ? undefined : { ...place, own: false, mentions: mentions as unknown as JsonObject[] };
}

async function* objectsOf(
  context: ScanContext,
  place: StorePlace,
  { objects, state }: CollectDependencies,
): AsyncGenerator<ArchiveFile, void> {
  const scope = context.system.forTenant(context.workspace);
  const seen = new Set<string>();
  for await (const hits of pagesOf(context, place))
    for (const { row, verdict } of hits) {
      if (verdict.do === "redact") continue;
      if (place.container === "documents" && row.document["kind"] === "document") {
        const { repository_id, collection_id, document_id } = row.document as Record<string, string>;
        yield* objects.ofDocument(scope, row.document, `documents/${repository_id}/${collection_id}/${document_id}/`);
      }
      // Large values of a workflow are objects beside its rows.
      if (place.container === "workflow-states") {
        const id = workflowIdOf(row);
        if (!seen.has(id)) yield* objects.under(scope, state.workflowPrefix(id), `workflows/${id}/`);
        seen.add(id);
      }
    }
}

async function* pagesOf(context: ScanContext, place: StorePlace): AsyncGenerator<readonly Hit[], void> {
  for await (const { hits } of hitsOf(context, place)) yield hits.filter(({ row }) => !row.expired);
}

function workflowIdOf({ partition }: WalkedItem): string {
  const [id] = partition;
  return typeof id === "string" ? id : JSON.stringify(id);
}

function withoutSecrets(document: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(document).filter(([name]) => !secretFields.includes(name)));
}

async function* joined(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  yield first;
  yield* rest;
}
