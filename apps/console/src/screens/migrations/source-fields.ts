/** Fields of each kind of source (docs/migrations.md), and how a form becomes a request. */
import { migrationStrings } from "../../strings/migrations.ts";

export const sourceKinds = [
  "collection",
  "triples",
  "rows",
  "chroma",
  "qdrant",
  "milvus",
  "unregistered",
  "lisa",
] as const;
export type SourceKind = (typeof sourceKinds)[number];

interface Words {
  readonly label: string;
  readonly hint?: string;
}

export interface SourceField extends Words {
  /** The request field; "to.collection" is nested. */
  readonly name: string;
  readonly input: "text" | "flag" | "objects" | "repository" | "collection" | "target";
  readonly required?: boolean;
}

const s: Readonly<Record<keyof typeof migrationStrings.fields, Words>> = migrationStrings.fields;
const text = (name: string, words: Words, required = false): SourceField => ({
  name,
  input: "text",
  ...words,
  required,
});
const flag = (name: string, words: Words): SourceField => ({ name, input: "flag", ...words });
const target = (name: string, words: Words, required = false): SourceField => ({
  name,
  input: "target",
  ...words,
  required,
});
const into = [target("repository", s.repository), text("user", s.user)];

const vectorStore = [text("server", s.server, true), ...into, text("text_field", s.text_field), flag("lossy", s.lossy)];

export const sourceFields: Readonly<Record<SourceKind, readonly SourceField[]>> = {
  collection: [
    { name: "repository", input: "repository", ...s.from_repository, required: true },
    { name: "collection", input: "collection", ...s.from_collection, required: true },
    target("to.repository", s.to_repository),
    text("to.collection", s.to_collection),
    flag("allow_partial", s.allow_partial),
  ],
  triples: [
    text("sqlite", s.sqlite),
    text("postgres", s.postgres),
    text("schema", s.schema),
    text("cassandra", s.cassandra),
    text("csv", s.csv),
    { name: "objects", input: "objects", ...s.objects, required: true },
    text("separator", s.separator),
    ...into,
    text("iri_base", s.iri_base),
  ],
  rows: [
    text("path", s.path, true),
    ...into,
    text("collection", s.collection),
    text("text_field", s.text_field),
    flag("lossy", s.lossy),
  ],
  chroma: [
    text("folder", s.folder),
    text("server", s.server),
    text("tenant", s.tenant),
    text("database", s.database),
    ...into,
    text("text_field", s.text_field),
    flag("lossy", s.lossy),
  ],
  qdrant: vectorStore,
  milvus: vectorStore,
  unregistered: [target("repository", s.repository, true), text("listing", s.listing)],
  lisa: [text("folder", s.folder, true)],
};

export type FieldValues = Readonly<Record<string, string | boolean | undefined>>;

/** Omits empty fields: the server has defaults. */
export function sourceOf(
  kind: SourceKind,
  values: FieldValues,
  more: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  const source: Record<string, unknown> = { kind };
  // The target is always sent, even if unchanged: the server validates it.
  if (kind === "collection") source["to"] = {};
  for (const { name } of sourceFields[kind]) {
    const given = values[name];
    const value = typeof given === "string" ? given.trim() : given;
    if (value === undefined || value === "" || value === false) continue;
    const [outer = name, inner] = name.split(".");
    source[outer] = inner === undefined ? value : { ...(source[outer] as object | undefined), [inner]: value };
  }
  return { ...source, ...more };
}
