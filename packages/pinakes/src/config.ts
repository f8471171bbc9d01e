/**
 * Settings, read and validated once at the start. An invalid one stops the start with a message that says what to write instead;
 * all later code relies on them.
 *
 *   PINAKES_HOST      127.0.0.1
 *   PINAKES_PORT      7430                     0: any free port
 *   PINAKES_DATA      ./data                   where embedded stores keep their files
 *   PINAKES_DATABASE  pinakes
 *   PINAKES_ITEMS     sqlite:<PINAKES_DATA>    sqlite:./folder | postgres://… | dynamodb://region/prefix[?endpoint=http://…] | memory:
 *   PINAKES_OBJECTS   file:<PINAKES_DATA>/objects                 file:./folder | s3://bucket/prefix[?region=…&endpoint=http://…] | memory:
 *                                              required with postgres and dynamodb, whose other machines cannot see the default folder
 *   PINAKES_MASTER_KEY_FILE         none       a file with the master key: objects are encrypted (docs/operations.md)
 *   PINAKES_QUEUE     items                    items: in the item store | sqs://region/prefix[?endpoint=http://…]
 *   PINAKES_VECTOR_RETENTION_DAYS   7          how long earlier versions of vector collections can be read and restored
 *   PINAKES_DROP_BOXES              none       tenant[:collection],… whose producers drop deltas into the bucket
 *   PINAKES_VECTOR_MEMORY_MB        a quarter of the machine's        for opened vector files
 *   PINAKES_ROOT_TOKEN              generated, stored in PINAKES_DATA  the key of the workspace default's admin
 *   PINAKES_AUDIT                   changes                           what the audit log records: off, changes, reads (also of documents)
 *   PINAKES_AUDIT_KEY               generated, stored in PINAKES_DATA  what signs its checkpoints: 32 bytes in base64
 *   PINAKES_MODELS                  the local model                   JSON: embedding models, the default first (docs/reference.md)
 *   PINAKES_CHAT_MODELS             none                              JSON: chat models for answers and graphs (docs/reference.md)
 *   PINAKES_OIDC                    none                              JSON: issuers whose tokens are accepted (docs/reference.md)
 *   PINAKES_QUOTAS                  the defaults                      JSON: limits that differ, such as {"fileBytesMax":104857600}
 *   PINAKES_TRASH_DAYS              90                                how long deleted collections can be restored; 0: not at all
 *   PINAKES_QUARANTINE_DAYS         30                                how long what fsck --repair removed can be restored
 *   PINAKES_DELETION_LAG_SECONDS    300                               deletes that take longer cause a warning
 *   PINAKES_TOPIC_PREFIX            none                              prefix of the lifecycle's queue names
 *   PINAKES_PIPELINE_FOLDERS        none                              folders that pipelines may read, separated by ","
 *   PINAKES_PIPELINE_BUCKETS        none                              s3://bucket[/prefix][?region=…&endpoint=…],… that pipelines may read
 *   PINAKES_PIPELINE_QUEUE          none                              the SQS queue for S3's event notifications
 *   PINAKES_MIGRATION_SOURCES       none                              folders and addresses that migrations may read, separated by ","
 *   PINAKES_ALLOWED_ORIGINS         none                              origins of other sites' pages that may call, separated by ","
 *   PINAKES_PUBLIC_URL              of each request                   the origin under which clients reach the server behind a proxy
 *   PINAKES_REQUESTS_PER_SECOND     1000                              of one user; bursts of twice as many
 *   PINAKES_CONNECTIONS_MAX and others: limits of connections (config-connections.ts)
 *   PINAKES_LOG_LEVEL               info                              debug | info | warn | error | silent: of request logs
 */
import { connectionSettings, readConnectionLimits, type ConnectionLimits } from "./config-connections.ts";
import { PinakesError, invalid } from "./domain/errors.ts";
import { nearestWord } from "./domain/nearest-word.ts";
import { type StoresConfig, parseStores } from "./config-stores.ts";

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly stores: StoresConfig;
  readonly vectors: VectorsConfig;
  readonly dropBoxes: readonly { readonly tenant: string; readonly collection?: string }[];
  readonly rootToken: string | undefined;
  readonly audit: "off" | "changes" | "reads";
  readonly auditKey: string | undefined;
  /** Validated when they are opened. */
  readonly models: unknown;
  readonly chatModels: unknown;
  readonly oidc: unknown;
  readonly quotas: unknown;
  readonly trashDays: number;
  readonly quarantineDays: number;
  readonly deletionLagSeconds: number;
  /** Validated when it is used. */
  readonly topicPrefix: string | undefined;
  readonly pipelineFolders: readonly string[];
  readonly pipelineBuckets: readonly string[];
  readonly pipelineQueue: string | undefined;
  readonly migrationSources: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly publicUrl: string | undefined;
  readonly requestsPerSecond: number;
  readonly connections: ConnectionLimits;
  readonly logLevel: LogLevel;
}

const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

export interface VectorsConfig {
  readonly policy?: { readonly retentionMs: number };
  readonly memoryBytesMax?: number;
}

const names = {
  host: "PINAKES_HOST",
  port: "PINAKES_PORT",
  dir: "PINAKES_DATA",
  database: "PINAKES_DATABASE",
  items: "PINAKES_ITEMS",
  objects: "PINAKES_OBJECTS",
  queue: "PINAKES_QUEUE",
  masterKeyFile: "PINAKES_MASTER_KEY_FILE",
  retention: "PINAKES_VECTOR_RETENTION_DAYS",
  memory: "PINAKES_VECTOR_MEMORY_MB",
  dropBoxes: "PINAKES_DROP_BOXES",
  rootToken: "PINAKES_ROOT_TOKEN",
  audit: "PINAKES_AUDIT",
  auditKey: "PINAKES_AUDIT_KEY",
  models: "PINAKES_MODELS",
  chatModels: "PINAKES_CHAT_MODELS",
  oidc: "PINAKES_OIDC",
  quotas: "PINAKES_QUOTAS",
  trashDays: "PINAKES_TRASH_DAYS",
  quarantineDays: "PINAKES_QUARANTINE_DAYS",
  deletionLagSeconds: "PINAKES_DELETION_LAG_SECONDS",
  topicPrefix: "PINAKES_TOPIC_PREFIX",
  pipelineFolders: "PINAKES_PIPELINE_FOLDERS",
  pipelineBuckets: "PINAKES_PIPELINE_BUCKETS",
  pipelineQueue: "PINAKES_PIPELINE_QUEUE",
  migrationSources: "PINAKES_MIGRATION_SOURCES",
  allowedOrigins: "PINAKES_ALLOWED_ORIGINS",
  publicUrl: "PINAKES_PUBLIC_URL",
  requestsPerSecond: "PINAKES_REQUESTS_PER_SECOND",
  logLevel: "PINAKES_LOG_LEVEL",
} as const;

export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  refuseUnknown(env);
  // An empty variable is an unset one: compose files and CI write them so.
  const value = (name: string) => (env[name] === "" ? undefined : env[name]);
  return {
    host: value(names.host) ?? "127.0.0.1",
    port: parsePort(ownPort(value(names.port)) ?? "7430"),
    stores: parseStores(
      {
        dir: value(names.dir),
        database: value(names.database),
        items: value(names.items),
        objects: value(names.objects),
        queue: value(names.queue),
        masterKeyFile: value(names.masterKeyFile),
      },
      names,
    ),
    vectors: parseVectors(value(names.retention), value(names.memory)),
    dropBoxes: parseDropBoxes(value(names.dropBoxes)),
    rootToken: value(names.rootToken),
    audit: parseAudit(value(names.audit)),
    auditKey: value(names.auditKey),
    models: parseJson(value(names.models), names.models),
    chatModels: parseJson(value(names.chatModels), names.chatModels),
    oidc: parseJson(value(names.oidc), names.oidc),
    quotas: parseJson(value(names.quotas), names.quotas),
    trashDays: wholeNumber(value(names.trashDays) ?? "90", names.trashDays, 0, 36_500),
    quarantineDays: wholeNumber(value(names.quarantineDays) ?? "30", names.quarantineDays, 1, 3_650),
    deletionLagSeconds: wholeNumber(value(names.deletionLagSeconds) ?? "300", names.deletionLagSeconds, 1, 604_800),
    topicPrefix: value(names.topicPrefix),
    pipelineFolders: listOf(value(names.pipelineFolders)),
    pipelineBuckets: listOf(value(names.pipelineBuckets)),
    pipelineQueue: value(names.pipelineQueue),
    migrationSources: listOf(value(names.migrationSources)),
    allowedOrigins: parseOrigins(value(names.allowedOrigins)),
    publicUrl: parsePublicUrl(value(names.publicUrl)),
    requestsPerSecond: wholeNumber(value(names.requestsPerSecond) ?? "1000", names.requestsPerSecond, 1, 1_000_000),
    connections: readConnectionLimits(value),
    logLevel: parseLogLevel(value(names.logLevel) ?? "info"),
  };
}

function parseJson(text: string | undefined, name: string): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw invalid(`${name}: is not JSON (${error instanceof Error ? error.message : String(error)}).`, {
      cause: error,
    });
  }
}

function listOf(text: string | undefined): readonly string[] {
  return (text ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function parseOrigins(text: string | undefined): readonly string[] {
  return listOf(text).map((part) => {
    const origin = URL.canParse(part) ? new URL(part).origin : undefined;
    if (origin !== part)
      throw invalid(
        `${names.allowedOrigins}: must be origins such as https://app.example.com, joined by ",", got ${JSON.stringify(part)}.`,
      );
    return part;
  });
}

function parsePublicUrl(text: string | undefined): string | undefined {
  const url = text === undefined ? undefined : URL.parse(text);
  if (url === undefined) return undefined;
  if (url === null || !["http:", "https:"].includes(url.protocol) || url.origin !== text)
    throw invalid(
      `${names.publicUrl}: must be an origin without a path, such as https://pinakes.example.com, got ${JSON.stringify(text)}.`,
    );
  return url.origin;
}

const auditModes = ["off", "changes", "reads"] as const;

function parseAudit(text: string = "changes"): Config["audit"] {
  const mode = auditModes.find((one) => one === text);
  if (mode === undefined)
    throw invalid(`${names.audit}: must be one of ${auditModes.join(", ")}, got ${JSON.stringify(text)}.`);
  return mode;
}

function parseLogLevel(text: string): LogLevel {
  const level = logLevels.find((one) => one === text);
  if (level === undefined)
    throw invalid(`${names.logLevel}: must be one of ${logLevels.join(", ")}, got ${JSON.stringify(text)}.`);
  return level;
}

function parseVectors(retention: string | undefined, memory: string | undefined): VectorsConfig {
  return {
    ...(retention === undefined
      ? {}
      : { policy: { retentionMs: wholeNumber(retention, names.retention, 1, 3_650) * 86_400_000 } }),
    ...(memory === undefined ? {} : { memoryBytesMax: wholeNumber(memory, names.memory, 16, 1_048_576) * 1024 ** 2 }),
  };
}

function parseDropBoxes(text: string | undefined): Config["dropBoxes"] {
  return (text ?? "")
    .split(",")
    .filter((part) => part.trim() !== "")
    .map((part) => {
      const match = /^([A-Za-z0-9._-]{1,128})(?::([A-Za-z0-9._-]{1,128}(?:\/[A-Za-z0-9._-]{1,128})?))?$/.exec(
        part.trim(),
      );
      if (match === null)
        throw invalid(
          `${names.dropBoxes}: must be tenant or tenant:collection (or tenant:repository/collection), several joined by ",", got ${JSON.stringify(part)}.`,
        );
      return { tenant: match[1] as string, ...(match[2] === undefined ? {} : { collection: match[2] }) };
    });
}

function wholeNumber(text: string, name: string, least: number, most: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most))
    throw invalid(`${name}: must be a whole number from ${least} to ${most}, got ${JSON.stringify(text)}.`);
  return value;
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw invalid(`${names.port}: a number from 0 (any free port) to 65535, got ${JSON.stringify(text)}.`);
}

/** For client commands, which may run next to the server and share its environment. */
const clientNames: readonly string[] = ["PINAKES_URL", "PINAKES_KEY", "PINAKES_API_KEY"];
/** Variables that Kubernetes and Docker create for services called pinakes, or pinakes-something. */
const injectedNames =
  /^PINAKES_(?:[A-Z0-9_]+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;

function isForeign(name: string): boolean {
  return clientNames.includes(name) || injectedNames.test(name);
}

/** Kubernetes writes PINAKES_PORT=tcp://10.0.0.1:7430 for a service called pinakes: the address of the service, not the port to listen on. */
function ownPort(text: string | undefined): string | undefined {
  return text !== undefined && /^(?:tcp|udp|sctp):\/\//.test(text) ? undefined : text;
}

function refuseUnknown(env: Readonly<Record<string, string | undefined>>): void {
  const known: readonly string[] = [...Object.values(names), ...connectionSettings];
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith("PINAKES_") && !known.includes(name) && !isForeign(name),
  );
  if (unknown.length === 0) return;
  const hints = unknown.map((name) => `${name} (did you mean ${nearestWord(name, known)}?)`);
  throw new PinakesError("INVALID", `Unknown setting: ${hints.join(", ")}. Known are ${known.join(", ")}.`);
}
