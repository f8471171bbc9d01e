/** Previews the chunking of a text. Nothing is stored. */
import { queryOptions } from "@tanstack/react-query";
import { post } from "./request.ts";

export interface Piece {
  readonly index: number;
  readonly text: string;
  /** UTF-16 code units into the text that was sent. */
  readonly start: number;
  readonly end: number;
  readonly section?: string;
}

export function chunkingPreviewOptions(text: string, strategy: object) {
  return queryOptions({
    queryKey: ["chunking-preview", strategy, text],
    queryFn: ({ signal }) =>
      post<{ readonly chunks: readonly Piece[]; readonly count: number }>(
        "/v1/chunking:preview",
        { text, chunking_strategy: strategy },
        { signal },
      ),
    staleTime: Infinity,
    retry: false,
  });
}
