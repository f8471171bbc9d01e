/** npm run bench -- triples; TRIPLES=100000 for a quick look */
import { us, median, quantile } from "./lib/measure.ts";
import { report, type Row } from "./lib/report.ts";
import { sample, triplesMax } from "./triples/data.ts";
import { loadOurs } from "./triples/ours.ts";
import type { Loaded } from "./triples/loaded.ts";
import { isBound, shapes, type Shape } from "./triples/patterns.ts";
import { loadQuadstore } from "./triples/quadstore.ts";
import { skewRows } from "./triples/skew.ts";

const rounds = 5;
const askedPerRound = 400;
const asked = sample(rounds * askedPerRound);

/** Microseconds of each question, interleaved, so that a noisy neighbour affects both. */
async function ask(shape: Shape, ours: Loaded, theirs: Loaded): Promise<{ ours: number[]; theirs: number[] }> {
  const times = { ours: [] as number[], theirs: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    const quads = asked.slice(round * askedPerRound, (round + 1) * askedPerRound);
    const rows = { ours: 0, theirs: 0 };
    for (const who of round % 2 === 0 ? (["ours", "theirs"] as const) : (["theirs", "ours"] as const)) {
      const store = who === "ours" ? ours : theirs;
      for (const quad of quads) {
        const start = performance.now();
        rows[who] += await store.ask(shape, quad);
        times[who].push((performance.now() - start) * 1_000);
      }
    }
    if (rows.ours !== rows.theirs)
      throw new Error(`${shape.name}: ours found ${rows.ours} rows, theirs ${rows.theirs}`);
  }
  return times;
}

function patternRows(
  shape: Shape,
  times: { readonly ours: readonly number[]; readonly theirs: readonly number[] },
): Row[] {
  const [p50, p95] = [median(times.ours), quantile(times.ours, 0.95)];
  const note = `ours p50 ${us(p50)} p95 ${us(p95)}, quadstore p50 ${us(median(times.theirs))} p95 ${us(quantile(times.theirs, 0.95))}`;
  return [
    {
      name: `${shape.name} p50`,
      value: p50,
      unit: "µs",
      bar: isBound(shape) ? { atMost: 50 } : null,
      note: `p95 ${us(p95)}; the first 100 rows, terms as text`,
    },
    {
      name: `${shape.name} vs quadstore`,
      value: median(times.theirs) / p50,
      unit: "×",
      bar: { atLeast: shape.bar },
      note,
    },
  ];
}

const ours = await loadOurs();
const theirs = await loadQuadstore();
const rows: Row[] = [];
for (const shape of shapes) rows.push(...patternRows(shape, await ask(shape, ours, theirs)));
const [ourBytes, theirBytes] = [await ours.close(), await theirs.close()];
report("triples", [
  {
    name: "load, durable batches of 50,000",
    value: ours.perSecond,
    unit: "/s",
    bar: { atLeast: 80_000 },
    note: `${ours.quads} distinct triples of ${triplesMax}`,
  },
  {
    name: "load vs quadstore",
    value: ours.perSecond / theirs.perSecond,
    unit: "×",
    bar: null,
    note: `theirs ${Math.round(theirs.perSecond)}/s in batches of 1,000, not synced to disk`,
  },
  {
    name: "bytes a triple on disk",
    value: ourBytes / ours.quads,
    unit: "B",
    bar: { atMost: 70 },
    note: `terms and three orders; quadstore ${Math.round(theirBytes / theirs.quads)}`,
  },
  ...rows,
  ...(await skewRows()),
]);
