/** The source of a triple that a chunk of a document states: `<document>.<run>.<generation>` (RFC 0008). */
export interface GraphSource {
  readonly documentId: string;
  readonly run: number;
  readonly generation: number;
}

/** Undefined for a source that is not a document. */
export function readSource(source: string): GraphSource | undefined {
  const [, documentId, run, generation] = /^(.+)\.(\d+)\.(\d+)$/.exec(source) ?? [];
  return documentId === undefined ? undefined : { documentId, run: Number(run), generation: Number(generation) };
}
