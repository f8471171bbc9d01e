/** Every method of the knowledge feature as an attempt on another user's resources. A missing method fails the suite. */
import { randomUUID } from "node:crypto";
import type { Caller } from "../../../src/domain/caller.ts";
import type { Knowledge } from "../../../src/knowledge/index.ts";
import { body } from "./test-pinakes.ts";

export interface Target {
  readonly repository: string;
  readonly collection: string;
  readonly deleted: string;
  readonly document: string;
  readonly job: string;
  readonly operation: string;
  readonly evaluation: string;
  readonly pipeline: string;
  /** The contents of the quarantine. */
  readonly quarantined: string;
}

type Attempt = (knowledge: Knowledge, caller: Caller, target: Target) => Promise<unknown>;

/** Files are of their user: another user has no id to ask for. */
const unknownFile = "file-00000000000000000000000000000000";

/** Names a repository: refused like a missing one. */
export const onRepository: Readonly<Record<string, Attempt>> = {
  "repositories.get": (k, caller, t) => k.repositories.get(caller, t.repository),
  "repositories.update": (k, caller, t) => k.repositories.update(caller, t.repository, { description: "mine now" }),
  "repositories.delete": (k, caller, t) => k.repositories.delete(caller, t.repository, t.repository),
  "collections.create": (k, caller, t) => k.collections.create(caller, t.repository, { name: "Intruder" }),
  "collections.list of one": (k, caller, t) => k.collections.list(caller, { repositoryId: t.repository }),
  "collections.count of one": (k, caller, t) => k.collections.count(caller, { repositoryId: t.repository }),
  "access.explain to a repository": (k, caller, t) => k.access.explain(caller, t.repository),
};

/** Names a collection, or something in it: refused like a missing one. */
export const onCollection: Readonly<Record<string, Attempt>> = {
  "collections.get": (k, caller, t) => k.collections.get(caller, t.repository, t.collection),
  "collections.get, deleted": (k, caller, t) => k.collections.get(caller, t.repository, t.deleted, { deleted: true }),
  "collections.update": (k, caller, t) =>
    k.collections.update(caller, t.repository, t.collection, { description: "mine now" }),
  "collections.archive": (k, caller, t) => k.collections.archive(caller, t.repository, t.collection),
  "collections.unarchive": (k, caller, t) => k.collections.unarchive(caller, t.repository, t.collection),
  "collections.delete": (k, caller, t) => k.collections.delete(caller, t.repository, t.collection),
  "collections.delete, purge": (k, caller, t) =>
    k.collections.delete(caller, t.repository, t.collection, { purge: true, confirm: t.collection }),
  "collections.restore": (k, caller, t) => k.collections.restore(caller, t.repository, t.deleted),
  "collections.reindex": (k, caller, t) => k.collections.reindex(caller, t.repository, t.collection),
  "documents.upload": (k, caller, t) =>
    k.documents.upload(caller, t.repository, t.collection, { name: "intruder.txt", body: body("x") }),
  "documents.upload, replacing": (k, caller, t) =>
    k.documents.upload(caller, t.repository, t.collection, { name: "secret.txt", replace: true, body: body("x") }),
  "documents.checkUpload": (k, caller, t) => k.documents.checkUpload(caller, t.repository, t.collection),
  "documents.uploadMany": (k, caller, t) =>
    k.documents.uploadMany(caller, t.repository, t.collection, (take) =>
      take({ name: "intruder.txt", body: body("x") }),
    ),
  "documents.setMetadata": (k, caller, t) =>
    k.documents.setMetadata(caller, t.repository, t.collection, t.document, { mine: true }),
  "files.attach": (k, caller, t) => k.files.attach(caller, t.repository, t.collection, { file_id: unknownFile }),
  "files.attached": (k, caller, t) => k.files.attached(caller, t.repository, t.collection, unknownFile),
  "files.listAttached": (k, caller, t) =>
    k.files.listAttached(caller, t.repository, t.collection, { order: "asc", limit: 10 }),
  "files.unattachedCounts": (k, caller, t) => k.files.unattachedCounts(caller, t.repository, t.collection),
  "files.setMetadata": (k, caller, t) => k.files.setMetadata(caller, t.repository, t.collection, unknownFile, {}),
  "files.detach": (k, caller, t) => k.files.detach(caller, t.repository, t.collection, unknownFile),
  "files.attachMany": (k, caller, t) =>
    k.files.attachMany(caller, t.repository, t.collection, [{ file_id: unknownFile }]),
  "files.batch": (k, caller, t) => k.files.batch(caller, t.repository, t.collection, t.job),
  "files.cancelBatch": (k, caller, t) => k.files.cancelBatch(caller, t.repository, t.collection, t.job),
  "files.batchFiles": (k, caller, t) =>
    k.files.batchFiles(caller, t.repository, t.collection, t.job, { order: "asc", limit: 10 }),
  "documents.setAccess": (k, caller, t) =>
    k.documents.setAccess(caller, t.repository, t.collection, t.document, { allowed_users: ["mallory"] }),
  "access.explainDocument": (k, caller, t) => k.access.explainDocument(caller, t.repository, t.collection, t.document),
  "documents.get": (k, caller, t) => k.documents.get(caller, t.repository, t.collection, t.document),
  "documents.list": (k, caller, t) => k.documents.list(caller, t.repository, t.collection),
  "documents.deleteAll": (k, caller, t) => k.documents.deleteAll(caller, t.repository, t.collection, t.collection),
  "documents.delete": (k, caller, t) => k.documents.delete(caller, t.repository, t.collection, t.document),
  "documents.reindex": (k, caller, t) => k.documents.reindex(caller, t.repository, t.collection, t.document),
  "documents.content": (k, caller, t) => k.documents.content(caller, t.repository, t.collection, t.document),
  "documents.versions": (k, caller, t) => k.documents.versions(caller, t.repository, t.collection, t.document),
  "documents.passages": (k, caller, t) => k.documents.passages(caller, t.repository, t.collection, t.document),
  "documents.text": (k, caller, t) => k.documents.text(caller, t.repository, t.collection, t.document, { version: 1 }),
  "documents.triples": (k, caller, t) => k.documents.triples(caller, t.repository, t.collection, t.document),
  "pipelines.create": (k, caller, t) =>
    k.pipelines.create(caller, t.repository, t.collection, { trigger: "schedule", source: "file:/tmp" }),
  "pipelines.list": (k, caller, t) => k.pipelines.list(caller, t.repository, t.collection),
  "pipelines.delete": (k, caller, t) => k.pipelines.delete(caller, t.repository, t.collection, t.pipeline),
  "pipelines.plan": (k, caller, t) => k.pipelines.plan(caller, t.repository, t.collection, t.pipeline),
  "pipelines.run": (k, caller, t) => k.pipelines.run(caller, t.repository, t.collection, t.pipeline),
  "pipelines.notify": (k, caller, t) => k.pipelines.notify(caller, t.repository, t.collection, t.pipeline, {}),
  "search.provenance": (k, caller, t) =>
    k.search.provenance(caller, t.repository, t.collection, { s: "urn:s", p: "urn:p", o: "urn:o" }),
  "search.run of one": (k, caller, t) =>
    k.search.run(caller, { query: "tangerine", collections: [{ repository: t.repository, collection: t.collection }] }),
  "answers.ask of one": (k, caller, t) =>
    k.answers.ask(caller, {
      question: "tangerine",
      collections: [{ repository: t.repository, collection: t.collection }],
    }),
  "answers.begin of one": (k, caller, t) =>
    k.answers.begin(caller, {
      question: "tangerine",
      collections: [{ repository: t.repository, collection: t.collection }],
    }),
  "answers.stream of one": (k, caller, t) =>
    Array.fromAsync(
      k.answers.stream(caller, {
        question: "tangerine",
        collections: [{ repository: t.repository, collection: t.collection }],
      }),
    ),
  "evaluations.create": (k, caller, t) =>
    k.evaluations.create(caller, {
      name: "Intruder",
      collections: [{ repository: t.repository, collection: t.collection }],
      queries: [{ query: "tangerine", relevant: [{ document_id: t.document }] }],
    }),
  "collections.usage": (k, caller, t) => k.collections.usage(caller, t.repository, t.collection),
  "collections.usage, repairing": (k, caller, t) =>
    k.collections.usage(caller, t.repository, t.collection, { repair: true }),
  "access.explain": (k, caller, t) => k.access.explain(caller, t.repository, t.collection),
  "rows.upsert": (k, caller, t) =>
    k.rows.upsert(caller, t.repository, t.collection, { items: [{ id: "x", vector: [1, 2, 3] }] }),
  "rows.delete": (k, caller, t) => k.rows.delete(caller, t.repository, t.collection, { ids: ["x"] }),
  "rows.query": (k, caller, t) => k.rows.query(caller, t.repository, t.collection, { vector: [1, 2, 3] }),
  "rows.manifest": (k, caller, t) => k.rows.manifest(caller, t.repository, t.collection),
  "rows.text": (k, caller, t) => k.rows.text(caller, t.repository, t.collection, "x"),
  "rows.compact": (k, caller, t) => k.rows.compact(caller, t.repository, t.collection),
  "graph.loadTriples": (k, caller, t) =>
    k.graph.loadTriples(caller, t.repository, t.collection, {
      format: "ntriples",
      body: body("<a:b> <a:b> <a:b> .\n"),
    }),
  "graph.addTriples": (k, caller, t) =>
    k.graph.addTriples(caller, t.repository, t.collection, [{ s: "urn:s", p: "urn:p", o: "urn:o" }]),
  "graph.hasGraph": (k, caller, t) => k.graph.hasGraph(caller, t.repository, t.collection, "urn:g"),
  "graph.writeGraph": (k, caller, t) =>
    k.graph.writeGraph(caller, t.repository, t.collection, {
      graph: "urn:g",
      replace: true,
      bodies: (async function* () {})(),
    }),
  "graph.matchTriples": (k, caller, t) =>
    k.graph.matchTriples(caller, t.repository, t.collection, { include_metadata: true }),
  "graph.exportTriples": async (k, caller, t) =>
    Array.fromAsync(await k.graph.exportTriples(caller, t.repository, t.collection, { format: "nquads" })),
  "graph.removeTriples": (k, caller, t) =>
    k.graph.removeTriples(caller, t.repository, t.collection, { confirm: t.collection }),
  "graph.removeTriples, given": (k, caller, t) =>
    k.graph.removeTriples(caller, t.repository, t.collection, {
      triples: [{ s: "a:secret", p: "a:of", o: '"tangerine"' }],
    }),
  "graph.sparql": (k, caller, t) =>
    k.graph.sparql(caller, t.repository, t.collection, { query: "SELECT * { ?s ?p ?o }" }),
  "graph.sparql, update": (k, caller, t) => k.graph.sparql(caller, t.repository, t.collection, { update: "CLEAR ALL" }),
  "graph.matchAcross": (k, caller, t) =>
    k.graph.matchAcross(caller, { collections: [{ repository: t.repository, collection: t.collection }] }),
  "graph.sparqlAcross": (k, caller, t) =>
    k.graph.sparqlAcross(caller, {
      query: "ASK { ?s ?p ?o }",
      collections: [{ repository: t.repository, collection: t.collection }],
    }),
  "grants.upload": (k, caller, t) => k.grants.upload(caller, t.repository, t.collection, { name: "intruder.txt" }),
  "grants.download": (k, caller, t) => k.grants.download(caller, t.repository, t.collection, t.document),
  "operations.get": (k, caller, t) => k.operations.get(caller, t.operation),
  "operations.retry": (k, caller, t) => k.operations.retry(caller, t.operation),
  "collections.restore by incarnation": (k, caller, t) =>
    k.collections.restore(caller, t.repository, t.deleted, { incarnation: t.document }),
  "jobs.get": (k, caller, t) => k.jobs.get(caller, t.job),
  "jobs.retry": (k, caller, t) => k.jobs.retry(caller, t.job),
  "jobs.cancel": (k, caller, t) => k.jobs.cancel(caller, t.job),
  "evaluations.get": (k, caller, t) => k.evaluations.get(caller, t.evaluation),
  "evaluations.questions": (k, caller, t) => k.evaluations.questions(caller, t.evaluation, { limit: 1 }),
  "evaluations.runQuestions": (k, caller, t) => k.evaluations.runQuestions(caller, t.evaluation, t.job),
  "evaluations.delete": (k, caller, t) => k.evaluations.delete(caller, t.evaluation),
  "evaluations.run": (k, caller, t) => k.evaluations.run(caller, t.evaluation),
};

/** Names nothing: answers without a trace of others' resources, or refuses. */
export const onEverything: Readonly<Record<string, Attempt>> = {
  "repositories.list": (k, caller) => k.repositories.list(caller, { limit: 100 }),
  "collections.list": (k, caller) => k.collections.list(caller, { limit: 100, status: "all" }),
  "collections.count": (k, caller) => k.collections.count(caller, { q: "Secret" }),
  "search.run": (k, caller) => k.search.run(caller, { query: "tangerine", explain: true }),
  "answers.ask": (k, caller) => k.answers.ask(caller, { question: "tangerine", include_hits: true }),
  "answers.stream": (k, caller) => Array.fromAsync(k.answers.stream(caller, { question: "tangerine" })),
  "answers.begin": async (k, caller) =>
    Array.fromAsync((await k.answers.begin(caller, { question: "tangerine" })).events()),
  "responses.put": (k, caller) => k.responses.put(caller, `resp_${randomUUID()}`, { mine: true }),
  "responses.get": (k, caller) => k.responses.get(caller, "resp_1"),
  "responses.delete": (k, caller) => k.responses.delete(caller, "resp_1"),
  "operations.list": (k, caller) => k.operations.list(caller, { limit: 100 }),
  "operations.list of one": (k, caller, t) =>
    k.operations.list(caller, { repository: t.repository, collection: t.collection }),
  "collections.list by tag": (k, caller) =>
    k.collections.list(caller, { limit: 100, status: "all", tags: ["secret"], sort: "size" }),
  "files.list": (k, caller) => k.files.list(caller),
  "files.get": (k, caller) => k.files.get(caller, unknownFile),
  "files.content": (k, caller) => k.files.content(caller, unknownFile),
  "files.delete": (k, caller) => k.files.delete(caller, unknownFile),
  "files.addPart": (k, caller) => k.files.addPart(caller, unknownFile, body("x")),
  "files.completeUpload": (k, caller) => k.files.completeUpload(caller, unknownFile, { part_ids: [] }),
  "files.cancelUpload": (k, caller) => k.files.cancelUpload(caller, unknownFile),
  "staging.grant": (k, caller) => k.staging.grant(caller, "tangerine.txt"),
  "staging.find": (k, caller) => k.staging.find(caller, ["tangerine.txt"]),
  "staging.content": (k, caller) => Array.fromAsync(k.staging.content(caller, "tangerine.txt")),
  "pipelines.check": (k, caller) => k.pipelines.check(caller, []),
  "jobs.list of a repository": (k, caller, t) =>
    k.jobs.list(caller, { limit: 100, repository: t.repository, kinds: ["ingest"], since: "2000" }),
  "jobs.list": (k, caller) => k.jobs.list(caller, { limit: 100 }),
  "evaluations.list": (k, caller) => k.evaluations.list(caller, { limit: 100 }),
  queues: (k, caller) => k.queues(caller),
  "queue.summary": (k, caller) => k.queue.summary(caller, (cursor) => k.collections.list(caller, { cursor })),
  "queue.lag": (k, caller) => k.queue.lag(caller, 300),
  "queue.dead": (k, caller) => k.queue.dead(caller, "documents"),
  "queue.redrive": (k, caller, t) => k.queue.redrive(caller, "documents", t.pipeline),
  "queue.discard": (k, caller, t) => k.queue.discard(caller, "documents", t.pipeline),
  "audit.fsck": (k, caller) => k.audit.fsck(caller),
  "audit.findings": (k, caller, t) => k.audit.findings(caller, t.pipeline),
  "quarantine.list": (k, caller) => k.quarantine.list(caller),
  "activity.read": (k, caller) => k.activity.read(caller),
  "transfer.export": (k, caller) => Array.fromAsync(k.transfer.export(caller), ({ path }) => path),
  "search.verifyCitations": (k, caller, t) =>
    k.search.verifyCitations(caller, [
      {
        repository_id: t.repository,
        collection_id: t.collection,
        document_id: t.document,
        version: 1,
        start: 0,
        end: 100,
        quote: "tangerine",
      },
    ]),
};

/** Names a quarantine entry: for admins, and missing for those of other workspaces. */
export const onQuarantine: Readonly<Record<string, Attempt>> = {
  "quarantine.list of one": (k, caller, t) =>
    k.quarantine.list(caller, { repository: t.repository, collection: t.collection }),
  "quarantine.get": (k, caller, t) => k.quarantine.get(caller, t.quarantined),
  "quarantine.restore": (k, caller, t) => k.quarantine.restore(caller, t.quarantined),
  "quarantine.drop": (k, caller, t) => k.quarantine.drop(caller, t.quarantined),
};

/** Touches nobody's resources. */
export const harmless: readonly string[] = [
  "models",
  "trashDays",
  "trashDaysOf",
  "latestEventId",
  "repositories.create",
  "repositories.ensureShared",
  "files.create",
  "files.beginUpload",
  "search.previewChunking",
  "search.embed",
  "answers.models",
  "answers.converse",
  "access.actAs",
  "transfer.import",
  "events",
];
/** Needs a token, which is a credential of its own; or is internal; or only formats an error. */
export const withoutCaller: readonly string[] = [
  "quarantine.sweep",
  "staging.receive",
  "staging.sweep",
  "grants.useUpload",
  "grants.useDownload",
  "activity.add",
  "activity.flush",
  "rows.count",
  "operations.gone",
];
