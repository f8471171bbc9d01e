/**
 * Text to terms, the same for rows and queries. What counts as one term:
 *
 * - A run of letters, digits and combining marks of any script, after NFKC and in lower case; at most `termCharsMax` of it.
 * - Scripts without spaces (Chinese, Japanese, Thai, …) and Korean: each pair of neighbouring characters; a lone one by itself.
 * - "covid-19" and "snake_case" are their parts and also the whole without the joiner (covid, 19, covid19), so that each of
 *   "covid-19", "covid 19" and "covid19" finds the others.
 * - An apostrophe separates (l'avion → l, avion). In English the tails 's 't 'd 'm 'll 're 've are dropped, and letters lose
 *   their accents, since people write "naive" and "naïve". Other languages keep accents, where they make other words.
 * - Stop words are dropped, then words without digits are stemmed; neither with language "none", nor ever for pairs of characters.
 */
import { invalid, show } from "../../domain/errors.ts";
import { languages, stemmerOf, stopWordsOf } from "./languages.ts";

/** Character classes of the tokenizer. */
const characterKinds = Object.freeze({
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
function kindAt(text: string, index: number): number {
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

export { languages } from "./languages.ts";

export interface Analyzer {
  readonly language: string;
  /** The terms to index or to search, in the order of the text, repeated as often as they occur. */
  tokens(text: string): string[];
  /** Every word in order, stemmed, with stop words and without the whole forms of compounds: what phrases are compared by. */
  words(text: string): string[];
}

const termCharsMax = 64;
/** A cache of stems of this size is cleared; the vocabulary in use fills it again at once. */
const stemCacheWordsMax = 100_000;
const {
  word: wordKind,
  pair: pairKind,
  mark: markKind,
  joiner: joinerKind,
  apostrophe: apostropheKind,
} = characterKinds;
const nonAscii = /[^\0-\x7f]/;
const digit = /\d/;
const invisible = /[\u00ad\u200c\u200d]/g;
const joiners = /[-_\u2010]/g;
const englishTail = /^(?:s|t|d|m|ll|re|ve)$/;

const analyzers = new Map<string, Analyzer>();

export function analyzerFor(language: string): Analyzer {
  const known = analyzers.get(language);
  if (known !== undefined) return known;
  if (!languages.includes(language))
    throw invalid(`Unknown language ${show(language)}; use one of ${languages.join(", ")}.`);
  const analyzer = new LanguageAnalyzer(language);
  analyzers.set(language, analyzer);
  return analyzer;
}

class LanguageAnalyzer implements Analyzer {
  readonly language: string;
  readonly #english: boolean;
  readonly #stem: (word: string) => string;
  readonly #stopWords: ReadonlySet<string>;
  /** Word → term, or "" for a stop word. */
  readonly #terms = new Map<string, string>();

  constructor(language: string) {
    this.language = language;
    this.#english = language === "english";
    this.#stem = stemmerOf(language);
    this.#stopWords = stopWordsOf(language);
  }

  tokens(text: string): string[] {
    return this.#scan(text, true);
  }

  words(text: string): string[] {
    return this.#scan(text, false);
  }

  #scan(text: string, toIndex: boolean): string[] {
    const clean = nonAscii.test(text)
      ? text.normalize("NFKC").toLowerCase().replace(invisible, "")
      : text.toLowerCase();
    const out: string[] = [];
    // The start of the compound that the current word belongs to.
    let compound = -1;
    let i = 0;
    while (i < clean.length) {
      const kind = kindAt(clean, i);
      if (kind === pairKind) {
        i = pairs(clean, i, out);
        compound = -1;
        continue;
      }
      if (kind !== wordKind) {
        i += 1;
        continue;
      }
      const end = wordEnd(clean, i);
      this.#add(clean.slice(i, end), toIndex, out);
      const after = end < clean.length ? kindAt(clean, end) : 0;
      const joined = after === joinerKind && end + 1 < clean.length && kindAt(clean, end + 1) === wordKind;
      if (joined && compound < 0) compound = i;
      if (!joined && compound >= 0) {
        if (toIndex) this.#add(clean.slice(compound, end).replace(joiners, ""), toIndex, out);
        compound = -1;
      }
      if (after === apostropheKind && this.#english) i = afterEnglishTail(clean, end);
      else i = after === pairKind ? end : end + 1;
    }
    return out;
  }

  #add(word: string, toIndex: boolean, out: string[]): void {
    const cached = this.#terms.get(word);
    const term = cached ?? this.#remember(word);
    if (term !== "") out.push(term);
    else if (!toIndex) out.push(this.#plain(word));
  }

  #remember(word: string): string {
    const plain = this.#plain(word);
    // Stemming a new word costs tens of microseconds, and identifiers, which are mostly new, have no endings.
    const stem = digit.test(plain) ? plain : this.#stem(plain) || plain;
    const term = this.#stopWords.has(plain) ? "" : stem;
    if (this.#terms.size >= stemCacheWordsMax) this.#terms.clear();
    // A slice would keep the whole source text in memory as long as the cache holds it.
    this.#terms.set(ownCopy(word), term === "" ? "" : ownCopy(term));
    return term;
  }

  #plain(word: string): string {
    const plain =
      this.#english && nonAscii.test(word)
        ? word
            .normalize("NFD")
            .replace(/[\u0300-\u036f]/g, "")
            .normalize("NFC")
        : word;
    if (plain.length <= termCharsMax) return plain;
    // Never half a surrogate pair, which UTF-8 could not represent.
    const cut = plain.charCodeAt(termCharsMax - 1);
    return plain.slice(0, cut >= 0xd800 && cut <= 0xdbff ? termCharsMax - 1 : termCharsMax);
  }
}

function wordEnd(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length) {
    const kind = kindAt(text, end);
    if (kind !== wordKind && kind !== markKind) break;
    end += 1;
  }
  return end;
}

function afterEnglishTail(text: string, apostrophe: number): number {
  const start = apostrophe + 1;
  if (start >= text.length || kindAt(text, start) !== wordKind) return start;
  const end = wordEnd(text, start);
  return end - start <= 2 && englishTail.test(text.slice(start, end)) ? end : start;
}

/** Adds the pairs of the run that begins at `start`; returns where it ends. */
function pairs(text: string, start: number, out: string[]): number {
  let end = start;
  while (end < text.length) {
    const kind = kindAt(text, end);
    if (kind !== pairKind && kind !== markKind) break;
    end += 1;
  }
  const characters = Array.from(text.slice(start, end));
  if (characters.length === 1) out.push(characters[0] as string);
  for (let i = 1; i < characters.length; i += 1) out.push(`${characters[i - 1]}${characters[i]}`);
  return end;
}

function ownCopy(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}
