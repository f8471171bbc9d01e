/** Verifies citations: the quote at its position in the cited version. */
import type { CitationCheck } from "@pinakes/client";
import { invalid } from "../../domain/errors.ts";
import { tolerate } from "../../runtime/expected-errors.ts";
import { knowledgeLimits } from "../limits.ts";
import type { DocumentRecord } from "../records/records.ts";

/** Of a chunk of a document; a row is verified by `row_id`. */
export interface DocumentCitationToVerify {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly document_id: string;
  readonly version: number;
  readonly start: number;
  readonly end: number;
  readonly quote: string;
}

export interface RowCitationToVerify {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly row_id: string;
  readonly quote: string;
}

export type CitationToVerify = DocumentCitationToVerify | RowCitationToVerify;

export type { CitationCheck };

/** Reads of what is verified, with the caller's access. */
interface Finders {
  readonly document: (
    citation: DocumentCitationToVerify,
  ) => Promise<{ readonly record: DocumentRecord; readonly text: string | undefined }>;
  /** The text of a row; undefined if there is no such row. */
  readonly row: (citation: RowCitationToVerify) => Promise<string | undefined>;
}

export async function verifyCitations(
  citations: readonly CitationToVerify[],
  find: Finders,
): Promise<readonly CitationCheck[]> {
  if (citations.length > knowledgeLimits.citationsMax)
    throw invalid(`citations: at most ${knowledgeLimits.citationsMax} per request.`);
  return Promise.all(
    citations.map((citation) =>
      isOfRow(citation) ? verifyRow(citation, find.row) : verifyCitation(citation, find.document),
    ),
  );
}

function isOfRow(citation: CitationToVerify): citation is RowCitationToVerify {
  return "row_id" in citation && citation.row_id !== undefined;
}

/** A row has no versions: only its current text can be compared. */
async function verifyRow(citation: RowCitationToVerify, find: Finders["row"]): Promise<CitationCheck> {
  const text = await orHidden(find(citation));
  if (text === undefined) return { valid: false, result: "row_gone", current: false };
  const valid = citation.quote !== "" && text.includes(citation.quote);
  return { valid, result: valid ? "exact" : "not_in_row", current: true };
}

/** A collection that the caller may not see answers like one that does not exist. */
async function orHidden<Found>(finding: Promise<Found>): Promise<Found | undefined> {
  return tolerate(finding, "NOT_FOUND", "FORBIDDEN");
}

async function verifyCitation(citation: DocumentCitationToVerify, find: Finders["document"]): Promise<CitationCheck> {
  const found = await orHidden(find(citation));
  if (found === undefined) return { valid: false, result: "document_gone", current: false };
  const current = found.record.live?.version === citation.version;
  if (found.text === undefined) return { valid: false, result: "version_gone", current };
  const { quote, start, end } = citation;
  if (quote !== "" && found.text.slice(start, end).includes(quote)) return { valid: true, result: "exact", current };
  const at = quote === "" ? -1 : found.text.indexOf(quote);
  return at === -1
    ? { valid: false, result: "not_in_document", current }
    : { valid: false, result: "moved", current, found_at: at };
}
