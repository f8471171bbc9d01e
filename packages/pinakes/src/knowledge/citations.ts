/** Whether what was cited stands there: the words, at their place, in the version that was cited. */
import { PinakesError, invalid } from "../domain/errors.ts";
import { knowledgeLimits } from "./limits.ts";
import type { DocumentRecord } from "./model/records.ts";

export interface CitationToVerify {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly document_id: string;
  readonly version: number;
  readonly start: number;
  readonly end: number;
  readonly quote: string;
}

export interface CitationCheck {
  readonly valid: boolean;
  /** `exact`; or why not: the words stand elsewhere, not at all, or the document or version is gone. */
  readonly result: "exact" | "moved" | "not_in_document" | "version_gone" | "document_gone";
  /** Whether searches still show this version. */
  readonly current: boolean;
  /** Where the words stand now, when they moved. */
  readonly found_at?: number;
}

type Find = (citation: CitationToVerify) => Promise<{ readonly record: DocumentRecord; readonly text: string | undefined }>;

/** Of each, whether it stands; `find` looks as the caller does. */
export async function verifyCitations(citations: readonly CitationToVerify[], find: Find): Promise<readonly CitationCheck[]> {
  if (citations.length > knowledgeLimits.citationsMax) throw invalid(`citations: at most ${knowledgeLimits.citationsMax} at once.`);
  return Promise.all(citations.map((citation) => verifyCitation(citation, find)));
}

async function verifyCitation(citation: CitationToVerify, find: Find): Promise<CitationCheck> {
  let found: Awaited<ReturnType<Find>>;
  try {
    found = await find(citation);
  } catch (error) {
    // A collection that the caller may not see answers as one that is not there.
    if (PinakesError.isInstance(error) && (error.code === "NOT_FOUND" || error.code === "FORBIDDEN"))
      return { valid: false, result: "document_gone", current: false };
    throw error;
  }
  const current = found.record.live?.version === citation.version;
  if (found.text === undefined) return { valid: false, result: "version_gone", current };
  const { quote, start, end } = citation;
  if (quote !== "" && found.text.slice(start, end).includes(quote)) return { valid: true, result: "exact", current };
  const at = quote === "" ? -1 : found.text.indexOf(quote);
  return at === -1 ? { valid: false, result: "not_in_document", current } : { valid: false, result: "moved", current, found_at: at };
}
