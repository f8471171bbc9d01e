/**
 * Gives a command the client's interface to: a server by its address (--url), the server that runs on the data folder, or the
 * stores themselves. A command is written once and is independent of which of them responds.
 */
import {
  httpApi,
  httpKnowledge,
  type HttpOptions,
  type KnowledgeApi,
  type StateApi,
  PinakesClientError,
} from "@pinakes/client";
import { readConfig } from "../config.ts";
import { embeddedKnowledge } from "../embedded-knowledge.ts";
import { AuditRecorder, auditedKnowledge, auditedState } from "../governance/index.ts";
import type { LocalActor } from "../identity/index.ts";
import { UsageError, type Call } from "./terminal/command.ts";
import { notFoundIn, placeOf, type StoreLocation } from "./store-location.ts";
import { errorCodes, PinakesError, type ErrorCode } from "../domain/errors.ts";
import { findServer } from "./server-file.ts";
import {
  actorOf,
  actorOptions,
  logOf,
  rootTokenOf,
  untilInterrupted,
  withStores,
  type ActorOption,
  type Session,
  type SessionOptions,
} from "./session.ts";

export interface ClientSession {
  readonly knowledge: KnowledgeApi;
  readonly state: StateApi;
  readonly place: StoreLocation;
}

/** Longer than the longest search or SPARQL timeout: the server enforces those itself. */
const requestMsMax = 600_000;

export async function withClient<T>(
  call: Call<ActorOption>,
  work: (session: ClientSession) => Promise<T>,
  options: SessionOptions = {},
): Promise<T> {
  const remote = remoteOf(call);
  if (remote !== undefined) {
    refuseActor(call, options);
    return asked(call, work, options, remote, { store: remote.url });
  }
  const config = readConfig(call.terminal.env);
  const server = await findServer(config.stores, logOf(call));
  if (server === undefined)
    return withStores(call, "recorded below", async (session) => work(await embedded(session, options)), options);
  const actor: LocalActor = options.root === true ? { root: true } : { caller: actorOf(call) };
  const place = options.root === true ? { store: server.url } : placeOf(config, actorOf(call).tenant);
  return asked(call, work, options, { url: server.url, apiKey: () => server.key(actor) }, place);
}

async function embedded({ pinakes, caller, config, place }: Session, { root }: SessionOptions): Promise<ClientSession> {
  const auth =
    root === true ? await pinakes.identity.authenticate({ bearer: rootTokenOf(config), safeMethod: false }) : undefined;
  const known = auth ?? pinakes.identity.embedded(caller);
  const recorder = new AuditRecorder(pinakes.audit);
  const who = { auth: () => known, face: "cli" } as const;
  return {
    knowledge: auditedKnowledge(embeddedKnowledge(pinakes, caller, auth), recorder, who),
    state: auditedState(pinakes.state.as(caller), recorder, who),
    place,
  };
}

async function asked<T>(
  call: Call,
  work: (session: ClientSession) => Promise<T>,
  options: SessionOptions,
  http: HttpOptions,
  place: StoreLocation,
): Promise<T> {
  const connection = { timeoutMs: requestMsMax, ...http };
  const session = {
    knowledge: engineErrors(httpKnowledge(connection)),
    state: engineErrors(httpApi(connection)),
    place,
  };
  const done = work(session).catch((error: unknown) => {
    throw options.root === true ? error : notFoundIn(place, error);
  });
  return options.endsItself === true ? await done : await untilInterrupted(done, call.terminal.signal);
}

/** The server given by options or environment variables. */
export function remoteOf({ given, terminal: { env } }: Call): HttpOptions | undefined {
  const key = given.text("key") ?? setting(env["PINAKES_KEY"]) ?? setting(env["PINAKES_API_KEY"]);
  const url = given.text("url") ?? setting(env["PINAKES_URL"]);
  if (url !== undefined) return { url, apiKey: key };
  if (given.text("key") !== undefined)
    throw new UsageError("--key: say which server it is for, with --url or PINAKES_URL.");
  return undefined;
}

function setting(text: string | undefined): string | undefined {
  return text === undefined || text === "" ? undefined : text;
}

/** Options of `keys` with the same names specify the key's owner, not the caller. */
function refuseActor({ given }: Call<ActorOption>, { root }: SessionOptions): void {
  if (root === true) return;
  const said = (Object.keys(actorOptions) as ActorOption[]).find((name) => given.text(name) !== undefined);
  if (said !== undefined)
    throw new UsageError(`--${said}: only for the stores of this machine; at a server the key determines the user.`);
}

/**
 * Converts a server's errors to those of the stores, so that a command handles one kind. An API over HTTP whose calls throw
 * PinakesError.
 */
function engineErrors<Api extends object>(api: Api): Api {
  return Object.fromEntries(
    Object.entries(api).map(([name, group]) => [name, guardedGroup(group as Group)]),
  ) as unknown as Api;
}

type Group = Readonly<Record<string, (...args: unknown[]) => unknown>>;

function guardedGroup(group: Group): Group {
  return Object.fromEntries(
    Object.entries(group).map(([name, method]) => [
      name,
      (...args: unknown[]) => {
        const result = method(...args);
        if (result instanceof Promise) return result.catch((error: unknown) => Promise.reject(engineError(error)));
        return isStream(result) ? guardedStream(result) : result;
      },
    ]),
  );
}

async function* guardedStream(stream: AsyncIterable<unknown>): AsyncGenerator<unknown, void> {
  try {
    yield* stream;
  } catch (error) {
    throw engineError(error);
  }
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

function engineError(error: unknown): Error {
  if (!PinakesClientError.isInstance(error)) return error instanceof Error ? error : new Error(String(error));
  const { code, detail, retryable, currentEtag, batch } = error;
  return new PinakesError(isCode(code) ? code : "UNAVAILABLE", detail, {
    cause: error,
    retryable,
    ...(currentEtag === undefined ? {} : { currentEtag }),
    ...(batch === undefined ? {} : { batch }),
  });
}

function isCode(code: string): code is ErrorCode {
  return (errorCodes as readonly string[]).includes(code);
}
