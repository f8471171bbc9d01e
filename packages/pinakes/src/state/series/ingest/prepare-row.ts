/** An ingested line, validated and completed: the row that a series stores. */
import { validateDocument } from "../../../containers/validate.ts";
import { PinakesError, invalid, show } from "../../../domain/errors.ts";
import { checkJson, isJsonObject, type JsonObject } from "../../../domain/json.ts";
import { withoutSystemProperties } from "../../../domain/system-properties.ts";
import { checkItemTtl } from "../../../domain/ttl.ts";
import { refuseMisplaced } from "../../misplaced.ts";
import { reservedIdPrefix } from "../../system-container.ts";
import { canonicalJson } from "../../../runtime/canonical-json.ts";
import type { Series } from "../series.ts";

export interface PreparedRow {
  readonly id: string;
  readonly date: string;
  readonly hour: number;
  readonly document: JsonObject;
  /** The client named the id, so that it may be there already. */
  readonly named: boolean;
  /** Properties that say when it came rather than what it is: they do not make a repeated line another one. */
  readonly filled: readonly string[];
}

export function prepareRow(
  series: Series,
  tenant: string,
  input: unknown,
  now: number,
  newId: () => string,
): PreparedRow {
  if (!isJsonObject(input)) throw invalid(`Must be a JSON object, got ${show(input)}.`);
  // Before anything goes down into it: a line may be nested deeper than a stack is high.
  checkJson(input);
  const given = Object.fromEntries(
    Object.entries(withoutSystemProperties(input)).filter(([, value]) => value !== undefined),
  );
  refuseMisplaced(given, series.fields);
  const at = new Date(now).toISOString();
  const moment = given["timestamp"] ?? at;
  const document = validateDocument(series.container, series.schema, {
    ...(given["id"] === undefined ? { id: `${series.idPrefix}${newId()}` } : {}),
    ...(given[series.dateField] === undefined
      ? { [series.dateField]: typeof moment === "string" ? moment.slice(0, 10) : "" }
      : {}),
    ...given,
    workspace_id: ownWorkspace(tenant, given["workspace_id"]),
    timestamp: moment,
    created_at: given["created_at"] ?? at,
  });
  const timestamp = document["timestamp"] as string;
  const date = timestamp.slice(0, 10);
  if (document[series.dateField] !== date)
    throw invalid(
      `${series.dateField}: is ${show(document[series.dateField])}, but timestamp ${timestamp} is on ${date}; omit it, or correct one of them.`,
    );
  const id = document["id"] as string;
  if (id.startsWith(reservedIdPrefix))
    throw invalid(`id: ids that start with "${reservedIdPrefix}" are reserved for the system, got ${show(id)}.`);
  checkItemTtl(document["ttl"]);
  return {
    id,
    date,
    hour: Number(timestamp.slice(11, 13)),
    document,
    named: given["id"] !== undefined,
    filled: [
      ...(given["timestamp"] === undefined ? ["timestamp"] : []),
      ...(given["created_at"] === undefined ? ["created_at"] : []),
    ],
  };
}

function ownWorkspace(tenant: string, given: unknown): string {
  if (given === undefined || given === tenant) return tenant;
  throw new PinakesError(
    "FORBIDDEN",
    `workspace_id: must be the caller's own workspace, or omitted; got ${show(given)}.`,
  );
}

/** Whether the stored row equals this line. `chain` was added here and is not part of the content. */
export function sameContent(
  stored: JsonObject,
  { document, filled }: Pick<PreparedRow, "document" | "filled">,
): boolean {
  const ignored = new Set([...filled, "chain"]);
  const content = (of: JsonObject) =>
    canonicalJson(Object.fromEntries(Object.entries(of).filter(([key]) => !ignored.has(key))));
  return content(stored) === content(document);
}
