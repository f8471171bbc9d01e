/**
 * Labels of blank nodes. A label is local to its file, so each file has a prefix: `prefix_label` for a labelled node and `prefix.n` for the
 * n-th anonymous one. A prefix contains neither "_" nor ".", so two files never produce the same label, and reading a file again produces
 * the same labels.
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
      `The prefix of blank nodes, ${show(prefix)}, must start with a letter and contain at most ${rdfLimits.blankPrefixCharsMax} letters, digits and "-".`,
    );
  }
  let count = 0;
  return { named: (label) => `${prefix}_${label}`, next: () => `${prefix}.${count++}` };
}
