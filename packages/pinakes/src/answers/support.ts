/**
 * Whether a text supports a sentence: the criterion of RFC 0018. It compares words, numbers, names, quotes, negations and opposites, and
 * rejects a true sentence rather than accept a false one. It cannot detect swapped roles (who did what to whom) if all words are the same.
 */
import { isGerman } from "../knowledge/extraction/stopwords.ts";
import { analyzerFor, type Analyzer } from "../vectors/index.ts";
import { numberWords, opposites } from "./word-lists.ts";

/** The share of a sentence's words that the text must contain; tuned on one half of the test set, see the RFC. */
const coverageMin = 0.8;
/** Without the words of its context: the name of a file is not a statement of its text. */
const ownCoverageMin = 0.5;
/** A shorter sentence needs all of its words: one other word changes its meaning. */
const toleratedFrom = 5;

const negations: ReadonlySet<string> = new Set(
  "not no never none nobody nothing neither nor without cannot nicht nie niemals kein keine keinen keinem keiner keines niemand nichts weder ohne".split(
    " ",
  ),
);
const wordPattern = /[\p{L}\p{N}][\p{L}\p{N}\p{M}'_@-]*/gu;
const numberPattern = /\d+(?:[.,:]\d+)*/g;
const quotedPattern = /`([^`]+)`|"([^"]+)"|“([^”]+)”|„([^“]+)“|«([^»]+)»/g;

/** A text, prepared for comparison. */
export interface Evidence {
  readonly text: string;
  readonly terms: ReadonlySet<string>;
  readonly words: ReadonlySet<string>;
  readonly numbers: ReadonlySet<string>;
  /** Capitalised words, as written. */
  readonly capitals: ReadonlySet<string>;
  /** The words in order, in lower case, each with its stem; undefined for a stop word. */
  readonly sequence: readonly { readonly word: string; readonly term: string | undefined }[];
  readonly negated: boolean;
}

export interface Claim extends Evidence {
  /** Capitalised words, except the first. */
  readonly names: readonly string[];
  /** Text in quotation marks or backticks. */
  readonly quoted: readonly string[];
}

export function readEvidence(text: string, analyzer: Analyzer = analyzerOf(text)): Evidence {
  const words = wordsOf(text);
  const spelled = words.flatMap((word) => numberWords.get(word) ?? []);
  return {
    text,
    terms: new Set(termsOf(text, analyzer)),
    words: new Set(words),
    sequence: words.map((word) => ({ word, term: termsOf(word, analyzer)[0] })),
    capitals: new Set((plain(text).match(wordPattern) ?? []).filter((word) => /^\p{Lu}/u.test(word))),
    numbers: new Set([...(text.match(numberPattern) ?? []).map(plainNumber), ...spelled]),
    negated: words.some(isNegation),
  };
}

export function readClaim(text: string, analyzer: Analyzer = analyzerOf(text)): Claim {
  const words = plain(text).match(wordPattern) ?? [];
  return {
    ...readEvidence(text, analyzer),
    names: words.filter((word, i) => i > 0 && /^\p{Lu}/u.test(word)),
    quoted: [...text.matchAll(quotedPattern)].map((found) => found.slice(1).find((group) => group !== undefined) ?? ""),
  };
}

/** The share of the claim's words that the text contains. */
export function coverageOf(claim: Claim, ...texts: readonly Evidence[]): number {
  if (claim.terms.size === 0) return 0;
  const shared = [...claim.terms].filter((term) => texts.some(({ terms }) => terms.has(term)));
  return shared.length / claim.terms.size;
}

/** Whether one is negated, or they differ in a number, use opposite words, or differ in a word between the same two. */
export function contradicts(claim: Claim, evidence: Evidence): boolean {
  if (claim.negated !== evidence.negated) return true;
  if (claim.numbers.difference(evidence.numbers).size > 0 && evidence.numbers.difference(claim.numbers).size > 0)
    return true;
  if (replaces(claim, evidence)) return true;
  return [...claim.words].some(
    (word) => !evidence.words.has(word) && (opposites.get(word) ?? []).some((other) => evidence.words.has(other)),
  );
}

/** "the southern region" for "the northern region": a word missing from the text, between two words that enclose another one there. */
function replaces({ sequence, terms }: Claim, evidence: Evidence): boolean {
  const between = (words: Evidence["sequence"], i: number): string => `${words[i - 1]?.word} ${words[i + 1]?.word}`;
  const others = new Map(evidence.sequence.map(({ term }, i) => [between(evidence.sequence, i), term]));
  return sequence.some(({ term }, i) => {
    if (term === undefined || evidence.terms.has(term)) return false;
    const other = others.get(between(sequence, i));
    return other !== undefined && !terms.has(other);
  });
}

/** `context`: the names of file and section, whose words a text often does not repeat. */
export function states(claim: Claim, evidence: Evidence, context: Evidence): boolean {
  const known = (name: string): boolean =>
    [evidence, context].some(({ capitals }) => capitals.has(name) || capitals.has(name.replace(/'s?$/, "")));
  const coverage = coverageOf(claim, evidence, context);
  if (coverageOf(claim, evidence) < ownCoverageMin) return false;
  return (
    [...claim.numbers].every((number) => evidence.numbers.has(number)) &&
    claim.names.every(known) &&
    claim.quoted.every((quote) => evidence.text.includes(quote)) &&
    (claim.terms.size < toleratedFrom ? coverage === 1 : coverage >= coverageMin)
  );
}

export function analyzerOf(text: string): Analyzer {
  return analyzerFor(isGerman(wordsOf(text)) ? "german" : "english");
}

/** Numbers and negations are compared separately. */
function termsOf(text: string, analyzer: Analyzer): readonly string[] {
  return analyzer.tokens(text).filter((term) => !/^\d+$/.test(term) && !isNegation(term));
}

function isNegation(word: string): boolean {
  return negations.has(word) || word.endsWith("n't");
}

function wordsOf(text: string): readonly string[] {
  return (plain(text).match(wordPattern) ?? []).map((word) => word.toLowerCase());
}

function plain(text: string): string {
  return text.normalize("NFKC").replaceAll("’", "'");
}

/** 2,000 and 2.000 are 2000; 4,2 is 4.2. */
function plainNumber(number: string): string {
  return /^\d{1,3}(?:[.,]\d{3})+$/.test(number) ? number.replaceAll(/[.,]/g, "") : number.replace(",", ".");
}
