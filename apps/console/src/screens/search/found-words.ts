/**
 * Highlights the words of a question in a chunk. The server compares stems of the collection's language; here a few common English suffixes
 * are removed, which suffices for highlighting. Pure.
 */
interface TextPart {
  readonly text: string;
  readonly found: boolean;
}

/** Limits the words of very long questions. */
const wordsMax = 24;
const stemCharsMin = 3;
const endings = /(?:ings?|edly|ed|es|s|ly|e)$/;
const wordPattern = /[\p{L}\p{N}]+(?:[-_.][\p{L}\p{N}]+)*/gu;
const partPattern = /[\p{L}\p{N}]+/gu;
/** Stop words. */
const common = new Set(
  "an and are as at be but by can could did do does for from get had has have how if in into is it its may me my no not of on or our should so than that the their then there these they this to up was we were what when where which who whom why will with without would you your".split(
    " ",
  ),
);

/** Distinct words without stop words. An identifier with a digit, such as P-117 or 5.2, is one word; single letters are none. */
export function wordsOf(question: string): readonly string[] {
  const words = question
    .normalize("NFKC")
    .toLowerCase()
    .match(wordPattern)
    ?.flatMap((word) => (/\p{N}/u.test(word) ? [word] : (word.match(partPattern) ?? [])));
  return [...new Set(words)]
    .filter((word) => !common.has(word) && !/^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]$/u.test(word))
    .slice(0, wordsMax);
}

/** Splits the text at matches. Suffixes are ignored: "restarts" and "restarting" match "restarted". */
export function partsOf(text: string, words: readonly string[]): readonly TextPart[] {
  if (words.length === 0) return text === "" ? [] : [{ text, found: false }];
  const any = [...new Set(words.map(patternOf))].toSorted((a, b) => b.length - a.length).join("|");
  const parts = text.split(new RegExp(`(?<![\\p{L}\\p{N}])(${any})(?![\\p{L}\\p{N}])`, "iu"));
  return parts.map((part, index) => ({ text: part, found: index % 2 === 1 })).filter((part) => part.text !== "");
}

/** Each matched word once, in its first spelling. */
export function foundIn(text: string, words: readonly string[]): readonly string[] {
  const found = partsOf(text, words).flatMap((part) => (part.found ? [part.text] : []));
  return [...new Map(found.toReversed().map((word) => [stemOf(word.toLowerCase()), word])).values()].toReversed();
}

/** The stem of a word. A word with a digit is its own stem. */
export function stemOf(word: string): string {
  if (/\p{N}/u.test(word)) return word;
  const cut = word.replace(endings, "");
  return cut.length >= stemCharsMin ? cut : word;
}

function patternOf(word: string): string {
  // Besides letters and digits, words only contain "-", "_" and ".", of which only the dot is special in a pattern.
  const stem = stemOf(word).replaceAll(".", String.raw`\.`);
  return /\p{N}/u.test(word) ? stem : `${stem}(?:ings?|edly|ed|es|s|ly|e)?`;
}
