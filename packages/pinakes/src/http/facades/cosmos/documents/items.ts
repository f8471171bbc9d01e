/** Single items: create, upsert, read, replace, patch and delete. */
import type { BatchOperation, BatchOutcome, PartitionKeyValue, PatchOperation } from "@pinakes/client";
import { isJsonObject, utf8Bytes, type JsonObject, type JsonValue } from "../../../../domain/json.ts";
import { partitionAt } from "../../../../domain/partition-value.ts";
import { parsePath } from "../../../../domain/path.ts";
import type { FoundContainer } from "../../../../state/index.ts";
import {
  answer,
  bodyBytesMax,
  isMinimal,
  noBody,
  unquoted,
  type CosmosAnswer,
  type CosmosContext,
} from "../context.ts";
import { badRequest, CosmosError } from "../errors.ts";
import { findContainer, inRangeOf, requirePartition, wholeKey } from "../resources/find-container.ts";
import { deleteCharge, readCharge, writeCharge } from "../throughput/charge.ts";
import { metered } from "../resources/metered.ts";
import { itemView } from "./item-view.ts";

const mismatchSubstatus = 1001;

export async function createItem(context: CosmosContext): Promise<CosmosAnswer> {
  const found = await findContainer(context);
  const document = checkedDocument(context, context.object());
  const upsert = context.flag("x-ms-documentdb-is-upsert");
  const pk = partitionOf(context, found, document);
  const ifMatch = upsert ? matchOf(context) : {};
  const operation = { op: upsert ? "upsert" : "create", document, ...ifMatch } as BatchOperation;
  return write(context, found, pk, operation);
}

export async function readItem(context: CosmosContext): Promise<CosmosAnswer> {
  const found = await findContainer(context);
  const pk = requirePartition(context, found);
  context.facade.sessions.check(context.header("x-ms-session-token"));
  return metered(context, found, async () => {
    const document = await context.state.containers.read(context.caller, found.info.name, pk, idOf(context));
    const view = itemView(found).stored(document);
    const etag = view["_etag"] as string;
    const text = JSON.stringify(view);
    const charge = readCharge(utf8Bytes(text));
    const known = context.header("if-none-match");
    if (known !== undefined && unquoted(known) === unquoted(etag))
      return answer(304, undefined, { charge, headers: { etag } });
    return answer(200, view, { text, charge, headers: { etag } });
  });
}

export async function replaceItem(context: CosmosContext): Promise<CosmosAnswer> {
  const found = await findContainer(context);
  const pk = requirePartition(context, found);
  const document = checkedDocument(context, context.object());
  if (document["id"] !== idOf(context))
    throw badRequest("The id of an item cannot be changed: it must be that of the address.");
  requireSameKey(found, document, pk);
  return write(context, found, pk, { op: "replace", document, ...matchOf(context) });
}

export async function patchItem(context: CosmosContext): Promise<CosmosAnswer> {
  const found = await findContainer(context);
  const pk = requirePartition(context, found);
  const patch = readPatch(context.json());
  return write(context, found, pk, { op: "patch", id: idOf(context), ...patch, ...matchOf(context) });
}

export async function deleteItem(context: CosmosContext): Promise<CosmosAnswer> {
  const found = await findContainer(context);
  const pk = requirePartition(context, found);
  const removed = await write(context, found, pk, { op: "delete", id: idOf(context), ...matchOf(context) });
  return noBody({ charge: removed.charge });
}

async function write(
  context: CosmosContext,
  found: FoundContainer,
  pk: readonly PartitionKeyValue[] | undefined,
  operation: BatchOperation,
): Promise<CosmosAnswer> {
  return metered(context, found, async () => {
    const { containers } = context.state;
    const outcome = await containers.write(context.caller, found.info.name, pk, operation, { exactUpserts: true });
    context.container = { ...(context.container as NonNullable<typeof context.container>), wrote: true };
    return itemAnswer(context, found, outcome);
  });
}

function itemAnswer(context: CosmosContext, found: FoundContainer, { status, document }: BatchOutcome): CosmosAnswer {
  if (document === undefined) return answer(status, undefined, { charge: deleteCharge });
  const view = itemView(found).stored(document);
  const text = JSON.stringify(view);
  const charge = writeCharge(utf8Bytes(text));
  const headers = { etag: view["_etag"] as string };
  return isMinimal(context)
    ? answer(status, undefined, { charge, headers })
    : answer(status, view, { text, charge, headers });
}

/** Accepts both forms of a patch that clients send. */
export function readPatch(body: JsonValue | undefined): {
  readonly operations: readonly PatchOperation[];
  readonly condition?: string;
} {
  const operations = Array.isArray(body) ? body : isJsonObject(body) ? body["operations"] : undefined;
  const condition = isJsonObject(body) ? body["condition"] : undefined;
  if (!Array.isArray(operations)) throw badRequest("A patch is a list of operations, or { operations, condition }.");
  if (condition !== undefined && typeof condition !== "string") throw badRequest("condition: must be a string.");
  return {
    operations: operations,
    ...(condition === undefined ? {} : { condition }),
  };
}

export function checkedDocument(context: CosmosContext, document: JsonObject): JsonObject & { readonly id: string } {
  if (context.bodyBytes > bodyBytesMax) throw tooLarge();
  return withId(document);
}

export function tooLarge(): CosmosError {
  const errors = JSON.stringify({ Errors: ["Request size is too large"] });
  return new CosmosError(413, `Message: ${errors}`);
}

export function withId(document: JsonObject): JsonObject & { readonly id: string } {
  const { id } = document;
  if (typeof id === "string" && id !== "") return document as JsonObject & { readonly id: string };
  throw badRequest(
    "The input content is invalid because the required properties - 'id; ' - are missing, or the id is no text.",
  );
}

function partitionOf(
  context: CosmosContext,
  found: FoundContainer,
  document: JsonObject,
): readonly PartitionKeyValue[] | undefined {
  const given = context.partitionKey();
  if (given === undefined) return undefined;
  const pk = wholeKey(found, given);
  inRangeOf(context, found, pk);
  // Containers of the system fill in a missing partition key.
  if (found.info.kind === "own" || hasKey(found, document)) requireSameKey(found, document, pk);
  return pk;
}

export function requireSameKey({ info }: FoundContainer, document: JsonObject, pk: readonly PartitionKeyValue[]): void {
  if (JSON.stringify(keyIn(info.partition_key, document)) === JSON.stringify(pk)) return;
  throw badRequest(
    "PartitionKey extracted from document doesn't match the one specified in the header.",
    mismatchSubstatus,
  );
}

function hasKey({ info }: FoundContainer, document: JsonObject): boolean {
  return keyIn(info.partition_key, document).every((value) => typeof value !== "object" || value === null);
}

export function keyIn(paths: string | readonly string[], document: JsonObject): readonly PartitionKeyValue[] {
  return partitionAt(document, [paths].flat().map(parsePath));
}

function matchOf(context: CosmosContext): { readonly if_match?: string } {
  const etag = unquoted(context.header("if-match"));
  return etag === undefined || etag === "*" ? {} : { if_match: etag };
}

function idOf({ segments }: CosmosContext): string {
  return segments[5] as string;
}
