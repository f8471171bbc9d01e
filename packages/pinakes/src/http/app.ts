/** The HTTP interface: every route there is, mounted. A route only translates; what it answers comes from `Pinakes`. */
import { Hono } from "hono";
import { AuditRecorder } from "../governance/index.ts";
import { connectionDefaults, type ConnectionLimits } from "../config-connections.ts";
import type { Pinakes } from "../open.ts";
import type { Clock } from "../ports/clock.ts";
import { apiInfo } from "./api-info.ts";
import {
  createLogger,
  EventStreams,
  mount,
  mountReference,
  openIdempotencyStore,
  RateLimiter,
  type Credentials,
  type KitEnv,
  type Logger,
  type Route,
} from "./framework/index.ts";
import { mountConsole } from "./console.ts";
import { mountMcp } from "./mcp/mount.ts";
import type { McpExtension } from "../mcp/index.ts";
import { accessRoutes } from "./api/access.ts";
import { answerRoutes } from "./api/answers.ts";
import { auditRoutes } from "./api/audit.ts";
import { alarmRoutes } from "./api/alarms.ts";
import { containerRoutes } from "./api/containers.ts";
import { collectionRoutes } from "./api/collections.ts";
import { documentRoutes } from "./api/documents.ts";
import { evaluationRoutes } from "./api/evaluations.ts";
import { fsckRoutes } from "./api/fsck.ts";
import { identityRoutes } from "./api/identity.ts";
import { jobRoutes } from "./api/jobs.ts";
import { catalogRoutes } from "./facades/catalogs/routes.ts";
import { lisaErrorBody, lisaPrefixes, lisaRoutes } from "./facades/lisa/routes.ts";
import {
  Gateway,
  managementRoutes,
  mountKeyInPath,
  storageManagementRoutes,
  trustGraphErrorBody,
  trustGraphRoutes,
  TrustGraphSockets,
} from "./facades/trustgraph/index.ts";
import { mountCosmos } from "./facades/cosmos/mount.ts";
import { errorBody, openAiPrefix, openAiRoutes } from "./facades/openai/routes.ts";
import { governanceRoutes } from "./api/governance.ts";
import { subjectExportRoutes } from "./api/subject-exports.ts";
import { retentionRoutes } from "./api/retention.ts";
import { memoryRoutes } from "./api/memories.ts";
import { metricRoutes } from "./api/metrics.ts";
import { migrationRoutes } from "./api/migrations.ts";
import { queueAndFigureRoutes } from "./api/queues.ts";
import { quarantineRoutes } from "./api/quarantine.ts";
import { operationRoutes } from "./api/operations.ts";
import { pipelineRoutes } from "./api/pipelines.ts";
import { provenanceRoutes } from "./api/provenance.ts";
import { repositoryRoutes } from "./api/repositories.ts";
import { searchRoutes } from "./api/search.ts";
import { answeringSessions } from "./session-token.ts";
import { sparqlRoutes } from "./api/sparql.ts";
import { systemRoutes } from "./api/system.ts";
import { telemetryRoutes } from "./api/telemetry.ts";
import { threadRoutes } from "./api/threads.ts";
import { toolRoutes } from "./api/tools.ts";
import { transferRoutes } from "./api/transfer.ts";
import { graphStoreRoutes } from "./api/graph-store.ts";
import { tripleRoutes } from "./api/triples.ts";
import { vectorRoutes } from "./api/vectors.ts";
import { workflowRoutes } from "./api/workflows.ts";

export interface AppOptions {
  /** Structured log lines; none when absent. */
  readonly log?: Logger | undefined;
  /** Aborted when the server begins to close, so that event streams end. */
  readonly closing?: AbortSignal | undefined;
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Requests of one user in a second; twice as many at once. 1,000 when absent. */
  readonly requestsPerSecond?: number | undefined;
  /** How many event streams there may be; the defaults when absent. */
  readonly connections?: Pick<ConnectionLimits, "eventStreamsMax" | "eventStreamsPerUserMax"> | undefined;
  /** Another one than that makes, failed attempts to sign in included; for tests. */
  readonly limiter?: RateLimiter | undefined;
  /** Where the web page was built; none at `/` when absent. */
  readonly console?: string | undefined;
  /** Checks each answer against what its route declares; for tests. */
  readonly checkAnswers?: boolean | undefined;
  /** The address under which clients reach the server, such as https://pinakes.example.com; from each request when absent. */
  readonly publicUrl?: string | undefined;
  /** Of what counts time here; the system's when absent. For tests. */
  readonly clock?: Clock | undefined;
  /** More MCP tools, prompts and resources; for tests. */
  readonly mcp?: McpExtension | undefined;
}

const requestsPerSecondDefault = 1_000;

export async function createApp(pinakes: Pinakes, options: AppOptions = {}): Promise<Hono<KitEnv>> {
  return (await createHttp(pinakes, options)).app;
}

/** The app, and what answers requests for sockets. */
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
      { prefix: openAiPrefix, errorBody },
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

/** Also what the leak suite walks: a route that is not here does not exist. */
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
