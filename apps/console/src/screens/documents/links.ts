/** Links to documents and positions in them, for all screens. */
interface DocumentPlace {
  readonly rid: string;
  readonly cid: string;
  readonly did: string;
  readonly chunk?: string | undefined;
  /** Or a range in UTF-16 code units, as in citations. */
  readonly start?: number | undefined;
  readonly end?: number | undefined;
  /** The query whose words are highlighted. */
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
