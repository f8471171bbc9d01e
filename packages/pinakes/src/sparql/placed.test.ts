/** R-TG-125 of many requests at once: places, memory in sum, turns of the event loop, and clients that go away. */
import { describe, expect, it } from "vitest";
import { PinakesError } from "../domain/errors.ts";
import type { Quad } from "../domain/rdf.ts";
import { QuerySlots } from "../domain/query-slots.ts";
import { Budget } from "./budget.ts";
import { defaultSparqlLimits } from "./limits.ts";
import { createSparql } from "./sparql.ts";
import { testQuads } from "./test-quads.ts";
import type { SparqlResult } from "./types.ts";

const many: readonly Quad[] = Array.from({ length: 200 }, (_, i) => ({
  s: `<http://x/${i}>`,
  p: "<http://x/p>",
  o: `"${i}"`,
  g: "",
}));
const source = testQuads(many, { pageQuads: 1_000 });
const endless = "SELECT (COUNT(*) AS ?c) { ?a ?b ?c1 . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }";
const sparql = createSparql();
const megabyte = 1_048_576;
const bounds = {
  placesMax: 4,
  placesPerTenantMax: 2,
  waitingPerTenantMax: 3,
  memoryBytesMax: 8 * megabyte,
  memoryPerTenantBytesMax: 4 * megabyte,
};
const rowsOf = (result: SparqlResult) => {
  if (result.kind !== "bindings") throw new Error(`${result.kind} is no table`);
  return result.rows;
};

describe("R-TG-125 many requests at once", () => {
  it("fifty joins without end: so many run, so many wait, the rest is refused; another tenant is answered meanwhile", async () => {
    const places = new QuerySlots(bounds, () => new AbortController().signal);
    const stop = new AbortController();
    let most = 0;
    const run = async (tenant: string, text: string, signal?: AbortSignal) => {
      const result = await sparql.query(source, text, {
        signal,
        limits: { timeoutMs: 300_000 },
        enter: () => places.enter(tenant, signal),
      });
      return Array.fromAsync(rowsOf(result));
    };
    const ends = Array.from({ length: 50 }, () =>
      run("greedy", endless, stop.signal).then(
        () => "answered",
        (error: unknown) => (PinakesError.isInstance(error) ? error.code : "stopped"),
      ),
    );
    const look = () => (most = Math.max(most, places.usage.bytes));
    const watching = setInterval(look, 1);
    for (let i = 0; i < 5; i += 1) expect(await run("modest", "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")).toHaveLength(1);
    expect(places.usage).toMatchObject({ places: bounds.placesPerTenantMax, waiting: bounds.waitingPerTenantMax });
    // However fast the others were answered: a join that runs holds something sooner or later.
    while (look() === 0) await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    const told = await Promise.all(ends);
    clearInterval(watching);
    expect(told.filter((end) => end === "THROTTLED")).toHaveLength(50 - bounds.placesPerTenantMax);
    expect(told.filter((end) => end === "stopped")).toHaveLength(bounds.placesPerTenantMax);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(bounds.memoryPerTenantBytesMax);
    expect(places.usage).toEqual({ places: 0, waiting: 0, bytes: 0 });
  });

  it("memory in sum: who would pass it is refused and gives back all of it", async () => {
    const places = new QuerySlots({ ...bounds, memoryPerTenantBytesMax: 10_000 }, () => new AbortController().signal);
    const sort = sparql.query(source, "SELECT * { ?s ?p ?o } ORDER BY ?o", { enter: () => places.enter("a") });
    await expect(Array.fromAsync(rowsOf(await sort))).rejects.toMatchObject({ code: "THROTTLED", status: 429 });
    expect(places.usage).toEqual({ places: 0, waiting: 0, bytes: 0 });
  });

  it("heldBytesMax: what one request keeps, at the limit and one past it", async () => {
    const kept = "SELECT DISTINCT ?o { ?s ?p ?o }";
    // A key has its length before it: "1:" or "2:" and so on, and a row counts for 96 bytes beside it.
    const bytes = many.reduce((sum, { o }) => sum + 96 + `${o.length}:${o}`.length, 0);
    const ask = async (heldBytesMax: number) =>
      Array.fromAsync(rowsOf(await sparql.query(source, kept, { limits: { heldBytesMax } })));
    expect(await ask(bytes)).toHaveLength(many.length);
    await expect(ask(bytes - 1)).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      message: expect.stringContaining("heldBytesMax") as string,
    });
  });

  it("a reader that stops reading keeps its place until its time is over, and is then told", async () => {
    const places = new QuerySlots(bounds, () => new AbortController().signal);
    const result = await sparql.query(source, "SELECT * { ?a ?b ?c . ?d ?e ?f } ORDER BY ?c LIMIT 5000", {
      limits: { timeoutMs: 2_000 },
      enter: () => places.enter("a"),
    });
    expect(places.usage.places).toBe(0);
    const rows = rowsOf(result)[Symbol.asyncIterator]();
    expect((await rows.next()).done).toBe(false);
    expect(places.usage.places).toBe(1);
    expect(places.usage.bytes).toBeGreaterThan(0);
    await expect.poll(() => places.usage).toEqual({ places: 0, waiting: 0, bytes: 0 });
    const rest = async () => {
      for (let next = await rows.next(); next.done !== true; next = await rows.next());
    };
    await expect(rest()).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
  });

  it("a reader that goes away gives its place back", async () => {
    const places = new QuerySlots(bounds, () => new AbortController().signal);
    for (const text of ["SELECT * { ?a ?b ?c . ?d ?e ?f }", "CONSTRUCT { ?a ?b ?f } { ?a ?b ?c . ?d ?e ?f }"]) {
      const result = await sparql.query(source, text, { enter: () => places.enter("a") });
      for await (const _ of result.kind === "quads" ? result.quads : rowsOf(result)) break;
      expect(places.usage).toEqual({ places: 0, waiting: 0, bytes: 0 });
    }
    const gone = new AbortController();
    const asked = sparql.query(
      source,
      "ASK { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(CONCAT(STR(?c), STR(?f), STR(?i)) = 'no') }",
      {
        signal: gone.signal,
        enter: () => places.enter("a"),
      },
    );
    await expect.poll(() => places.usage.places).toBe(1);
    gone.abort();
    await expect(asked).rejects.toThrow();
    expect(places.usage).toEqual({ places: 0, waiting: 0, bytes: 0 });
  });

  it("one slice runs in each turn of the event loop, however many requests there are", async () => {
    const slices: number[] = [];
    let turn = 0;
    let running = true;
    const loop = async () => {
      for (; running; turn += 1) await new Promise(setImmediate);
    };
    const request = async () => {
      const budget = new Budget({ ...defaultSparqlLimits, timeoutMs: 300_000 }, undefined);
      for (let i = 0; i < 5; i += 1) {
        await budget.pause();
        slices.push(turn);
      }
    };
    const looping = loop();
    await Promise.all(Array.from({ length: 10 }, request));
    running = false;
    await looping;
    expect(slices).toHaveLength(50);
    expect(new Set(slices).size).toBe(50);
  });
});
