/**
 * A request of a TrustGraph client, over any transport: its user, workspace and protocol version.
 *
 * The clients of 1.4 name a `user` in the body; those of 2.8 a `workspace`, beside the body on a socket. A user is accepted if it is the
 * credential's own, or one that its `act_as` names. A workspace is accepted if it is that of the credential (or "default"); since
 * workspaces replaced users, names of `act_as` are accepted there as well.
 */
import type { Caller } from "../../../domain/caller.ts";
import { PinakesError, show } from "../../../domain/errors.ts";
import { actAs, type Authenticated } from "../../../identity/index.ts";

export type Dialect = "old" | "new";

/** JSON of a client; each field is validated where it is used. */
export type Request = Readonly<Record<string, unknown>>;

export interface Call {
  readonly caller: Caller;
  readonly readOnly: boolean;
  readonly dialect: Dialect;
  /** Terms as `{ t, i }`: in the newer version, and in intermediate versions that still name a user. */
  readonly typed: boolean;
  /** The workspace as the client names it. */
  readonly workspace: string;
  readonly request: Request;
  readonly flow: string | undefined;
  /** Whether the connection can carry several messages per response. */
  readonly streams: boolean;
}

/** A workspace that does not exist, or not for the caller: both are 404. */
export class UnknownWorkspace extends PinakesError {
  constructor(workspace: string) {
    super("NOT_FOUND", `unknown workspace: ${show(workspace)}`);
  }
}

export class UnknownOperation extends PinakesError {
  constructor(service: string, operation: unknown) {
    super("INVALID", `Invalid operation: ${show(operation)} is none of ${service}.`);
  }
}

/** A service or a flow that is unknown to the gateway. */
export class UnknownService extends PinakesError {
  constructor(detail: string) {
    super("NOT_FOUND", detail);
  }
}

interface Sent {
  readonly request: Request;
  readonly flow?: string | undefined;
  /** Fields beside the request. */
  readonly workspace?: string | undefined;
  readonly streams?: boolean;
}

export function readCall(auth: Authenticated, { request, flow, workspace: beside, streams = false }: Sent): Call {
  const users = usersIn(request);
  const common = { request, flow, streams, readOnly: auth.readOnly === true };
  const [user] = users;
  if (user !== undefined) {
    const callers = users.map((one) => callerFor(auth, one));
    const [caller] = callers as [Caller];
    if (users.some((one) => one !== user))
      throw new PinakesError("INVALID", `user: the request names several users, ${users.map(show).join(", ")}.`);
    return { ...common, caller, workspace: user, dialect: "old", typed: isTyped(request) };
  }
  const named = textOf(request["workspace"]) ?? beside;
  const caller = named === undefined ? auth.caller : inWorkspace(auth, named);
  return { ...common, caller, workspace: named ?? "default", dialect: "new", typed: true };
}

/** The credential's own user, or one that it may act for. */
export function callerFor(auth: Authenticated, user: string): Caller {
  const caller = actAs(auth, user);
  if (caller !== undefined) return caller;
  throw new PinakesError(
    "FORBIDDEN",
    `user: this credential may not act for ${show(user)}. Use a key of this user, or one whose act_as names it.`,
  );
}

function inWorkspace(auth: Authenticated, workspace: string): Caller {
  if (workspace === "default" || workspace === auth.caller.scope.tenant) return auth.caller;
  const caller = actAs(auth, workspace);
  if (caller === undefined) throw new UnknownWorkspace(workspace);
  return caller;
}

const nested = ["document-metadata", "processing-metadata", "metadata"] as const;
const nestedTwice = ["triples", "graph-embeddings", "document-embeddings"] as const;

/** A request that names a user is of the older version. */
export function dialectOf(request: Request): Dialect {
  return usersIn(request).length > 0 ? "old" : "new";
}

/** All users that a request names: in its fields, and in the records that it contains. */
function usersIn(request: Request): readonly string[] {
  const found = [request["user"], ...nested.map((name) => fieldOf(request[name], "user"))];
  for (const name of nestedTwice) found.push(fieldOf(fieldOf(request[name], "metadata"), "user"));
  return found.flatMap((user) => textOf(user) ?? []);
}

/** Fields that no client of 1.4 sends, or a term in the newer form. */
function isTyped(request: Request): boolean {
  if ("include-children" in request || "batch-size" in request || "streaming" in request) return true;
  const looked: unknown[] = [request["s"], request["p"], request["o"], firstTerm(request["metadata"])];
  for (const name of ["document-metadata", "triples", "graph-embeddings"])
    for (const list of ["metadata", "triples", "entities"]) looked.push(firstTerm(fieldOf(request[name], list)));
  looked.push(firstTerm(request["triples"]), firstTerm(request["entities"]));
  return looked.some((term) => fieldOf(term, "t") !== undefined);
}

function firstTerm(list: unknown): unknown {
  const [first] = Array.isArray(list) ? (list as unknown[]) : [];
  return fieldOf(first, "s") ?? fieldOf(first, "entity");
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && name in value ? (value as Request)[name] : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
