/** Items of containers over HTTP. */
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { shape } from "../../contract/index.ts";
import type { BatchOperation, BulkOperation, PatchOperation, StoredDocument } from "@pinakes/client";
import { hasCode, invalid, PinakesError } from "../../domain/errors.ts";
import type { State } from "../../state/index.ts";
import { HttpError } from "../framework/http-error.ts";
import { created, defineRoute, noContent, ok, queryFlag, type Answer, type Route } from "../framework/index.ts";
import { bulkTypes, containerName, itemId, pkInput, pkText, readOperationLines, readPk } from "./container-input.ts";

const all = "/v1/containers/{c}/items";
const one = `${all}/{id}`;
const params = z.object({ c: containerName });
const itemParams = z.object({ c: containerName, id: itemId });
const common = { tag: "containers", auth: "caller" } as const;

/** A document of 2 MB, with room for JSON escapes. */
const documentBytesMax = 4_194_304;
const batchBytesMax = 4_194_304;
const bulkBytesMax = 67_108_864;

const document = z.looseObject({ id: z.string().optional() });
const operation = z.looseObject({ op: z.string().describe("create, upsert, replace, patch, delete, read or check") });
export const Item = shape<wire.StoredDocument>()(
  z
    .looseObject({ id: z.string(), _etag: z.string(), _ts: z.number().describe("Second of the last change.") })
    .meta({ id: "Item" }),
);
const Outcome = shape<wire.BatchOutcome>()(
  z
    .object({ status: z.number(), id: z.string().optional(), etag: z.string().optional(), document: Item.optional() })
    .meta({ id: "BatchOutcome" }),
);
const BulkResult = z
  .object({
    succeeded: z.number(),
    failed: z.number(),
    lines: z.array(
      z.object({
        line: z.number(),
        status: z.number(),
        id: z.string().optional(),
        error: z.object({ code: z.string(), detail: z.string() }).optional(),
      }),
    ),
  })
  .meta({ id: "BulkResult" });

export function containerItemRoutes(state: State): readonly Route[] {
  return [...itemRoutes(state), ...changeRoutes(state), ...manyRoutes(state)];
}

const answer = (item: StoredDocument): Answer<StoredDocument> => ok(item, { etag: item._etag });
const madeAnswer = (container: string, item: StoredDocument): Answer<StoredDocument> =>
  created(item, { etag: item._etag, location: `/v1/containers/${container}/items/${encodeURIComponent(item.id)}` });

function itemRoutes({ containers }: State): readonly Route[] {
  return [
    defineRoute({
      ...common,
      method: "POST",
      path: all,
      operationId: "createItem",
      summary: "Add a document",
      description:
        "409 if the partition has an item with this id; with upsert=true it is replaced, conditionally if If-Match is sent. If-None-Match: * never replaces.",
      idempotent: true,
      conditional: true,
      params,
      query: z.object({ upsert: queryFlag().optional() }),
      body: document,
      limits: { bodyBytesMax: documentBytesMax },
      answers: {
        200: { description: "The document after an upsert.", schema: Item },
        201: { description: "The new document.", schema: Item },
      },
      handler: async ({ caller, params: p, query, body, ifMatch, ifNoneMatch, mustExist }) => {
        const only = createOnly(ifNoneMatch);
        if (query.upsert !== true || only) {
          if (ifMatch !== undefined || mustExist)
            throw invalid("If-Match: a new document has no etag; send it with upsert=true, or omit it.");
          const making = containers.create(caller, p.c, body as never);
          return madeAnswer(p.c, await (only ? absentOnly(making) : making));
        }
        if (mustExist) return answer(await containers.replace(caller, p.c, body as never));
        return answer(await containers.upsert(caller, p.c, body as never, { ifMatch }));
      },
    }),
    defineRoute({
      ...common,
      method: "GET",
      path: one,
      operationId: "getItem",
      summary: "A document",
      params: itemParams,
      query: z.object({ pk: pkText }),
      answers: {
        200: { description: "The document.", schema: Item },
        304: { description: "The etag matches If-None-Match." },
      },
      handler: async ({ caller, params: p, query }) =>
        answer(await containers.read(caller, p.c, readPk(query.pk), p.id)),
    }),
  ];
}

function changeRoutes({ containers }: State): readonly Route[] {
  return [
    defineRoute({
      ...common,
      method: "PUT",
      path: one,
      operationId: "replaceItem",
      summary: "Replace a document",
      description: "404 if there is no such item. With If-None-Match: * it is created, and 412 if it exists.",
      conditional: true,
      params: itemParams,
      query: z.object({ pk: pkText.optional() }),
      body: document,
      limits: { bodyBytesMax: documentBytesMax },
      answers: {
        200: { description: "The document after the change.", schema: Item },
        201: { description: "The new document.", schema: Item },
      },
      handler: async ({ caller, params: p, query, body, ifMatch, ifNoneMatch }) => {
        if (body.id !== undefined && body.id !== p.id)
          throw invalid(`id: the document has "${body.id}", the URL "${p.id}"; an id cannot change.`);
        const whole = { ...body, id: p.id } as never;
        const pk = query.pk === undefined ? undefined : readPk(query.pk);
        if (createOnly(ifNoneMatch))
          return madeAnswer(p.c, await absentOnly(containers.create(caller, p.c, whole, pk)));
        return answer(await containers.replace(caller, p.c, whole, { ifMatch }, pk));
      },
    }),
    defineRoute({
      ...common,
      method: "PATCH",
      path: one,
      operationId: "patchItem",
      summary: "Change parts of a document",
      description: "Up to ten operations: add, set, replace, remove, incr, move; paths are RFC 6901 pointers. Atomic.",
      conditional: true,
      params: itemParams,
      query: z.object({ pk: pkText }),
      body: z.strictObject({
        operations: z.array(z.looseObject({ op: z.string(), path: z.string() })),
        condition: z.string().optional().describe('Condition that must hold: from c where c.status = "open"'),
      }),
      limits: { bodyBytesMax: documentBytesMax },
      answers: { 200: { description: "The document after the change.", schema: Item } },
      handler: async ({ caller, params: p, query, body: { operations, condition }, ifMatch }) =>
        answer(
          await containers.patch(
            caller,
            p.c,
            readPk(query.pk),
            p.id,
            operations as unknown as readonly PatchOperation[],
            { ifMatch, condition },
          ),
        ),
    }),
    defineRoute({
      ...common,
      method: "DELETE",
      path: one,
      operationId: "deleteItem",
      summary: "Delete a document",
      conditional: true,
      params: itemParams,
      query: z.object({ pk: pkText }),
      answers: { 204: { description: "It is gone." } },
      handler: async ({ caller, params: p, query, ifMatch }) => {
        await containers.deleteItem(caller, p.c, readPk(query.pk), p.id, { ifMatch });
        return noContent();
      },
    }),
  ];
}

function manyRoutes({ containers }: State): readonly Route[] {
  return [
    defineRoute({
      ...common,
      method: "POST",
      path: `${all}:readMany`,
      operationId: "readManyItems",
      summary: "Read up to 100 documents by key",
      readOnlyOk: true,
      params,
      body: z.strictObject({ keys: z.array(z.strictObject({ pk: pkInput, id: z.string() })) }),
      answers: {
        200: {
          description: "In the order of the keys; null for a missing document.",
          schema: z.object({ items: z.array(Item.nullable()) }),
        },
      },
      handler: async ({ caller, params: p, body }) => ok(await containers.readMany(caller, p.c, body.keys)),
    }),
    defineRoute({
      ...common,
      method: "POST",
      path: "/v1/containers/{c}/batch",
      operationId: "batchItems",
      summary: "Execute up to 100 operations on one partition atomically",
      description:
        "If one fails, nothing is written: the response is its error, and `batch.statuses` has its status, and 424 for the others.",
      idempotent: true,
      params,
      body: z.strictObject({ pk: pkInput, operations: z.array(operation) }),
      limits: { bodyBytesMax: batchBytesMax },
      answers: {
        200: { description: "The result of each operation.", schema: z.object({ results: z.array(Outcome) }) },
      },
      handler: async ({ caller, params: p, body }) =>
        ok(
          await batchOfCaller(
            containers.batch(caller, p.c, body.pk, body.operations as unknown as readonly BatchOperation[]),
          ),
        ),
    }),
    defineRoute({
      ...common,
      method: "POST",
      path: "/v1/containers/{c}/bulk",
      operationId: "bulkItems",
      summary: "Execute up to 10,000 operations on any partitions, each independently",
      description:
        "One operation per line (NDJSON), or a JSON list. Operations without a document specify their partition key as `pk`.",
      params,
      body: { raw: bulkTypes, json: z.strictObject({ operations: z.array(operation) }) },
      limits: { bodyBytesMax: bulkBytesMax },
      answers: { 200: { description: "The result of each line.", schema: BulkResult } },
      handler: async ({ caller, params: p, body }) => {
        if (body.kind === "json")
          return ok(await containers.bulk(caller, p.c, body.value.operations as unknown as readonly BulkOperation[]));
        const { operations, numbers } = await readOperationLines(body.stream);
        const result = await containers.bulk(caller, p.c, operations as readonly BulkOperation[]);
        return ok({
          ...result,
          lines: result.lines.map((line) => ({ ...line, line: numbers[line.line - 1] as number })),
        });
      },
    }),
    defineRoute({
      ...common,
      method: "DELETE",
      path: "/v1/containers/{c}/partitions/{pk}",
      operationId: "deletePartition",
      summary: "Delete all documents of a partition",
      description: "Works in steps: repeat the request after an error.",
      params: z.object({ c: containerName, pk: pkText }),
      answers: { 200: { description: "The number of deleted documents.", schema: z.object({ deleted: z.number() }) } },
      handler: async ({ caller, params: p }) => ok(await containers.deletePartition(caller, p.c, readPk(p.pk))),
    }),
  ];
}

/** Features internally write batches whose indexes mean nothing to a caller; here the operations are the caller's own. */
async function batchOfCaller<Written>(writing: Promise<Written>): Promise<Written> {
  try {
    return await writing;
  } catch (error) {
    if (!PinakesError.isInstance(error) || error.context.batch === undefined) throw error;
    const { code, detail, context, retryable } = error;
    throw new HttpError(code, detail, { ...context, retryable, cause: error, more: { batch: context.batch } });
  }
}

/** `If-None-Match: *` is a condition, so its failure is 412 (RFC 9110, 13.1.2); without it an existing id is a 409. */
async function absentOnly<Made>(making: Promise<Made>): Promise<Made> {
  try {
    return await making;
  } catch (error) {
    if (!hasCode(error, "CONFLICT")) throw error;
    throw new PinakesError("PRECONDITION_FAILED", error.detail, { ...error.context, cause: error });
  }
}

/** If-None-Match: * means create only; another etag has no meaning for a write. */
export function createOnly(ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === "*") return true;
  throw invalid('If-None-Match: with a write only * has a meaning: "only if it does not exist".');
}
