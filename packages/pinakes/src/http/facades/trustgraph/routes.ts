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
/** A document of the maximum size in base64, with its metadata. */
const bodyBytesMax = 70 * 1_048_576;
const coreBytesMax = 1_073_741_824;

// Each service validates its fields itself: its clients only know errors in the form of its responses.
const Body = z
  .looseObject({})
  .describe("`operation` if the service has several, `user` or `workspace`, and its fields.");
const Response = z.looseObject({}).meta({ id: "TrustGraphResponse" });
const Failure = z
  .looseObject({ error: z.union([z.string(), z.object({ type: z.string(), message: z.string() })]) })
  .meta({ id: "TrustGraphError" });

const inTheirWords =
  "In the format of TrustGraph clients of 1.4 (a `user` in the body) and of 2.8 (a `workspace`). The user is the caller, or one that the key's `act_as` names. Errors are `{ error: { type, message } }` with status 200, as these clients expect.";
const globalServices = [
  ["collection-management", "trustGraphCollections", "TrustGraph: list-, update- and delete-collection"],
  ["librarian", "trustGraphLibrarian", "TrustGraph: documents, their processing, and uploads in chunks"],
  ["knowledge", "trustGraphKnowledge", "TrustGraph: assemble, list, load and delete cores"],
  ["flow", "trustGraphFlows", "TrustGraph: list-, get-, start- and stop-flow"],
] as const;
const flowServices = [
  ["triples", "trustGraphTriples", "TrustGraph: query the triples of a collection by pattern"],
  ["graph-embeddings", "trustGraphGraphEmbeddings", "TrustGraph: find the entities nearest to vectors"],
  ["document-embeddings", "trustGraphDocumentEmbeddings", "TrustGraph: find the chunks nearest to a vector"],
  ["embeddings", "trustGraphEmbeddings", "TrustGraph: embed texts"],
  ["text-load", "trustGraphTextLoad", "TrustGraph: load text into a collection"],
  ["document-load", "trustGraphDocumentLoad", "TrustGraph: load a document into a collection"],
] as const;

/** Responses to requests that did not reach a service. */
export function errorBody(error: PinakesError): object {
  if (error.code === "UNAUTHENTICATED" || error instanceof UnknownWorkspace || isForbidden(error))
    return { error: error.detail };
  return { error: errorObject(error instanceof Told ? error.cause : error) };
}

const refused = (description: string) => ({ description, schema: Failure });
const errors = {
  400: refused("Invalid JSON, or an unknown operation (newer clients)."),
  401: refused("Missing or invalid credentials; the error is a string."),
  403: refused("The caller lacks permission."),
  404: refused("The workspace does not exist, or is not visible to the caller; the error is a string."),
  409: refused("The request conflicts with the current state."),
  413: refused("The body is too large."),
  415: refused("Not JSON."),
  429: refused("Too many requests."),
  500: refused("Internal error."),
  503: refused("Try again later."),
};

export function trustGraphRoutes(gateway: Gateway): readonly Route[] {
  const shared = { tag, auth: "caller", readOnlyOk: true, basicOk: true, errors, errorBody } as const;
  const answers = {
    200: { description: "The response of the service; `error` only if there is one.", schema: Response },
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
        params: z.object({ flow: z.string().describe("`default`, or the id of a started flow.") }),
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
    if (isStream(reply)) throw invalid("This response has several messages; use /api/v1/socket.");
    return { status: 200, body: { ...reply } };
  } catch (error) {
    throw asAnswer(error, dialect);
  }
}

/** The acting user and the target user are logged for every such request. */
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

/** Newer clients expect a status with a text; older ones a response with status 200. */
function isForbidden(error: PinakesError): boolean {
  return error.code === "FORBIDDEN" && error.status === 403;
}

/** An error with a status that differs from its code. */
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
    summary: "Import the messages of a file into a core",
    description:
      'MessagePack: `["t", { m, t }]` with triples and `["ge", { m, e: [{ e, v }] }]` with vectors of entities, in sequence. The whole body is read before the first message is stored.',
    query: CoreQuery,
    limits: { bodyBytesMax: coreBytesMax },
    body: { raw: ["*/*", "application/octet-stream", "application/msgpack", "application/vnd.msgpack"] },
    answers: { 200: { description: "All messages were stored.", schema: Response } },
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
    summary: "Export all messages of a core as a file",
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

/** In the form of put-kg-core. Messages of the library, which newer files also contain, are not part of a core here. */
async function* unpacked(body: AsyncIterable<Uint8Array>): AsyncGenerator<Request> {
  const messages = decodeMultiStream(body)[Symbol.asyncIterator]();
  for (let i = 0; ; i += 1) {
    const next = await messages.next().catch((error: unknown) => {
      throw PinakesError.isInstance(error)
        ? error
        : invalid(`Message ${i} is not valid MessagePack.`, { cause: error });
    });
    if (next.done === true) return;
    const [kind, value] = Array.isArray(next.value) ? (next.value as unknown[]) : [];
    const message = (typeof value === "object" && value !== null ? value : {}) as Request;
    if (kind === "t") yield { triples: { triples: message["t"] } };
    else if (kind === "ge") {
      const entities = Array.isArray(message["e"]) ? (message["e"] as { e?: unknown; v?: unknown }[]) : [];
      yield { "graph-embeddings": { entities: entities.map((one) => ({ entity: one?.e, vectors: one?.v })) } };
    } else if (kind !== "lm" && kind !== "lb")
      throw invalid(`Message ${i} has kind ${show(kind)}, which is neither "t" nor "ge".`);
  }
}
