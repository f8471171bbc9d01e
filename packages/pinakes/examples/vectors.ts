/** Vectors and keywords in two minutes: `npx node packages/pinakes/examples/vectors.ts`. Files are kept in data/vectors. */
import { open, tenantScope } from "pinakes";

await using pinakes = await open({ dir: "./data/vectors" });
const { vectors } = pinakes;
const scope = tenantScope("acme");

// Any embedding model will do; this toy counts letters, so that the example needs none.
const embed = (text: string): number[] =>
  Array.from({ length: 26 }, (_, i) => text.toLowerCase().split(String.fromCodePoint(97 + i)).length - 1 || 0.01);

const collection = `papers-${Date.now()}`;
await vectors.create(scope, collection, { dims: 26 });

// Rows go in as deltas, all or nothing. Acknowledged means on disk, and found by every query from then on, compacted or not.
const papers = [
  {
    id: "turing",
    text: "On computable numbers, with an application to the decision problem",
    metadata: { year: 1936, tags: ["logic"] },
  },
  { id: "shannon", text: "A mathematical theory of communication", metadata: { year: 1948, tags: ["information"] } },
  {
    id: "codd",
    text: "A relational model of data for large shared data banks",
    metadata: { year: 1970, tags: ["databases"] },
  },
];
const { session } = await vectors.append(scope, collection, {
  deltaId: "first-papers", // sent again, it changes nothing
  upsert: papers.map((paper) => ({ ...paper, vector: embed(paper.text) })),
});

// By vector, by keyword, or both: then each part is ranked, and the ranks are fused.
const { hits } = await vectors.query(scope, collection, {
  text: "computing with numbers",
  vector: embed("computing with numbers"),
  filter: { year: { lt: 1960 } },
  limit: 2,
  session, // in another process, too, this query sees that append
});
for (const { id, score, scores } of hits) console.log(id, score.toFixed(4), scores);

// Change metadata without the vector; null clears a key.
await vectors.append(scope, collection, { patch: [{ id: "codd", metadata: { read: true, tags: null } }] });
console.log((await vectors.get(scope, collection, ["codd"]))[0]?.metadata);

// A background worker folds deltas into segments; here we ask for it, look at the versions, and go back to the first one.
await vectors.compact(scope, collection);
await vectors.append(scope, collection, { delete: ["turing", "shannon", "codd"] });
console.log("after a bad day:", await vectors.count(scope, collection));
const versions = await vectors.history(scope, collection);
await vectors.restore(scope, collection, { version: versions.at(-1)?.version ?? 0 });
console.log("after the restore:", await vectors.count(scope, collection));
