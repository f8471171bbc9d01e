/** Character classes of the tokenizer. */
export const characterKinds = Object.freeze({
  /** Ends a word. */
  other: 1,
  /** A letter or digit of a script that separates its words. */
  word: 2,
  /** A letter of a script that does not (or, Korean, whose words carry particles): indexed as pairs of characters. */
  pair: 3,
  /** A combining mark: continues a word, never begins one (an emoji's variation selector is one too). */
  mark: 4,
  /** Joins the parts of one compound: "covid-19", "snake_case". */
  joiner: 5,
  apostrophe: 6,
});

const pairScripts =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc]/u;
const lettersDigits = /[\p{L}\p{N}]/u;
const marks = /\p{M}/u;

/** By UTF-16 unit, filled lazily: 0 is unknown. */
const kinds = new Uint8Array(65_536);

/** The class of the character at `index`; of a surrogate pair, that of the whole character. */
export function kindAt(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  const known = kinds[unit] as number;
  if (known !== 0) return known;
  if (unit >= 0xd800 && unit <= 0xdfff) {
    const low = unit >= 0xdc00;
    const start = low && index > 0 ? index - 1 : index;
    const code = text.codePointAt(start) as number;
    return code > 0xffff ? classify(String.fromCodePoint(code)) : characterKinds.other;
  }
  return (kinds[unit] = classify(String.fromCharCode(unit)));
}

function classify(character: string): number {
  if (/[-_\u2010]/.test(character)) return characterKinds.joiner;
  if (/['\u2019\u02bc]/.test(character)) return characterKinds.apostrophe;
  const letter = lettersDigits.test(character);
  const mark = marks.test(character);
  if ((letter || mark) && pairScripts.test(character)) return characterKinds.pair;
  if (letter) return characterKinds.word;
  return mark ? characterKinds.mark : characterKinds.other;
}
