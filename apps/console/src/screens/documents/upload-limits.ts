/** Checks files before the upload. The server validates types, which differ between repositories. */
import { documentStrings } from "../../strings/documents.ts";

/** The server's default: 50 × 1,048,576. */
export const fileBytesMax = 52_428_800;

export function sizeProblem({ size }: { readonly size: number }): string | undefined {
  return size > fileBytesMax ? documentStrings.upload.tooLarge(size, fileBytesMax) : undefined;
}

/** Types that only shared repositories accept. */
const sharedExtensions = new Set(
  "html htm xhtml json jsonl ndjson xml yaml yml rtf log ttl nt nq trig jsonld rdf owl rdfs".split(" "),
);

export function isSharedType(name: string): boolean {
  return sharedExtensions.has(/\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? "");
}
