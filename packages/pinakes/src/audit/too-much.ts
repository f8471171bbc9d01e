/** When such a large part of a collection is missing or unknown that a wrong store is more likely than damage (RFC 0016). */
import type { FindingKind, Findings } from "./finding.ts";
import { auditLimits } from "./limits.ts";

interface TooMuch {
  readonly kinds: readonly FindingKind[];
  readonly detail: string;
}

/** More than a handful, and more than the allowed share. */
export function isTooMuch(count: number, all: number): boolean {
  return count > auditLimits.missingMin && count > all * auditLimits.missingShareMax;
}

/** From the findings of a dry run over one collection. */
export function tooMuch({ kept, counts, checked }: Findings): readonly TooMuch[] {
  const refused: TooMuch[] = [];
  const lost = new Set(
    kept
      .filter(({ kind }) => kind === "record_without_object" || kind === "document_without_vectors")
      .map((one) => one.document_id),
  );
  if (isTooMuch(lost.size, checked.documents)) {
    const detail = `${lost.size} of ${checked.documents} documents seem to be missing. Is this the right object store? See pinakes stores show.`;
    refused.push({ kinds: ["record_without_object", "document_without_vectors", "manifest_broken"], detail });
  }
  const files = counts.object_without_record ?? 0;
  if (isTooMuch(files, checked.objects))
    refused.push({
      kinds: ["object_without_record"],
      detail: `${files} of ${checked.objects} files are named by no record: too many to remove.`,
    });
  for (const kind of ["vectors_without_document", "triples_without_support_source"] as const) {
    const strays = counts[kind] ?? 0;
    if (isTooMuch(strays, strays + checked.documents))
      refused.push({
        kinds: [kind],
        detail: `${strays} runs have data that no record names, compared with ${checked.documents} documents: too many to remove.`,
      });
  }
  return refused;
}
