/** The tool `file_search`: which stores a model answers from, and how the sources are shown. */
import { z } from "zod";
import { invalid } from "../../../../domain/errors.ts";
import type { SearchHit } from "../../../../knowledge/index.ts";
import type { Citation } from "../../../../knowledge/index.ts";
import { toAttributes } from "../metadata.ts";
import { fileIdOf } from "../search.ts";

const storesMax = 16;
const resultsMax = 50;

export const FileSearch = z.strictObject({
  type: z.literal("file_search", { error: "must be file_search; functions and other tools are not supported" }),
  vector_store_ids: z.array(z.string().min(1)).min(1).max(storesMax),
  max_num_results: z.int().min(1).max(resultsMax).nullish(),
  filters: z.unknown().optional().describe("As in searches."),
  ranking_options: z
    .strictObject({
      ranker: z.enum(["none", "auto", "default-2024-11-15"]).optional(),
      score_threshold: z.number().min(0).max(1).optional(),
    })
    .nullish(),
});
export type FileSearch = z.infer<typeof FileSearch>;

export const Tools = z.array(FileSearch).max(1, { error: "must contain at most one tool, file_search" });
export const ToolChoice = z.union([
  z.enum(["none", "auto", "required"]),
  z.strictObject({ type: z.literal("file_search") }),
]);

/** The search to run; undefined if the model answers alone. If the tool is present, it is always used. */
export function searchOf(
  tools: readonly FileSearch[] | null | undefined,
  choice: z.infer<typeof ToolChoice> | null | undefined,
): FileSearch | undefined {
  const [tool] = tools ?? [];
  const required = choice === "required" || typeof choice === "object";
  if (tool === undefined && required && choice !== null)
    throw invalid("tool_choice: requires a tool, but tools is empty.");
  return choice === "none" ? undefined : tool;
}

export interface FileCitation {
  readonly type: "file_citation";
  readonly file_id: string;
  readonly filename: string;
  /** Position of the citation in the text: after the sentence. */
  readonly index: number;
  /** The passage of the file that supports the sentence, located in its stored bytes. */
  readonly quote: string;
}

/** Each file at most once per sentence. */
export function annotationsOf(
  citations: readonly Citation[],
  hits: readonly SearchHit[],
  index: number,
): readonly FileCitation[] {
  const byFile = new Map<string, FileCitation>();
  for (const { document_id, row_id, filename, quote } of citations) {
    const hit = hits.find(({ citation }) => citation.document_id === document_id && citation.row_id === row_id);
    const file_id = hit === undefined ? `file-${document_id}` : fileIdOf(hit);
    if (!byFile.has(file_id)) byFile.set(file_id, { type: "file_citation", file_id, filename, index, quote });
  }
  return [...byFile.values()];
}

export function searchResults(hits: readonly SearchHit[]) {
  return hits.map((hit) => ({
    file_id: fileIdOf(hit),
    filename: hit.citation.filename,
    score: hit.score,
    text: hit.text,
    attributes: toAttributes(hit.metadata),
  }));
}
