/**
 * Which words of a passage are words of the question. The server compares stems of the collection's language; here a few common English
 * endings are cut off, which is near enough to point a reader to the place.
 */
export interface TextPart {
  readonly text: string;
  readonly found: boolean;
}

const wordPattern = /[\p{L}\p{N}]+/gu;
const endings = /(?:ings?|edly|ed|es|s|ly|e)$/;
const stemCharsMin = 3;
/** Words that stand in every text tell nothing. */
const common = new Set(
  "a an and are as at be by did do does for from had has have how in into is it its no not of on or that the their this to was were what when where which who whom why will with you your".split(
    " ",
  ),
);

export function partsOf(text: string, question: string): readonly TextPart[] {
  const wanted = new Set(wordsOf(question));
  if (wanted.size === 0) return [{ text, found: false }];
  const parts: TextPart[] = [];
  let from = 0;
  for (const match of text.matchAll(wordPattern)) {
    if (!wanted.has(stem(match[0]))) continue;
    if (match.index > from) parts.push({ text: text.slice(from, match.index), found: false });
    parts.push({ text: match[0], found: true });
    from = match.index + match[0].length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), found: false });
  return parts;
}

function wordsOf(question: string): readonly string[] {
  return [...question.matchAll(wordPattern)].map(([word]) => word).flatMap((word) => (common.has(word.toLowerCase()) ? [] : [stem(word)]));
}

function stem(word: string): string {
  const lower = word.normalize("NFKC").toLowerCase();
  const cut = lower.replace(endings, "");
  return cut.length >= stemCharsMin ? cut : lower;
}
