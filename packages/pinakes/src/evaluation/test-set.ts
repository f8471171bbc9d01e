/** A tiny test set for tests: ten documents, four queries, written as a folder in BEIR layout. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

const corpus = [
  ["d1", "Bees", "Honey bees tell each other by a dance where flowers are."],
  ["d2", "Volcanoes", "A volcano erupts when magma reaches the surface."],
  ["d3", "Bread", "Yeast makes the dough of bread rise."],
  ["d4", "Tides", "The moon's gravity moves the sea, twice a day."],
  ["d5", "Glass", "Sand is melted to make the panes of windows."],
  ["d6", "Chess", "A queen moves along ranks, files and diagonals."],
  ["d7", "Vaccines", "A vaccine prepares the immune system for a disease."],
  ["d8", "Trains", "Steel wheels on steel rails roll with little friction."],
  ["d9", "Ink", "Iron gall ink was made of oak galls."],
  ["d10", "Batteries", "Lithium moves between two electrodes when a battery is charged."],
] as const;

const queries = [
  ["q1", "how do bees tell where flowers are"],
  ["q2", "what makes the ocean rise and fall"],
  ["q3", "eruption of a volcano"],
  ["q4", "a query that nobody judged"],
] as const;

/** q2 shares no word with its document. */
const judgements = [
  ["q1", "d1", "2"],
  ["q1", "d3", "0"],
  ["q2", "d4", "1"],
  ["q3", "d2", "1"],
] as const;

export interface SetFiles {
  readonly corpus: string;
  readonly queries: string;
  readonly test: string;
}

export const tinySet: SetFiles = {
  corpus: corpus.map(([_id, title, text]) => JSON.stringify({ _id, title, text })).join("\n"),
  queries: queries.map(([_id, text]) => JSON.stringify({ _id, text })).join("\n"),
  test: ["query-id\tcorpus-id\tscore", ...judgements.map((row) => row.join("\t"))].join("\n"),
};

export async function writeSet(folder: string, files: Partial<SetFiles>): Promise<string> {
  await mkdir(join(folder, "qrels"), { recursive: true });
  if (files.corpus !== undefined) await writeFile(join(folder, "corpus.jsonl"), files.corpus);
  if (files.queries !== undefined) await writeFile(join(folder, "queries.jsonl"), files.queries);
  if (files.test !== undefined) await writeFile(join(folder, "qrels", "test.tsv"), files.test);
  return folder;
}
