/** How a document is cut into passages: the settings as they are stored, and a passage as it is made. */
export type { ChunkingStrategy, ChunkingType } from "@pinakes/client";

export interface Chunk {
  readonly index: number;
  /** Exactly `text.slice(start, end)` of the document's text, so that a citation can be checked. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly page?: number;
  /** The path of headings, joined by " > ". */
  readonly section?: string;
  /** First and last record of a table. */
  readonly rows?: readonly [number, number];
  /** What is said about the passage around it (headings, a table's header): embedded with it, not part of its text. */
  readonly context?: string;
}
