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

/** A document of 2 MB, with room for the escapes of JSON. */
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
        "409 when there is one with this id in its partition; with upsert=true that one is replaced, on the condition of If-Match where it is sent. If-None-Match: * never replaces.",
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
            throw invalid(
              "If-Match: a document that is created has no etag yet; send it with upsert=true, or leave it out.",
            );
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
        304: { description: "It is the one that If-None-Match names." },
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
      description: "404 when there is none. With If-None-Match: * it is created, and 409 when there is one.",
      conditional: true,
      params: itemParams,
      query: z.object({ pk: pkText.optional() }),
      body: document,
      limits: { bodyBytesMax: documentBytesMax },
      answers: {
        200: { description: "The document as it is now.", schema: Item },
        201: { description: "The new document.", schema: Item },
      },
      handler: async ({ caller, params: p, query, body, ifMatch, ifNoneMatch }) => {
        if (body.id !== undefined && body.id !== p.id)
          throw invalid(`id: the document says "${body.id}", the address "${p.id}"; an id never changes.`);
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
      description:
        "Up to ten operations: add, set, replace, remove, incr, move; paths are RFC 6901 pointers. All of them happen, or none.",
      conditional: true,
      params: itemParams,
      query: z.object({ pk: pkText }),
      body: z.strictObject({
        operations: z.array(z.looseObject({ op: z.string(), path: z.string() })),
        condition: z.string().optional().describe('Only if it holds: from c where c.status = "open"'),
      }),
      limits: { bodyBytesMax: documentBytesMax },
      answers: { 200: { description: "The document as it is now.", schema: Item } },
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
      summary: "Up to 100 documents by their keys",
      readOnlyOk: true,
      params,
      body: z.strictObject({ keys: z.array(z.strictObject({ pk: pkInput, id: z.string() })) }),
      answers: {
        200: {
          description: "In the order of the keys; null where there is none.",
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
      summary: "Up to 100 operations on one partition, all or nothing",
      description:
        "When one fails nothing was written: the answer is its error, and `batch.statuses` has its status, and 424 for the others.",
      idempotent: true,
      params,
      body: z.strictObject({ pk: pkInput, operations: z.array(operation) }),
      limits: { bodyBytesMax: batchBytesMax },
      answers: { 200: { description: "What became of each.", schema: z.object({ results: z.array(Outcome) }) } },
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
      summary: "Up to 10,000 operations on any partitions, each by itself",
      description:
        "One operation a line (NDJSON), or a list in JSON. Operations without a document name their partition key: `pk`.",
      params,
      body: { raw: bulkTypes, json: z.strictObject({ operations: z.array(operation) }) },
      limits: { bodyBytesMax: bulkBytesMax },
      answers: { 200: { description: "How each line ended.", schema: BulkResult } },
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
      description: "In steps: after an error, send it again.",
      params: z.object({ c: containerName, pk: pkText }),
      answers: { 200: { description: "How many there were.", schema: z.object({ deleted: z.number() }) } },
      handler: async ({ caller, params: p }) => ok(await containers.deletePartition(caller, p.c, readPk(p.pk))),
    }),
  ];
}

/** Elsewhere batches are how features write, and their indexes mean nothing to a caller; here they are the caller's operations. */
async function batchOfCaller<Written>(writing: Promise<Written>): Promise<Written> {
  try {
    return await writing;
  } catch (error) {
    if (!PinakesError.isInstance(error) || error.context.batch === undefined) throw error;
    const { code, detail, context, retryable } = error;
    throw new HttpError(code, detail, { ...context, retryable, cause: error, more: { batch: context.batch } });
  }
}

/** `If-None-Match: *` is a condition, so its failure is 412 (RFC 9110, 13.1.2); without it an id that is taken is a 409. */
async function absentOnly<Made>(making: Promise<Made>): Promise<Made> {
  try {
    return await making;
  } catch (error) {
    if (!hasCode(error, "CONFLICT")) throw error;
    throw new PinakesError("PRECONDITION_FAILED", error.detail, { ...error.context, cause: error });
  }
}

/** If-None-Match: * means only if there is nothing; another etag has no meaning with a write. */
export function createOnly(ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === "*") return true;
  throw invalid('If-None-Match: with a write only * has a meaning: "only if there is none yet".');
}
