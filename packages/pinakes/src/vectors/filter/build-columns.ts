/**
 * The metadata sections of newly written rows.
 *
 * Every path through objects is a field, including the objects on the way (`exists` is true for them). Of an array, its scalars are
 * indexed for `contains`; what is inside its objects and arrays cannot be named by a path and is not.
 */
import { invalid } from "../../domain/errors.ts";
import { compareUtf8, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { vectorLimits } from "../limits.ts";
import { elementKind, fieldName, kindOf, kindOfScalar, orderedBytes, type Scalar } from "./column-format.ts";
import { ColumnWriter, type ColumnSections } from "./column-writer.ts";

export function buildColumnSections(metadata: readonly (JsonObject | undefined)[]): ColumnSections {
  const fields: Field[] = [];
  const root: PathNode = { segments: [], children: new Map(), field: undefined };
  metadata.forEach((document, row) => {
    if (document !== undefined) addProperties(document, row, root, fields);
  });
  if (fields.length > vectorLimits.metadataFieldsMax) {
    throw invalid(
      `The rows have ${fields.length} metadata fields, more than ${vectorLimits.metadataFieldsMax}, counting nested ones and the objects that ` +
        `hold them; keep names that vary from row to row in an array of values.`,
    );
  }
  const writer = new ColumnWriter();
  for (const { path, lists } of fields.sort((a, b) => compareUtf8(a.path, b.path))) {
    for (const [kind, byValue] of [...lists].sort(([a], [b]) => a - b)) writeKind(writer, path, kind, byValue);
  }
  return writer.done();
}

/** By kind, then value, the rows; if the kind is the value, the value is null. */
type Lists = Map<number, Map<Scalar, number[]>>;

interface Field {
  readonly path: string;
  readonly lists: Lists;
}

interface PathNode {
  readonly segments: readonly string[];
  readonly children: Map<string, PathNode>;
  field: Field | undefined;
}

function addProperties(object: JsonObject, row: number, node: PathNode, fields: Field[]): void {
  for (const [key, value] of Object.entries(object)) {
    // No filter can name these.
    if (value === undefined || key === "" || key.includes("\0")) continue;
    let child = node.children.get(key);
    if (child === undefined) {
      child = { segments: [...node.segments, key], children: new Map(), field: undefined };
      node.children.set(key, child);
    }
    if (child.field === undefined) {
      child.field = { path: fieldName(child.segments), lists: new Map() };
      fields.push(child.field);
    }
    addValue(value, row, child, child.field, fields);
  }
}

function addValue(value: JsonValue, row: number, node: PathNode, { lists }: Field, fields: Field[]): void {
  if (isScalar(value)) {
    addRow(lists, kindOfScalar(value), value, row);
  } else if (Array.isArray(value)) {
    addRow(lists, kindOf.array, null, row);
    for (const element of value as readonly JsonValue[]) {
      if (isScalar(element)) addRow(lists, elementKind + kindOfScalar(element), element, row);
    }
  } else {
    addRow(lists, kindOf.object, null, row);
    addProperties(value as JsonObject, row, node, fields);
  }
}

function isScalar(value: JsonValue): value is Scalar {
  return typeof value !== "object" || value === null;
}

function addRow(lists: Lists, kind: number, value: Scalar, row: number): void {
  let byValue = lists.get(kind);
  if (byValue === undefined) lists.set(kind, (byValue = new Map()));
  const rows = byValue.get(value);
  if (rows === undefined) byValue.set(value, [row]);
  // An array may contain a value twice.
  else if (rows.at(-1) !== row) rows.push(row);
}

function writeKind(
  writer: ColumnWriter,
  path: string,
  kind: number,
  byValue: ReadonlyMap<Scalar, readonly number[]>,
): void {
  const entries = [...byValue];
  const plainKind = kind >= elementKind ? kind - elementKind : kind;
  if (plainKind === kindOf.number) entries.sort(([a], [b]) => (a as number) - (b as number));
  if (plainKind === kindOf.string) entries.sort(([a], [b]) => compareUtf8(a as string, b as string));
  for (const [value, rows] of entries) {
    const list = Uint32Array.from(rows);
    // Adding 0 unifies -0 and 0, which are equal.
    if (typeof value === "number") writer.add(path, kind, value + 0, list);
    else writer.add(path, kind, typeof value === "string" ? orderedBytes(value) : undefined, list);
  }
}
