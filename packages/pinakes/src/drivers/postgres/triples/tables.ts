/**
 * The tables of triples: five for all spaces of all tenants, however many there are.
 *
 * - Quads of the default graph are stored apart from the others: most quads are there, and need three orders instead of six.
 * - A space's rows carry its number, and its terms are numbers from its own counter; neither is ever reused. So a number, once read, always
 *   means the same text.
 * - The names of sources are interned among the terms, with a prefix that no term has.
 */
import { PinakesError } from "../../../domain/errors.ts";
import type { Database, Transaction } from "../connection.ts";
import { standbyAnswered } from "../errors.ts";
import type { Names } from "../names.ts";

const format = "1";

export interface TripleTables {
  readonly meta: string;
  readonly spaces: string;
  readonly terms: string;
  /** Orders of the default graph. */
  readonly triples: string;
  /** Orders of named graphs. */
  readonly quads: string;
  readonly supports: string;
}

export function tripleTables({ schema }: Names): TripleTables {
  const table = (name: string) => `${schema}."pinakes_${name}"`;
  return {
    meta: table("triple_meta"),
    spaces: table("triple_spaces"),
    terms: table("triple_terms"),
    triples: table("triples"),
    quads: table("quads"),
    supports: table("triple_supports"),
  };
}

/** Creates what is absent. Safe when many processes start at once; idempotent. */
export async function prepareTriples(database: Database, names: Names): Promise<TripleTables> {
  const tables = tripleTables(names);
  database.onConnect(prepareConnection);
  await database.transact(
    async (transaction) => {
      await transaction.run(
        `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(${names.lock("schema")})`,
      );
      await createTables(transaction, names, tables);
      const [row] = await transaction.query<[string]>(`SELECT value FROM ${tables.meta} WHERE name = 'format'`);
      if (row?.[0] !== format) {
        throw new PinakesError(
          "NOT_SUPPORTED",
          `The triples in ${names.schema} have format ${row?.[0] ?? "unknown"}; this version of Pinakes reads format ${format}. Update Pinakes.`,
        );
      }
      await transaction.commit();
    },
    { idempotent: true },
  );
  return tables;
}

/** Exported for tests, which check plans. */
export const connectionSettings = `
  SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
  SET enable_material = off; SET max_parallel_workers_per_gather = 0; SET jit = off; SET plan_cache_mode = force_generic_plan`;

/**
 * Every statement here is meant for one index, and says so by its order. Statistics may be absent (right after a load) or describe other
 * spaces, so sequential scans and sorts are disabled. A standby's answers may be stale: it is rejected.
 */
async function prepareConnection(connection: Transaction): Promise<void> {
  const [row] = await connection.query<[boolean]>("SELECT pg_is_in_recovery()");
  if (row?.[0] === true) throw standbyAnswered();
  await connection.run(connectionSettings);
}

/** Looked up first: IF NOT EXISTS requires the right to create even if there is nothing to do. */
async function createTables(transaction: Transaction, names: Names, tables: TripleTables): Promise<void> {
  const [found] = await transaction.query<[boolean, boolean]>(
    `SELECT to_regnamespace($1) IS NOT NULL, to_regclass($2) IS NOT NULL`,
    [names.schema, tables.meta],
  );
  const [schema, meta] = found as [boolean, boolean];
  if (meta) return;
  if (!schema) await transaction.run(`CREATE SCHEMA ${names.schema}`);
  await transaction.run(`
    CREATE TABLE ${tables.meta} (name text PRIMARY KEY, value text NOT NULL);
    INSERT INTO ${tables.meta} (name, value) VALUES ('format', '${format}');
    CREATE TABLE ${tables.spaces} (
      tenant text COLLATE "C", name text COLLATE "C", id bigint GENERATED ALWAYS AS IDENTITY, status text NOT NULL,
      next_term bigint NOT NULL DEFAULT 1, quads bigint NOT NULL DEFAULT 0, supports bigint NOT NULL DEFAULT 0, terms bigint NOT NULL DEFAULT 0,
      PRIMARY KEY (tenant, name)) WITH (fillfactor = 50);
    CREATE TABLE ${tables.terms} (space bigint, id bigint, hash bigint NOT NULL, text text COLLATE "C" NOT NULL, PRIMARY KEY (space, id));
    CREATE INDEX ON ${tables.terms} (space, hash);
    CREATE TABLE ${tables.triples} (space bigint, s bigint, p bigint, o bigint, asserted boolean NOT NULL, PRIMARY KEY (space, s, p, o));
    CREATE INDEX ON ${tables.triples} (space, p, o, s);
    CREATE INDEX ON ${tables.triples} (space, o, s, p);
    CREATE TABLE ${tables.quads} (space bigint, s bigint, p bigint, o bigint, g bigint, asserted boolean NOT NULL, PRIMARY KEY (space, s, p, o, g));
    CREATE INDEX ON ${tables.quads} (space, p, o, s, g);
    CREATE INDEX ON ${tables.quads} (space, o, s, p, g);
    CREATE INDEX ON ${tables.quads} (space, g, s, p, o);
    CREATE INDEX ON ${tables.quads} (space, g, p, o, s);
    CREATE INDEX ON ${tables.quads} (space, g, o, s, p);
    CREATE TABLE ${tables.supports} (space bigint, s bigint, p bigint, o bigint, g bigint, source bigint, part int, PRIMARY KEY (space, s, p, o, g, source, part));
    CREATE INDEX ON ${tables.supports} (space, source, s, p, o, g, part)`);
}
