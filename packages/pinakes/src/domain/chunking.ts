/** How a document is cut into passages: the settings as they are stored, and a passage as it is made. */
export const chunkingTypes = ["FIXED", "RECURSIVE", "TOKEN", "SENTENCE", "MARKDOWN", "SEMANTIC", "NONE"] as const;
export type ChunkingType = (typeof chunkingTypes)[number];

export interface ChunkingStrategy {
  readonly type: ChunkingType;
  /** What `chunk_size` and `chunk_overlap` count. */
  readonly unit: "char" | "token";
  readonly chunk_size: number;
  readonly chunk_overlap: number;
  /** RECURSIVE: tried in this order. */
  readonly separators?: readonly string[];
  /** SEMANTIC: 0…1; a new passage begins where neighbouring sentences are less alike than this. */
  readonly threshold?: number;
}

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
