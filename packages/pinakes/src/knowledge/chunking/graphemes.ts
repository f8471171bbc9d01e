/**
 * Where a text may be cut without splitting a grapheme cluster (é as e + accent, flags, families of emoji). Intl.Segmenter knows, but
 * querying it at every position of 50 MB is slow: code units that never combine are recognized by ranges, and only the rest is segmented,
 * from the nearest preceding character that certainly begins a cluster.
 */
const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

const zeroWidthJoiner = 0x200d;
/** The longest chunk in characters; a longer cluster (endless accents) is cut anyway. */
const lookbackCharsMax = 10_000;

/** Letters and signs that begin a cluster and never join what precedes them, as inclusive pairs: most written text. */
const plainRanges = [
  [0x0000, 0x02ff], // Latin, digits, punctuation, spaces
  [0x0400, 0x0482], // Cyrillic
  [0x05d0, 0x05ea], // Hebrew letters
  [0x0621, 0x064a], // Arabic letters
  [0x0e01, 0x0e30], // Thai consonants
  [0x2010, 0x2027], // dashes, quotes, bullets, the ellipsis
  [0x3000, 0x3029], // ideographic space and punctuation
  [0x3041, 0x3096], // Hiragana
  [0x30a0, 0x30ff], // Katakana
  [0x3400, 0x9fff], // Han
  [0xff01, 0xff9d], // full width forms
] as const;

/** One byte per code unit: some texts query this for every character. */
const plain = new Uint8Array(0x1_0000);
for (const [first, last] of plainRanges) plain.fill(1, first, last + 1);

function isPlain(code: number): boolean {
  return plain[code] === 1;
}

/** Start of the cluster that contains `position`: `position` itself where a cut is safe. `floor` is known to be safe. */
export function characterStart(text: string, position: number, floor: number): number {
  if (position <= floor || position >= text.length) return position;
  if (isPlain(text.charCodeAt(position)) && isPlain(text.charCodeAt(position - 1))) return position;
  const earliest = Math.max(floor, codePointStart(text, position - lookbackCharsMax));
  let from = position - 1;
  while (from > earliest && !beginsCharacter(text, from)) from -= 1;
  const segment = graphemes.segment(text.slice(from, position + 2)).containing(position - from);
  if (segment === undefined) return position;
  // The cluster begins where the lookup began. A few signs (Arabic number marks) join what follows them, so check that position too.
  if (segment.index === 0 && from > floor && beginsCharacter(text, from)) return characterStart(text, from, floor);
  return from + segment.index;
}

export function isSafeCut(text: string, position: number, floor: number): boolean {
  return characterStart(text, position, floor) === position;
}

function beginsCharacter(text: string, position: number): boolean {
  const code = text.charCodeAt(position);
  if (isPlain(code)) return true;
  // Emoji: after a joiner they belong to it; skin tones (1F3FB…1F3FF) and flag letters (1F1E6…1F1FF) always look back.
  if (code < 0xd83c || code > 0xd83e || text.charCodeAt(position - 1) === zeroWidthJoiner) return false;
  const point = text.codePointAt(position) ?? 0;
  return point >= 0x1f300 && point <= 0x1faff && !(point >= 0x1f3fb && point <= 0x1f3ff);
}

/** The same for code points: never between the halves of a surrogate pair. */
export function codePointStart(text: string, position: number): number {
  const splits = (text.charCodeAt(position) & 0xfc00) === 0xdc00 && (text.charCodeAt(position - 1) & 0xfc00) === 0xd800;
  return splits ? position - 1 : position;
}
