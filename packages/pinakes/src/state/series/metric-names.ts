/**
 * The custom names of a workspace, in state-settings: one item with both lists. A name is registered before the first row that
 * uses it is written, so the number of names is bounded under any concurrency. Queries do not read it: a name
 * that was unregistered is still found in its rows.
 */
import type { MetricNames } from "@pinakes/client";
import type { Caller } from "../../domain/caller.ts";
import { PinakesError, show } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import { retryOnConflict } from "../../runtime/expected-errors.ts";
import type { ItemStore, Operation } from "../../ports/item-store.ts";
import { settingsContainer } from "../settings.ts";
import {
  customDimensionsOf,
  customLimits,
  isCustomType,
  type CustomDimension,
  type CustomType,
} from "./custom-names.ts";

const topic = "metric-names";
const id = "names";
/** Under contention each process wins once in as many attempts. */
const attemptsMax = 50;
const pauseMsMax = 100;

interface Known {
  readonly types: Set<CustomType>;
  readonly dimensions: Set<CustomDimension>;
}

/** The error of each document that exceeds the limit; the names of the others are registered. */
export type Refused<Row> = ReadonlyMap<Row, PinakesError>;

export interface Admission {
  readonly items: ItemStore;
  readonly scope: Scope;
  /** If one does not fit, none is registered. */
  readonly allOrNothing: boolean;
}

export async function admitNames<Row extends { readonly document: JsonObject }>(
  { items, scope, allOrNothing }: Admission,
  rows: readonly Row[],
): Promise<Refused<Row>> {
  const named = rows
    .map((row) => [row, namesOf(row.document)] as const)
    .filter(([, { types, dimensions }]) => types.length + dimensions.length > 0);
  if (named.length === 0) return new Map();
  return changeNames(items, scope, (known) => {
    const refused = new Map<Row, PinakesError>();
    let changed = false;
    for (const [row, { types, dimensions }] of named) {
      const [newTypes, newDimensions] = [
        types.filter((one) => !known.types.has(one)),
        dimensions.filter((one) => !known.dimensions.has(one)),
      ];
      const trouble = limitTrouble(known, newTypes, newDimensions);
      if (trouble !== undefined) refused.set(row, trouble);
      else {
        changed ||= newTypes.length + newDimensions.length > 0;
        for (const one of newTypes) known.types.add(one);
        for (const one of newDimensions) known.dimensions.add(one);
      }
    }
    return { result: refused, changed: changed && !(allOrNothing && refused.size > 0) };
  });
}

export async function listNames(items: ItemStore, scope: Scope): Promise<MetricNames> {
  const { types, dimensions } = (await readNames(items, scope)).known;
  const { typesMax, dimensionsMax } = customLimits;
  return {
    types: [...types].toSorted(),
    dimensions: [...dimensions].toSorted(),
    types_max: typesMax,
    dimensions_max: dimensionsMax,
  };
}

export async function forgetName(items: ItemStore, { scope, role }: Caller, name: string): Promise<void> {
  if (role !== "admin")
    throw new PinakesError(
      "FORBIDDEN",
      "Only admins of the workspace can unregister names of metrics. Ask one of them.",
    );
  await changeNames(items, scope, ({ types, dimensions }) => {
    if (!types.delete(name as CustomType) && !dimensions.delete(name as CustomDimension))
      throw new PinakesError(
        "NOT_FOUND",
        `There is no custom type or dimension ${show(name)}; write custom.<name> or dimensions.<name>.`,
      );
    return { result: undefined, changed: true };
  });
}

function namesOf(document: JsonObject): {
  readonly types: readonly CustomType[];
  readonly dimensions: readonly CustomDimension[];
} {
  const { metric_type } = document;
  return {
    types: isCustomType(metric_type) ? [metric_type] : [],
    dimensions: Array.from(customDimensionsOf(document), ([name]) => name),
  };
}

function limitTrouble(
  { types, dimensions }: Known,
  newTypes: readonly string[],
  newDimensions: readonly string[],
): PinakesError | undefined {
  const { typesMax, dimensionsMax } = customLimits;
  const advice = "Use an existing one (GET /v1/metrics/names lists them), or let an admin unregister an unused one.";
  if (newTypes.length > 0 && types.size + newTypes.length > typesMax)
    return new PinakesError(
      "LIMIT_EXCEEDED",
      `metric_type: ${show(newTypes[0])} is new, and the workspace already has ${typesMax} custom types. ${advice}`,
    );
  if (newDimensions.length > 0 && dimensions.size + newDimensions.length > dimensionsMax)
    return new PinakesError(
      "LIMIT_EXCEEDED",
      `${newDimensions.join(", ")}: new, and a workspace has at most ${dimensionsMax} names of custom dimensions. ${advice}`,
    );
  return undefined;
}

/** Reads, applies `change`, and writes back conditionally; repeated on conflict. */
async function changeNames<Result>(
  items: ItemStore,
  scope: Scope,
  change: (known: Known) => { readonly result: Result; readonly changed: boolean },
): Promise<Result> {
  return retryOnConflict(
    async () => {
      const { known, etag } = await readNames(items, scope);
      const { result, changed } = change(known);
      if (!changed) return result;
      const document = { id, topic, types: [...known.types], dimensions: [...known.dimensions] };
      const operation: Operation =
        etag === undefined ? { op: "create", document } : { op: "replace", document, ifMatch: etag };
      await items.write(scope, settingsContainer.name, [topic], operation);
      return result;
    },
    { attemptsMax, pauseMsMax },
  );
}

async function readNames(
  items: ItemStore,
  scope: Scope,
): Promise<{ readonly known: Known; readonly etag: string | undefined }> {
  const item = await items.read(scope, settingsContainer.name, { partition: [topic], id });
  const { types = [], dimensions = [] } = (item?.document ?? {}) as {
    readonly types?: readonly CustomType[];
    readonly dimensions?: readonly CustomDimension[];
  };
  return { known: { types: new Set(types), dimensions: new Set(dimensions) }, etag: item?.etag };
}
