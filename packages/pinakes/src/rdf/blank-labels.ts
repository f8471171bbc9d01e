/**
 * Labels of blank nodes. A label means something in its own file only, so each file has a prefix: `prefix_label` for a node that the file
 * names and `prefix.n` for the n-th that it does not. A prefix holds neither "_" nor ".", so no two files can make the same label, and
 * reading a file again makes the same ones.
 */
import { invalid, show } from "../domain/errors.ts";
import { rdfLimits } from "./limits.ts";

const prefixPattern = /^[A-Za-z][A-Za-z0-9-]*$/;

export interface BlankLabels {
  named(label: string): string;
  next(): string;
}

export function blankLabels(prefix: string): BlankLabels {
  if (!prefixPattern.test(prefix) || prefix.length > rdfLimits.blankPrefixCharsMax) {
    throw invalid(
      `The prefix of blank nodes, ${show(prefix)}, must begin with a letter and hold at most ${rdfLimits.blankPrefixCharsMax} letters, digits and "-".`,
    );
  }
  let count = 0;
  return { named: (label) => `${prefix}_${label}`, next: () => `${prefix}.${count++}` };
}
