/** `node vectors/peers-only.ts 10k|100k|1m [clustered|hard|text] [peer …]`: only the peers. Progress goes only to the table. */
import { sets, sizes, type SetName, type SizeName } from "./data.ts";
import { printBandwidth, printOutcomes, runPeers } from "./run.ts";

const vectorPeers = ["usearch", "lancedb", "qdrant", "pgvector"];
const textPeers = ["fts5"];

const [size = "10k", set, ...peers] = process.argv.slice(2);
if (!(size in sizes) || (set !== undefined && set !== "text" && !(set in sets))) {
  console.error(`Say ${Object.keys(sizes).join(" or ")}, then ${Object.keys(sets).join(", ")} or text, then peers.`);
  process.exit(1);
}
await printBandwidth();
const vectorSets = (set === undefined ? ["clustered"] : [set]).filter((name): name is SetName => name in sets);
for (const name of vectorSets) {
  const { rows, dims } = sizes[size as SizeName];
  const title = `${name}: ${rows} × ${dims}, one query at a time, lowest parameter with recall@10 ≥ 0.95`;
  printOutcomes(title, await runPeers(peers.length > 0 ? peers : vectorPeers, name, size as SizeName));
}
if (set === undefined || set === "text")
  printOutcomes(
    "text: 50,000 chunks of about 100 words, 3-word OR queries; recall is agreement with the reference BM25",
    await runPeers(peers.length > 0 ? peers : textPeers, "text", size as SizeName),
  );
