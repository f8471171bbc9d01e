/** The HTTP interface: all routes, mounted. A route only translates; its responses come from `Pinakes`. */
import { Hono } from "hono";
import { connectionDefaults, type ConnectionLimits } from "../config-connections.ts";
import { AuditRecorder } from "../governance/index.ts";
import type { McpExtension } from "../mcp/index.ts";
import type { Pinakes } from "../open.ts";
import type { Clock } from "../ports/clock.ts";
import { accessRoutes } from "./api/access.ts";
import { alarmRoutes } from "./api/alarms.ts";
import { answerRoutes } from "./api/answers.ts";
import { auditRoutes } from "./api/audit.ts";
import { collectionRoutes } from "./api/collections.ts";
import { containerRoutes } from "./api/containers.ts";
import { documentRoutes } from "./api/documents.ts";
import { evaluationRoutes } from "./api/evaluations.ts";
import { fsckRoutes } from "./api/fsck.ts";
import { governanceRoutes } from "./api/governance.ts";
import { graphStoreRoutes } from "./api/graph-store.ts";
import { identityRoutes } from "./api/identity.ts";
import { jobRoutes } from "./api/jobs.ts";
import { memoryRoutes } from "./api/memories.ts";
import { metricRoutes } from "./api/metrics.ts";
import { migrationRoutes } from "./api/migrations.ts";
import { operationRoutes } from "./api/operations.ts";
import { pipelineRoutes } from "./api/pipelines.ts";
import { provenanceRoutes } from "./api/provenance.ts";
import { quarantineRoutes } from "./api/quarantine.ts";
import { queueAndFigureRoutes } from "./api/queues.ts";
import { repositoryRoutes } from "./api/repositories.ts";
import { searchRoutes } from "./api/search.ts";
import { sparqlRoutes } from "./api/sparql.ts";
import { retentionRoutes } from "./api/retention.ts";
import { subjectExportRoutes } from "./api/subject-exports.ts";
import { systemRoutes } from "./api/system.ts";
import { telemetryRoutes } from "./api/telemetry.ts";
import { threadRoutes } from "./api/threads.ts";
import { toolRoutes } from "./api/tools.ts";
import { transferRoutes } from "./api/transfer.ts";
import { tripleRoutes } from "./api/triples.ts";
import { vectorRoutes } from "./api/vectors.ts";
import { workflowRoutes } from "./api/workflows.ts";
import { mountConsole } from "./console.ts";
import { catalogRoutes } from "./facades/catalogs/routes.ts";
import { mountCosmos } from "./facades/cosmos/mount.ts";
import { lisaErrorBody, lisaPrefixes, lisaRoutes } from "./facades/lisa/routes.ts";
import { errorBody, openAiPrefix, openAiRoutes } from "./facades/openai/routes.ts";
import {
  Gateway,
  managementRoutes,
  mountKeyInPath,
  storageManagementRoutes,
  trustGraphErrorBody,
  trustGraphRoutes,
  TrustGraphSockets,
} from "./facades/trustgraph/index.ts";
import type { ApiInfo } from "./framework/docs/openapi.ts";
import {
  createLogger,
  type Credentials,
  EventStreams,
  type KitEnv,
  type Logger,
  mount,
  mountReference,
  openIdempotencyStore,
  RateLimiter,
  type Route,
} from "./framework/index.ts";
import { mountMcp } from "./mcp/mount.ts";
import { answeringSessions } from "./session-token.ts";

export interface AppOptions {
  /** Structured log lines; default: none. */
  readonly log?: Logger | undefined;
  /** Aborted when the server starts to close, so that event streams end. */
  readonly closing?: AbortSignal | undefined;
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Requests per second and user; bursts of twice as many. Default 1,000. */
  readonly requestsPerSecond?: number | undefined;
  /** Limits of open event streams. */
  readonly connections?: Pick<ConnectionLimits, "eventStreamsMax" | "eventStreamsPerUserMax"> | undefined;
  /** Replaces that limiter, including failed sign-ins; for tests. */
  readonly limiter?: RateLimiter | undefined;
  /** Folder of the built console; if absent, nothing is served at `/`. */
  readonly console?: string | undefined;
  /** Validates each response against the route's declaration; for tests. */
  readonly checkAnswers?: boolean | undefined;
  /** The address under which clients reach the server, such as https://pinakes.example.com; default: that of each request. */
  readonly publicUrl?: string | undefined;
  /** The clock for timeouts here; default: the system's. For tests. */
  readonly clock?: Clock | undefined;
  /** Additional MCP tools, prompts and resources; for tests. */
  readonly mcp?: McpExtension | undefined;
}

const requestsPerSecondDefault = 1_000;

export async function createApp(pinakes: Pinakes, options: AppOptions = {}): Promise<Hono<KitEnv>> {
  return (await createHttp(pinakes, options)).app;
}

/** The app, and the handler of socket upgrades. */
export async function createHttp(
  pinakes: Pinakes,
  options: AppOptions = {},
): Promise<{ readonly app: Hono<KitEnv>; readonly sockets: TrustGraphSockets }> {
  const { log, closing, allowedOrigins, requestsPerSecond = requestsPerSecondDefault, checkAnswers = false } = options;
  const limiter =
    options.limiter ?? new RateLimiter({ caller: { perSecond: requestsPerSecond, burst: requestsPerSecond * 2 } });
  const around = answeringSessions(pinakes);
  const recorder = new AuditRecorder(pinakes.audit);
  const app = new Hono<KitEnv>();
  const streams = new EventStreams(options.connections ?? connectionDefaults);
  const gateway = new Gateway(pinakes);
  const routes = allRoutes(pinakes, gateway);
  mountKeyInPath(app);
  const authenticate = (credentials: Credentials) => pinakes.identity.authenticate(credentials);
  mount(app, routes, {
    authenticate,
    limiter,
    streams,
    idempotency: await openIdempotencyStore(pinakes.items),
    checkAnswers,
    facades: [
      {
        prefix: openAiPrefix,
        errorBody,
        notFound: (place) => `${place} is not supported here. GET /docs shows what is, under "openai".`,
      },
      ...lisaPrefixes.map((prefix) => ({ prefix, errorBody: lisaErrorBody })),
      { prefix: "/api/v1", errorBody: trustGraphErrorBody },
    ],
    around,
    audit: recorder,
    log,
    closing,
    allowedOrigins,
  });
  const { version } = pinakes.info();
  mountReference(app, routes, apiInfo(version));
  await mountMcp(app, pinakes, {
    limiter,
    streams,
    allowedOrigins: allowedOrigins ?? [],
    publicUrl: options.publicUrl,
    extend: options.mcp,
    log: log ?? createLogger({ level: "silent" }),
    closing: closing ?? new AbortController().signal,
  });
  mountCosmos(app, pinakes, {
    limiter,
    publicUrl: options.publicUrl,
    log: log ?? createLogger({ level: "silent" }),
    clock: options.clock,
  });
  if (options.console !== undefined) mountConsole(app, options.console, routes);
  const socketLog = log ?? createLogger({ level: "silent" });
  return { app, sockets: new TrustGraphSockets({ gateway, authenticate, limiter, log: socketLog, recorder }) };
}

/** The leak suite uses this list, too: a route that is not in it does not exist. */
export function allRoutes(pinakes: Pinakes, gateway = new Gateway(pinakes)): readonly Route[] {
  const { knowledge, state, identity, migrations } = pinakes;
  return [
    ...repositoryRoutes(knowledge),
    ...collectionRoutes(knowledge),
    ...managementRoutes(pinakes),
    ...trustGraphRoutes(gateway),
    ...storageManagementRoutes(pinakes),
    ...catalogRoutes(pinakes),
    ...documentRoutes(knowledge),
    ...transferRoutes(knowledge),
    ...searchRoutes(knowledge),
    ...answerRoutes(knowledge),
    ...vectorRoutes(knowledge),
    ...tripleRoutes(knowledge),
    ...provenanceRoutes(knowledge),
    ...sparqlRoutes(knowledge),
    ...graphStoreRoutes(knowledge),
    ...pipelineRoutes(knowledge),
    ...evaluationRoutes(knowledge),
    ...migrationRoutes(migrations),
    ...workflowRoutes(state, identity),
    ...memoryRoutes(state),
    ...threadRoutes(state),
    ...metricRoutes(state),
    ...toolRoutes(state),
    ...telemetryRoutes(state),
    ...containerRoutes(state, identity),
    ...jobRoutes(knowledge, identity),
    ...operationRoutes(knowledge),
    ...fsckRoutes(knowledge),
    ...quarantineRoutes(knowledge),
    ...governanceRoutes(pinakes.governance),
    ...subjectExportRoutes(pinakes.governance),
    ...retentionRoutes(pinakes.governance),
    ...queueAndFigureRoutes(pinakes),
    ...alarmRoutes(pinakes),
    ...auditRoutes(pinakes.audit),
    ...accessRoutes(knowledge),
    ...identityRoutes(identity),
    ...openAiRoutes(pinakes),
    ...lisaRoutes(pinakes),
    ...systemRoutes(pinakes),
  ];
}

// What the OpenAPI document and the reference page say about the interface as a whole.

/** In the order in which the reference shows them. */
const tags: NonNullable<ApiInfo["tags"]> = [
  { name: "repositories", description: "Groups of collections that share a model, settings and access." },
  {
    name: "collections",
    description: "Documents, vectors and triples under one access decision, one retention and one deletion.",
  },
  {
    name: "catalogs",
    description: "A user's own catalogs as the knowledge-base agent has them; the same tools as over MCP.",
  },
  { name: "documents", description: "Upload, read, re-index and delete files; their text, chunks and versions." },
  { name: "search", description: "Hybrid, vector, keyword and graph search with citations that can be verified." },
  { name: "vectors", description: "Vectors of callers that embed texts themselves." },
  { name: "graph", description: "Triples of RDF and SPARQL 1.1." },
  { name: "pipelines", description: "Folders and buckets whose files are ingested on a schedule or on events." },
  { name: "transfer", description: "Single-use upload grants and expiring download links." },
  { name: "quality", description: "Evaluation of retrieval on judged questions." },
  { name: "jobs", description: "Long-running work, operations on all stores, and events." },
  { name: "access", description: "Who may do what, and why." },
  { name: "identity", description: "API keys, browser sessions and the caller." },
  { name: "workflows", description: "Runs of agents with checkpoints, leases and fencing tokens." },
  { name: "memories", description: "Messages of sessions, context windows and semantic search over them." },
  { name: "threads", description: "Conversation threads and agent entities." },
  { name: "metrics", description: "Metrics of agents with exact aggregates." },
  { name: "tools", description: "The log of tool invocations, redacted and hash-chained." },
  { name: "telemetry", description: "OpenTelemetry traces, metrics and logs (OTLP)." },
  { name: "containers", description: "Containers of your own: items, batches, SQL queries and change feeds." },
  { name: "migrations", description: "Move data in from other systems and between engines." },
  { name: "openai", description: "Files, vector stores, embeddings and conversations for clients of the OpenAI API." },
  {
    name: "lisa",
    description: "Repositories, collections, documents and searches for clients of LISA, at the server's root.",
  },
  {
    name: "trustgraph",
    description: "Collections, documents, triples and embeddings for clients of TrustGraph, at `/api/v1`.",
  },
  { name: "governance", description: "Erasures with signed receipts, and legal holds." },
  { name: "audit", description: "Who did what, in a log that proves itself." },
  { name: "operation", description: "Queues, consistency checks and figures for operators." },
  { name: "system", description: "Health, readiness and information about the server." },
];

function apiInfo(version: string): ApiInfo {
  return {
    title: "Pinakes",
    version,
    description: "The data plane of AI agents: what they know and what they did.",
    tags,
  };
}
