/** TrustGraph's gateway over HTTP, at the paths of its clients. */
import { decodeMultiStream, encode } from "@msgpack/msgpack";
import { z } from "zod";
import { PinakesError, invalid, show } from "../../../domain/errors.ts";
import { defineRoute, HttpError, type Answer, type Authenticated, type Route } from "../../framework/index.ts";
import { dialectOf, readCall, UnknownWorkspace, type Call, type Request } from "./call.ts";
import { errorObject, statusOf, type Gateway } from "./gateway.ts";
import { readMessages, shownMessage } from "./services/cores.ts";
import { isStream, requireWriter } from "./services/service.ts";

const tag = "trustgraph";
/** A document of the largest size in base64, with what is known of it. */
const bodyBytesMax = 70 * 1_048_576;
const coreBytesMax = 1_073_741_824;

// Each service reads its fields itself: its clients know mistakes in the form of its answers only.
const Body = z
  .looseObject({})
  .describe("`operation` where the service has several, `user` or `workspace`, and its fields.");
const Response = z.looseObject({}).meta({ id: "TrustGraphResponse" });
const Failure = z
  .looseObject({ error: z.union([z.string(), z.object({ type: z.string(), message: z.string() })]) })
  .meta({ id: "TrustGraphError" });

const inTheirWords =
  "In the words of TrustGraph's clients of 1.4 (a `user` in the body) and of 2.8 (a `workspace`). The user is the caller, or one that the key's `act_as` names. Errors are `{ error: { type, message } }` with status 200, as these clients expect.";
const globalServices = [
  ["collection-management", "trustGraphCollections", "TrustGraph: list-, update- and delete-collection"],
  ["librarian", "trustGraphLibrarian", "TrustGraph: documents, their processing, and uploads in chunks"],
  ["knowledge", "trustGraphKnowledge", "TrustGraph: cores, put together, listed, loaded and deleted"],
  ["flow", "trustGraphFlows", "TrustGraph: list-, get-, start- and stop-flow"],
] as const;
const flowServices = [
  ["triples", "trustGraphTriples", "TrustGraph: triples of a collection by pattern"],
  ["graph-embeddings", "trustGraphGraphEmbeddings", "TrustGraph: entities that are nearest to vectors"],
  ["document-embeddings", "trustGraphDocumentEmbeddings", "TrustGraph: chunks that are nearest to a vector"],
  ["embeddings", "trustGraphEmbeddings", "TrustGraph: vectors of texts"],
  ["text-load", "trustGraphTextLoad", "TrustGraph: put a text into a collection"],
  ["document-load", "trustGraphDocumentLoad", "TrustGraph: put a document into a collection"],
] as const;

/** Answers to requests that never came to a service. */
export function errorBody(error: PinakesError): object {
  if (error.code === "UNAUTHENTICATED" || error instanceof UnknownWorkspace || isForbidden(error))
    return { error: error.detail };
  return { error: errorObject(error instanceof Told ? error.cause : error) };
}

const refused = (description: string) => ({ description, schema: Failure });
const errors = {
  400: refused("Not JSON, or an operation that is not known (newer clients)."),
  401: refused("No credentials, or wrong ones: the error is a text."),
  403: refused("Not for the caller."),
  404: refused("No such workspace, or not for the caller: the error is a text."),
  409: refused("It conflicts with the present state."),
  413: refused("The body is too large."),
  415: refused("Not JSON."),
  429: refused("Too many requests."),
  500: refused("An error of the server."),
  503: refused("Try again later."),
};

export function trustGraphRoutes(gateway: Gateway): readonly Route[] {
  const shared = { tag, auth: "caller", readOnlyOk: true, basicOk: true, errors, errorBody } as const;
  const answers = {
    200: { description: "What the service answers; `error` only where there is one.", schema: Response },
  };
  const common = { ...shared, method: "POST", limits: { bodyBytesMax }, body: Body, answers } as const;
  return [
    ...globalServices.map(([service, operationId, summary]) =>
      defineRoute({
        ...common,
        path: `/api/v1/${service}`,
        operationId,
        summary,
        description: inTheirWords,
        handler: ({ auth, body, note }) => answer(gateway, { auth, note, service, request: body }),
      }),
    ),
    ...flowServices.map(([service, operationId, summary]) =>
      defineRoute({
        ...common,
        path: `/api/v1/flow/{flow}/service/${service}`,
        operationId,
        summary,
        description: inTheirWords,
        params: z.object({ flow: z.string().describe("`default`, or one that was started.") }),
        handler: ({ auth, params: { flow }, body, note }) =>
          answer(gateway, { auth, note, service, flow, request: body }),
      }),
    ),
    importCore(gateway, shared),
    exportCore(gateway, shared),
  ];
}

interface Asked {
  readonly auth: Authenticated;
  readonly note: (fields: Readonly<Record<string, string>>) => void;
  readonly service: string;
  readonly flow?: string;
  readonly request: Request;
}

async function answer(
  gateway: Gateway,
  { auth, note, service, flow, request }: Asked,
): Promise<Answer<Record<string, unknown>>> {
  const dialect = dialectOf(request);
  try {
    const call = readCall(auth, { request, flow });
    noteActing(auth, call, note);
    const reply = await gateway.answer(service, call);
    if (isStream(reply)) throw invalid("This answer comes in several messages; use /api/v1/socket.");
    return { status: 200, body: { ...reply } };
  } catch (error) {
    throw asAnswer(error, dialect);
  }
}

/** Who acts for whom is in the log of every such request. */
export function noteActing(auth: Authenticated, { caller }: Call, note: Asked["note"]): void {
  if (caller.userId !== auth.caller.userId) note({ acting_as: caller.userId });
}

function asAnswer(error: unknown, dialect: Call["dialect"]): unknown {
  if (!PinakesError.isInstance(error) || error.code === "THROTTLED") return error;
  if (error.status >= 500 && error.code !== "NOT_SUPPORTED") return error;
  const status = statusOf(error, dialect);
  if (error instanceof UnknownWorkspace || error.code === "UNAUTHENTICATED") return error;
  return new Told(error, status);
}

/** Newer clients know it as a status with a text; older ones as an answer of status 200. */
function isForbidden(error: PinakesError): boolean {
  return error.code === "FORBIDDEN" && error.status === 403;
}

/** An error whose answer has another status than its code. */
class Told extends HttpError {
  constructor(error: PinakesError, status: number) {
    super(error.code, error.detail, { status, cause: error });
  }
}

const CoreQuery = z.object({ id: z.string(), user: z.string().optional(), workspace: z.string().optional() });

function importCore({ deps }: Gateway, shared: object): Route {
  return defineRoute({
    ...(shared as { tag: string; auth: "caller"; basicOk: true; errors: typeof errors; errorBody: typeof errorBody }),
    readOnlyOk: false,
    method: "POST",
    path: "/api/v1/import-core",
    operationId: "importTrustGraphCore",
    summary: "Add the messages of a file to a core",
    description:
      'MessagePack: `["t", { m, t }]` with triples and `["ge", { m, e: [{ e, v }] }]` with vectors of entities, one after the other. The whole body is read before the first is kept.',
    query: CoreQuery,
    limits: { bodyBytesMax: coreBytesMax },
    body: { raw: ["*/*", "application/octet-stream", "application/msgpack", "application/vnd.msgpack"] },
    answers: { 200: { description: "All of it is kept.", schema: Response } },
    handler: async ({ auth, query, body, note }) => {
      const { id, ...who } = query;
      const call = readCall(auth, { request: who });
      noteActing(auth, call, note);
      requireWriter(call);
      const messages = [];
      for await (const message of unpacked(body.stream)) messages.push(...readMessages({ request: message }, "kg"));
      for (const message of messages) await deps.knowledge.library.cores.put(call.caller, "kg", id, message);
      return { status: 200, body: {} };
    },
  });
}

function exportCore({ deps }: Gateway, shared: object): Route {
  return defineRoute({
    ...(shared as { tag: string; auth: "caller"; basicOk: true; errors: typeof errors; errorBody: typeof errorBody }),
    method: "GET",
    path: "/api/v1/export-core",
    operationId: "exportTrustGraphCore",
    summary: "All messages of a core, as a file",
    query: CoreQuery,
    answers: { 200: { description: "MessagePack.", contentType: "application/octet-stream" } },
    handler: async ({ auth, query, note }) => {
      const { id, ...who } = query;
      const call = readCall(auth, { request: who });
      noteActing(auth, call, note);
      const messages = deps.knowledge.library.cores.messages(call.caller, "kg", id);
      const first = await messages.next();
      return { status: 200, stream: packed(call, id, first, messages), contentType: "application/octet-stream" };
    },
  });
}

interface Packed {
  readonly metadata: { readonly id: string; readonly user: string; readonly collection: string };
  readonly triples?: readonly object[];
  readonly entities?: readonly { readonly entity: object; readonly vector?: unknown; readonly vectors?: unknown }[];
}

async function* packed(
  call: Call,
  coreId: string,
  first: IteratorResult<Parameters<typeof shownMessage>[2]>,
  messages: AsyncGenerator<Parameters<typeof shownMessage>[2]>,
): AsyncGenerator<Uint8Array> {
  for (let next = first; next.done !== true; next = await messages.next()) {
    const [shown] = Object.values(shownMessage(call, coreId, next.value)) as [Packed];
    const m = { i: coreId, m: [], u: call.workspace, c: shown.metadata.collection };
    if (shown.triples !== undefined) yield encode(["t", { m, t: shown.triples }]);
    else {
      const e = (shown.entities ?? []).map(({ entity, vector, vectors }) => ({ e: entity, v: vectors ?? vector }));
      yield encode(["ge", { m, e }]);
    }
  }
}

/** In the form of put-kg-core. Messages of the library that newer files have beside them are not part of a core here. */
async function* unpacked(body: AsyncIterable<Uint8Array>): AsyncGenerator<Request> {
  const messages = decodeMultiStream(body)[Symbol.asyncIterator]();
  for (let i = 0; ; i += 1) {
    const next = await messages.next().catch((error: unknown) => {
      throw PinakesError.isInstance(error) ? error : invalid(`Message ${i} is no MessagePack.`, { cause: error });
    });
    if (next.done === true) return;
    const [kind, value] = Array.isArray(next.value) ? (next.value as unknown[]) : [];
    const message = (typeof value === "object" && value !== null ? value : {}) as Request;
    if (kind === "t") yield { triples: { triples: message["t"] } };
    else if (kind === "ge") {
      const entities = Array.isArray(message["e"]) ? (message["e"] as { e?: unknown; v?: unknown }[]) : [];
      yield { "graph-embeddings": { entities: entities.map((one) => ({ entity: one?.e, vectors: one?.v })) } };
    } else if (kind !== "lm" && kind !== "lb")
      throw invalid(`Message ${i} is of the kind ${show(kind)}, which is neither "t" nor "ge".`);
  }
}
