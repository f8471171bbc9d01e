/** The address of a document, and of a place in it. All screens that point at a chunk use this. */
interface DocumentPlace {
  readonly rid: string;
  readonly cid: string;
  readonly did: string;
  /** The chunk to show. */
  readonly chunk?: string | undefined;
  /** Or a place in the text, in UTF-16 code units, as citations have it. */
  readonly start?: number | undefined;
  readonly end?: number | undefined;
  /** The question that led there: its words stand out. */
  readonly q?: string | undefined;
}

/** For <Link {...documentLink({ … })}> and navigate(documentLink({ … })). */
export function documentLink({ rid, cid, did, chunk, start, end, q }: DocumentPlace) {
  return {
    to: "/collections/$rid/$cid/documents/$did",
    params: { rid, cid, did },
    search: { chunk, start, end, q },
  } as const;
}
