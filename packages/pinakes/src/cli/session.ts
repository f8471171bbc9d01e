/**
 * The stores of the settings, opened by a command, and the user it acts as. Whoever can read the settings of the stores can read the stores,
 * so the command line specifies the user. A server may use the same stores concurrently.
 */
import { roles } from "@pinakes/client";
import { readConfig, type Config } from "../config.ts";
import type { Caller, CallerInput } from "../domain/caller.ts";
import { AuditRecorder, type RecordedCall } from "../governance/index.ts";
import { readQuotas } from "../knowledge/index.ts";
import { openStores, type Pinakes } from "../open.ts";
import { notFoundIn, placeOf, requireData, type StoreLocation } from "./store-location.ts";
import { rootToken } from "./root-token.ts";
import { UsageError, type Call, type Options } from "./terminal/command.ts";
import { Interrupted } from "./terminal/terminal.ts";

export interface Session {
  readonly pinakes: Pinakes;
  readonly knowledge: Pinakes["knowledge"];
  readonly caller: Caller;
  readonly config: Config;
  readonly place: StoreLocation;
}

/** For commands that act as a user. */
export const actorOptions = {
  workspace: { type: "string", value: "ID", help: "whose data (default)" },
  user: { type: "string", value: "ID", help: "act as this user (root); their own repository is `me`" },
  role: { type: "string", value: "ROLE", help: `${roles.join(", ")} (admin)` },
  groups: { type: "string", value: "a,b", help: "groups of the user (none)" },
} as const satisfies Options;
export type ActorOption = keyof typeof actorOptions;

export interface SessionOptions {
  /** Documents are ingested, and unfinished work of other processes is resumed, in this process. */
  readonly background?: boolean | undefined;
  /** The command stops on its own soon after Ctrl-C; otherwise it is aborted. */
  readonly endsItself?: boolean | undefined;
  /** Acts with the root token, which is created if there is none: to create keys. The options of keys specify their owner, not the caller. */
  readonly root?: boolean | undefined;
  /** It creates data, so it may initialize the data folder; other commands reject an empty one. */
  readonly creates?: boolean | undefined;
}

/** The operation of a command on the stores, for the audit log; `recorded below`: by the interface that it calls. */
export type CommandAudit = Pick<RecordedCall, "action" | "resource" | "verb"> | "reads" | "recorded below";

export async function withStores<T>(
  call: Call<ActorOption>,
  audit: CommandAudit,
  work: (session: Session) => Promise<T>,
  options: SessionOptions = {},
): Promise<T> {
  const who = options.root === true ? { tenant: "default", userId: "root", role: "admin" as const } : actorOf(call);
  const config = readConfig(call.terminal.env);
  if (options.creates !== true) await requireData(config);
  await using pinakes = await openStores(config.stores, {
    background: options.background ?? false,
    ...knowledgeOptions(config),
    // The user of the command line operates the machine.
    migrationSources: "any",
    ...(options.root === true ? { rootToken: rootTokenOf(config) } : {}),
    log: logOf(call),
  });
  const session = {
    pinakes,
    knowledge: pinakes.knowledge,
    caller: pinakes.as(who),
    config,
    place: placeOf(config, who.tenant),
  };
  const done = recorded(session, audit, () => work(session)).catch((error: unknown) => {
    throw options.root === true ? error : notFoundIn(session.place, error);
  });
  return options.endsItself === true ? await done : await untilInterrupted(done, call.terminal.signal);
}

function recorded<T>({ pinakes, caller }: Session, audit: CommandAudit, work: () => Promise<T>): Promise<T> {
  if (audit === "recorded below") return work();
  const auth = pinakes.identity.embedded(caller);
  const named = audit === "reads" ? ({ action: "command", resource: "stores", verb: "none" } as const) : audit;
  const call: RecordedCall = { ...named, face: "cli", auth: () => auth };
  return new AuditRecorder(pinakes.audit).around(call, work, (_, failure) => ({ failure, fields: {} }));
}

/** The settings of the features, as the server and commands open them. */
export function knowledgeOptions(config: Config) {
  return {
    vectors: config.vectors,
    models: config.models,
    chatModels: config.chatModels,
    quotas: readQuotas(config.quotas),
    trashDays: config.trashDays,
    quarantineDays: config.quarantineDays,
    audit: config.audit,
    auditKey: config.auditKey,
    deletionLagSeconds: config.deletionLagSeconds,
    pipelineFolders: config.pipelineFolders,
    pipelineBuckets: config.pipelineBuckets,
    topicPrefix: config.topicPrefix,
    pipelineQueue: config.pipelineQueue,
  };
}

export function actorOf({ given }: Call<ActorOption>): CallerInput {
  return {
    tenant: given.text("workspace") ?? "default",
    userId: given.text("user") ?? "root",
    role: given.oneOf("role", roles) ?? "admin",
    groups: given.list("groups") ?? [],
  };
}

export function rootTokenOf({ stores, rootToken: given }: Config): string {
  return rootToken(stores.data, given).token;
}

export function logOf({ given, terminal }: Call): (line: string) => void {
  return given.has("verbose") ? (line) => terminal.err(`${line}\n`) : () => {};
}

export async function untilInterrupted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const stopped = Promise.withResolvers<never>();
  const stop = () => stopped.reject(new Interrupted("stopped"));
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work, stopped.promise]);
  } catch (error) {
    // The aborted work may already have reported its own error.
    throw signal.aborted ? new Interrupted("stopped", { cause: error }) : error;
  } finally {
    signal.removeEventListener("abort", stop);
    // After Ctrl-C its result is not needed.
    work.catch(() => {});
  }
}

export interface Address {
  readonly repository: string;
  readonly collection: string;
}

/** `kb/papers`, `me/notes`. */
export function readAddress(text: string): Address {
  const [repository, collection, ...more] = text.split("/");
  if (
    repository !== undefined &&
    repository !== "" &&
    collection !== undefined &&
    collection !== "" &&
    more.length === 0
  )
    return { repository, collection };
  throw new UsageError(`"${text}" is not a collection; write repository/collection, such as kb/papers or me/notes.`);
}
