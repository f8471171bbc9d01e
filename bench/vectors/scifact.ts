/** Keyword search on real text: SciFact (BEIR layout) in ../shared/data/scifact, or SCIFACT=folder. No model is needed for BM25. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Row } from "../lib/report.ts";
import { open, tenantScope } from "../../packages/pinakes/src/index.ts";

const folder = process.env["SCIFACT"] ?? fileURLToPath(new URL("../../../shared/data/scifact", import.meta.url));

export async function scifactRows(): Promise<Row[]> {
  if (!existsSync(`${folder}/corpus.jsonl`)) {
    console.log(`\nSciFact is not in ${folder}: NOT MEASURED.`);
    return [];
  }
  const lines = (file: string): Record<string, string>[] =>
    readFileSync(`${folder}/${file}`, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, string>);
  const judged = new Map<string, Map<string, number>>();
  for (const line of readFileSync(`${folder}/qrels/test.tsv`, "utf8").trim().split("\n").slice(1)) {
    const [query = "", document = "", grade = "0"] = line.split("\t");
    judged.set(query, (judged.get(query) ?? new Map<string, number>()).set(document, Number(grade)));
  }
  const pinakes = await open({ items: "memory:", objects: "memory:", background: false });
  const scope = tenantScope("bench");
  await pinakes.vectors.create(scope, "scifact", { dims: 2 });
  const corpus = lines("corpus.jsonl").map((row) => ({
    id: row["_id"] ?? "",
    vector: [1, 0],
    text: `${row["title"] ?? ""} ${row["text"] ?? ""}`,
  }));
  await pinakes.vectors.append(scope, "scifact", { upsert: corpus });
  await pinakes.vectors.compact(scope, "scifact");
  let sum = 0;
  for (const query of lines("queries.jsonl").filter((row) => judged.has(row["_id"] ?? ""))) {
    const { hits } = await pinakes.vectors.query(scope, "scifact", { text: query["text"] ?? "", limit: 10 });
    sum += ndcg(
      hits.map(({ id }) => id),
      judged.get(query["_id"] ?? "") ?? new Map<string, number>(),
    );
  }
  await pinakes.close();
  return [
    {
      name: "SciFact, keywords only: nDCG@10",
      value: sum / judged.size,
      unit: "",
      bar: null,
      note: `${judged.size} judged queries, ${corpus.length} abstracts; a plain BM25 reaches 0.677 (shared/data/README.md)`,
    },
  ];
}

function ndcg(ids: readonly string[], grades: ReadonlyMap<string, number>): number {
  const gain = (list: readonly number[]): number => list.reduce((sum, grade, i) => sum + grade / Math.log2(i + 2), 0);
  const ideal = gain([...grades.values()].sort((a, b) => b - a).slice(0, 10));
  return ideal === 0 ? 0 : gain(ids.map((id) => grades.get(id) ?? 0)) / ideal;
}
