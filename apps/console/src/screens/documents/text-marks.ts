/** Cuts a text where passages begin and end, so that each piece can be tinted by what covers it. Pure. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Piece extends Span {
  readonly text: string;
  /** How many passages cover it, and whether the first of them has an odd place: neighbours are tinted in turns. */
  readonly passages: number;
  readonly odd: boolean;
  readonly chosen: boolean;
}

/** `text` begins at `from` of the whole text, in which all places are counted. Passages come in the order of their beginnings. */
export function piecesOf(
  text: string,
  from: number,
  passages: readonly (Span & { readonly index: number })[],
  chosen: Span | undefined,
): readonly Piece[] {
  const to = from + text.length;
  const touching = passages.filter(({ start, end }) => start < to && end > from);
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
      passages: covering.length,
      odd: (covering[0]?.index ?? 0) % 2 === 1,
      chosen: chosen !== undefined && chosen.start <= start && chosen.end >= end,
    };
  });
}

function coveringAt<Passage extends Span>(
  touching: readonly Passage[],
  first: number,
  place: number,
): readonly Passage[] {
  const covering: Passage[] = [];
  for (let i = first; i < touching.length; i += 1) {
    const passage = touching[i] as Passage;
    if (passage.start > place) break;
    if (passage.end > place) covering.push(passage);
  }
  return covering;
}
