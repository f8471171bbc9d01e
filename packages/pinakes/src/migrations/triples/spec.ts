/** Triples in a table per collection: the location, the owner of each table, and which texts are IRIs. */
import { z } from "zod";
import type { TargetAddress } from "../../knowledge/index.ts";

const name = z.string().min(1).max(256);

export const TriplesSpec = z.strictObject({
  kind: z.literal("triples"),
  /** A SQLite file. */
  sqlite: z.string().min(1).optional(),
  /** An address without a password: the operator configures that together with the server. */
  postgres: z.string().min(1).optional(),
  /** PostgreSQL schema; `public` when absent. */
  schema: name.optional(),
  /** A node of a Cassandra cluster and its keyspace, cassandra://host:9042/keyspace, also without a password. */
  cassandra: z.string().min(1).optional(),
  /** A folder of files <table>.csv, as written by `cqlsh COPY … TO`. */
  csv: z.string().min(1).optional(),
  /** The columns of CSV files without a header line, in order. */
  csv_columns: z.array(name).max(64).optional(),
  /** Escapes a quote inside quotes: a backslash, as cqlsh does, or another quote. */
  csv_escape: z.enum(["\\", '"']).optional(),
  /** The owner of tables without any other. */
  user: name.optional(),
  repository: name.optional(),
  /** Between user and collection in a table name: with "__", ann__papers is Ann's collection papers. */
  separator: z.string().min(1).max(16).optional(),
  /** Tables to rename or skip; "<table>/<value>" is one collection of a table that contains several. */
  tables: z
    .record(
      z.string(),
      z.strictObject({
        user: name.optional(),
        repository: name.optional(),
        collection: name.optional(),
        skip: z.boolean().optional(),
      }),
    )
    .optional(),
  /**
   * `collection`: in tables with this column, each of its values is a collection. `g`: the graph, "" for the default graph. `otype` (u or i: IRI,
   * l: literal), `dtype` and `lang`: what an object is, in place of the rule for objects.
   */
  columns: z
    .strictObject({
      s: name.optional(),
      p: name.optional(),
      o: name.optional(),
      created_at: name.optional(),
      collection: name.optional(),
      g: name.optional(),
      otype: name.optional(),
      dtype: name.optional(),
      lang: name.optional(),
    })
    .optional(),
  /** Columns that may be dropped. */
  ignore_columns: z.array(name).max(64).optional(),
  objects: z.enum(["literal", "iri", "absolute"]),
  /** With `absolute`: schemes of IRIs; http, https and urn when absent. */
  iri_schemes: z
    .array(z.string().regex(/^[A-Za-z][A-Za-z0-9+.-]*$/))
    .max(64)
    .optional(),
  /** With `absolute`: predicates whose objects are always literals. */
  literal_predicates: z.array(z.string()).max(10_000).optional(),
  /** Subjects and predicates that are not IRIs become IRIs with this prefix. */
  iri_base: z.string().min(1).max(1_024).optional(),
});
export type TriplesSpec = z.infer<typeof TriplesSpec>;

export interface TableColumns {
  readonly s: string;
  readonly p: string;
  readonly o: string;
  readonly created_at: string;
  /** Further columns that are part of a triple, by what they say. */
  readonly more?: readonly MoreColumn[] | undefined;
}

export interface MoreColumn {
  readonly is: "g" | "otype" | "dtype" | "lang";
  readonly name: string;
}

/** TrustGraph's own names are known: `d` or `g`, and beside `otype` also `dtype` and `lang`. */
export function moreColumns(spec: TriplesSpec, columns: readonly string[]): readonly MoreColumn[] {
  const { columns: named = {}, ignore_columns = [] } = spec;
  const known = (is: MoreColumn["is"], ...defaults: readonly string[]): readonly MoreColumn[] => {
    const found = (named[is] === undefined ? defaults : [named[is]]).find(
      (column) => columns.includes(column) && !ignore_columns.includes(column),
    );
    return found === undefined ? [] : [{ is, name: found }];
  };
  const otype = known("otype", "otype");
  const typed = otype.length > 0;
  return [
    ...known("g", "g", ...(typed ? ["d"] : [])),
    ...otype,
    ...(typed ? [...known("dtype", "dtype"), ...known("lang", "lang")] : []),
  ];
}

export function columnsOf({ columns = {} }: TriplesSpec): TableColumns {
  return {
    s: columns.s ?? "s",
    p: columns.p ?? "p",
    o: columns.o ?? "o",
    created_at: columns.created_at ?? "created_at",
  };
}

/** The column that names the collection of each row; undefined for a table that is one collection. */
export function collectionColumn(spec: TriplesSpec, columns: readonly string[]): string | undefined {
  const column = spec.columns?.collection ?? "collection";
  const { s, p, o, created_at } = columnsOf(spec);
  const isOther = [s, p, o, created_at, ...(spec.ignore_columns ?? [])].includes(column);
  return isOther || !columns.includes(column) ? undefined : column;
}

/** The unit name of a table, or of one collection in it. */
export function unitName(table: string, value: string | undefined): string {
  return value === undefined ? table : `${table}/${value}`;
}

/** Undefined without any owner. `value`: of the column that names the collection. */
export function targetOf(
  { user, repository, separator, tables }: TriplesSpec,
  table: string,
  value?: string,
): TargetAddress | undefined {
  const [own, ofTable] = [tables?.[unitName(table, value)], tables?.[table]];
  const named = splitName(value ?? table, separator);
  const collection = own?.collection ?? named?.collection ?? value ?? table;
  const mapped = [own, ofTable].find((one) => one?.repository !== undefined || one?.user !== undefined);
  // A repository configured for this table takes precedence over a user parsed from its name.
  if (mapped?.repository !== undefined) return { repository: mapped.repository, collection };
  const owner = mapped?.user ?? named?.user ?? splitName(table, separator)?.user ?? user;
  if (owner !== undefined) return { user: owner, collection };
  return repository === undefined ? undefined : { repository, collection };
}

function splitName(
  text: string,
  separator: string | undefined,
): { readonly user: string; readonly collection: string } | undefined {
  const at = separator === undefined ? -1 : text.indexOf(separator);
  return at > 0 && separator !== undefined
    ? { user: text.slice(0, at), collection: text.slice(at + separator.length) }
    : undefined;
}
