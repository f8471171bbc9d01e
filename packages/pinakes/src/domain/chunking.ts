/** How a document is split into chunks: the settings as stored, and a chunk as created. */
export type { ChunkingStrategy, ChunkingType } from "@pinakes/client";

export interface Chunk {
  readonly index: number;
  /** Exactly `text.slice(start, end)` of the document's text, so that a citation can be checked. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly page?: number;
  /** The heading path, joined by " > ". */
  readonly section?: string;
  /** First and last record of a table. */
  readonly rows?: readonly [number, number];
  /** Context of the chunk (headings, a table's header): embedded with it, but not part of its text. */
  readonly context?: string;
}
