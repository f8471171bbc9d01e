/** Splits a text at chunk boundaries, for highlighting. Pure. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Piece extends Span {
  readonly text: string;
  /** Number of covering chunks, and whether the first has an odd index: neighbours alternate in colour. */
  readonly chunks: number;
  readonly odd: boolean;
  readonly chosen: boolean;
}

/** `text` starts at offset `from` of the whole text. Chunks are sorted by start. */
export function piecesOf(
  text: string,
  from: number,
  chunks: readonly (Span & { readonly index: number })[],
  chosen: Span | undefined,
): readonly Piece[] {
  const to = from + text.length;
  const touching = chunks.filter(({ start, end }) => start < to && end > from);
  const places = [
    from,
    to,
    ...touching.flatMap(({ start, end }) => [start, end]),
    ...(chosen === undefined ? [] : [chosen.start, chosen.end]),
  ];
  const cuts = [...new Set(places)].filter((place) => place >= from && place <= to).sort((a, b) => a - b);
  let first = 0;
  return cuts.slice(1).map((end, i) => {
    const start = cuts[i] as number;
    while (first < touching.length && (touching[first] as Span).end <= start) first += 1;
    const covering = coveringAt(touching, first, start);
    return {
      start,
      end,
      text: text.slice(start - from, end - from),
      chunks: covering.length,
      odd: (covering[0]?.index ?? 0) % 2 === 1,
      chosen: chosen !== undefined && chosen.start <= start && chosen.end >= end,
    };
  });
}

function coveringAt<Chunk extends Span>(touching: readonly Chunk[], first: number, place: number): readonly Chunk[] {
  const covering: Chunk[] = [];
  for (let i = first; i < touching.length; i += 1) {
    const chunk = touching[i] as Chunk;
    if (chunk.start > place) break;
    if (chunk.end > place) covering.push(chunk);
  }
  return covering;
}
