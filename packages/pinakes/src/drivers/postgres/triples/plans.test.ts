/** Which rows PostgreSQL examines: its plans right after a load, and with statistics that describe other spaces. */
import { expect, it } from "vitest";
import { iri, type Quad } from "../../../domain/rdf.ts";
import type { QuadPattern, TripleStore } from "../../../ports/triple-store.ts";
import { Names } from "../names.ts";
import { scope, TestDatabases } from "../test-databases.ts";
import { openPostgresTriples } from "./index.ts";
import { matchSql } from "./match.ts";
import { ofSourceSql } from "./of-source.ts";
import { scansOf } from "./scans.ts";
import { connectionSettings, tripleTables } from "./tables.ts";

const databases = new TestDatabases();
const limit = 5;

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Filter?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly Plans?: readonly PlanNode[];
}

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

/** All 16 of a quad, with the default graph, a named one, or any. */
function patterns({ s, p, o, g }: Quad): QuadPattern[] {
  return Array.from({ length: 24 }, (_, i) => ({
    ...(i & 1 ? { s } : {}),
    ...(i & 2 ? { p } : {}),
    ...(i & 4 ? { o } : {}),
    ...(i < 8 ? {} : { g: i < 16 ? "" : g }),
  }));
}

async function load(triples: TripleStore, space: string, rows: readonly Quad[]): Promise<void> {
  await triples.open(scope, space);
  await triples.write(scope, space, { insert: rows });
}

async function checkPlans(database: string, space: string, quad: Quad): Promise<void> {
  const raw = await databases.raw();
  await raw.query(connectionSettings);
  const tables = tripleTables(new Names(database));
  for (const pattern of patterns(quad)) {
    const { text, values } = matchSql(tables, { tenant: scope.tenant, space }, pattern, limit);
    const { rows } = await raw.query<{ "QUERY PLAN": { Plan: PlanNode }[] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
      values,
    );
    const nodes = rows.flatMap((row) => row["QUERY PLAN"]).flatMap(({ Plan }) => nodesOf(Plan));
    const told = `${JSON.stringify(pattern)} ${JSON.stringify(nodes, null, 1)}`;
    for (const kind of [
      "Seq Scan",
      "Sort",
      "Incremental Sort",
      "Bitmap Heap Scan",
      "Bitmap Index Scan",
      "Hash Join",
      "Merge Join",
    ])
      expect(
        nodes.map((node) => node["Node Type"]),
        told,
      ).not.toContain(kind);
    const scans = nodes.filter((node) => /^pinakes_(triples|quads)$/.test(node["Relation Name"] ?? ""));
    expect(scans.length, told).toBe(scansOf(pattern).length);
    // The index whose columns are the order, both bounds inside it, no row filtered out, and none examined beyond the page.
    for (const [i, { order }] of scansOf(pattern).entries()) {
      const scan = scans[i] as PlanNode;
      expect(scan["Index Name"], told).toMatch(new RegExp(`_space_${order.join("_")}_idx$|_pkey$`));
      if (scan["Index Name"]?.endsWith("_pkey") === true) expect(order.slice(0, 3), told).toEqual(["s", "p", "o"]);
      expect(scan["Index Cond"]?.match(/[<>]=?/g)?.length, told).toBe(2);
      expect(scan.Filter, told).toBeUndefined();
      expect(scan["Actual Rows"] * scan["Actual Loops"], told).toBeLessThanOrEqual(limit + 1);
    }
  }
}

it("R-TG-81 R-TG-89 every pattern is one range of the index in its order, right after a load without statistics", async () => {
  const database = databases.fresh();
  await using triples = await openPostgresTriples({ url: databases.server.url, database });
  const raw = await databases.raw();
  for (const table of ["triples", "quads", "triple_terms"])
    await raw.query(`ALTER TABLE "${database}".pinakes_${table} SET (autovacuum_enabled = off)`);
  const rows = Array.from({ length: 3_000 }, (_, i) => ({
    s: iri(`s${i % 300}`),
    p: iri(`p${i % 7}`),
    o: iri(`o${i % 110}`),
    g: i % 2 === 0 ? "" : iri(`g${i % 3}`),
  }));
  await load(triples, "a", rows);
  await checkPlans(database, "a", { ...(rows[11] as Quad), g: iri("g1") });
});

it("R-TG-81 what a source supports is one range of the index by source, from its beginning and from a position, whatever statistics say", async () => {
  const database = databases.fresh();
  await using triples = await openPostgresTriples({ url: databases.server.url, database });
  const raw = await databases.raw();
  await raw.query(connectionSettings);
  await triples.open(scope, "a");
  const rows = Array.from({ length: 2_000 }, (_, i) => ({
    s: iri(`s${i % 50}`),
    p: iri("p"),
    o: iri(`o${i}`),
    g: i % 2 === 0 ? "" : iri("g"),
  }));
  await triples.write(scope, "a", { insert: rows, source: { source: "large", part: 0 } });
  for (const part of [0, 1])
    await triples.write(scope, "a", { insert: rows.slice(0, 40), source: { source: "doc", part } });
  const tables = tripleTables(new Names(database));
  const { rows: found } = await raw.query<{ space: string; id: string }>(
    `SELECT space, id FROM ${tables.terms} WHERE text = '!doc'`,
  );
  const [space, source] = [Number(found[0]?.space), Number(found[0]?.id)];
  for (const analyzed of [false, true]) {
    if (analyzed) await raw.query(`ANALYZE ${tables.supports}`);
    for (const after of [undefined, [1, 1, 1, 0, 1] as [number, number, number, number, number]]) {
      const { text, values } = ofSourceSql(tables, space, source, limit, after);
      const plan = await raw.query<{ "QUERY PLAN": { Plan: PlanNode }[] }>(
        `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
        values,
      );
      const nodes = plan.rows.flatMap((row) => row["QUERY PLAN"]).flatMap(({ Plan }) => nodesOf(Plan));
      const told = JSON.stringify(nodes, null, 1);
      expect(nodes, told).toHaveLength(2);
      const scan = nodes[1] as PlanNode;
      expect(scan["Index Name"], told).toMatch(/_space_source_s_p_o_g_part_idx$/);
      expect(scan["Index Cond"]?.match(/[<>]=?/g)?.length, told).toBe(2);
      expect(scan.Filter, told).toBeUndefined();
      expect(scan["Actual Rows"], told).toBe(limit);
    }
  }
});

it("R-TG-81 R-TG-90 statistics of a large space of another shape do not mislead the planner to another index", async () => {
  const database = databases.fresh();
  await using triples = await openPostgresTriples({ url: databases.server.url, database });
  const raw = await databases.raw();
  // One subject, one predicate: by these statistics any index is as good as any other.
  await load(
    triples,
    "large",
    Array.from({ length: 20_000 }, (_, i) => ({
      s: iri("s"),
      p: iri("p"),
      o: iri(`o${i}`),
      g: i % 2 === 0 ? "" : iri("g"),
    })),
  );
  const rows = Array.from({ length: 500 }, (_, i) => ({
    s: iri(`s${i % 50}`),
    p: iri(`p${i % 7}`),
    o: iri(`o${i % 11}`),
    g: i % 2 === 0 ? "" : iri(`g${i % 3}`),
  }));
  await load(triples, "small", rows);
  for (const table of ["triples", "quads", "triple_terms", "triple_spaces"])
    await raw.query(`ANALYZE "${database}".pinakes_${table}`);
  await checkPlans(database, "small", { ...(rows[11] as Quad), g: iri("g1") });
  await checkPlans(database, "large", { s: iri("s"), p: iri("p"), o: iri("o17"), g: iri("g") });
});
