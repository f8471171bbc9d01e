/** The report of an import, item by item: what was created, what existed already, and the errors by line. */
import { hasCode, type PinakesError } from "../domain/errors.ts";
import { itemKinds, type ItemKind } from "./item-kind.ts";
import { transferLimits } from "./limits.ts";

export interface ImportNote {
  readonly file: string;
  /** From 1; 0 for the file as a whole. */
  readonly line: number;
  readonly reason: string;
}

export interface ImportCounts {
  /** Created by this import (or would be, in a dry run). */
  readonly created: number;
  /** Existed with the same content. */
  readonly skipped: number;
  /** Not imported; each is among the problems. */
  readonly refused: number;
}

export interface ImportReport {
  readonly dry_run: boolean;
  readonly counts: Readonly<Record<ItemKind, ImportCounts>>;
  /** Documents that failed because their bytes were missing. Import again with the bytes, or upload them. */
  readonly documents_without_bytes: number;
  /** The first 1,000; `problem_count` counts all. */
  readonly problems: readonly ImportNote[];
  readonly problem_count: number;
  /** Imported, but needs attention: the first 1,000. */
  readonly warnings: readonly ImportNote[];
  readonly warning_count: number;
}

export type Outcome = keyof ImportCounts;

export class ReportBuilder {
  readonly #counts: Record<ItemKind, Record<Outcome, number>>;
  readonly #problems: ImportNote[] = [];
  readonly #warnings: ImportNote[] = [];
  #problemCount = 0;
  #warningCount = 0;
  #withoutBytes = 0;

  constructor() {
    const none = itemKinds.map((kind) => [kind, { created: 0, skipped: 0, refused: 0 }] as const);
    this.#counts = Object.fromEntries(none) as Record<ItemKind, Record<Outcome, number>>;
  }

  count(kind: ItemKind, outcome: Outcome): void {
    this.#counts[kind][outcome] += 1;
  }

  withoutBytes(): void {
    this.#withoutBytes += 1;
  }

  problem(note: ImportNote): void {
    this.#problemCount += 1;
    if (this.#problems.length < transferLimits.notesMax) this.#problems.push(note);
  }

  warning(note: ImportNote): void {
    this.#warningCount += 1;
    if (this.#warnings.length < transferLimits.notesMax) this.#warnings.push(note);
  }

  report(dryRun: boolean): ImportReport {
    return {
      dry_run: dryRun,
      counts: this.#counts,
      documents_without_bytes: this.#withoutBytes,
      problems: this.#problems,
      problem_count: this.#problemCount,
      warnings: this.#warnings,
      warning_count: this.#warningCount,
    };
  }
}

/** An error of a single item. Anything else (such as an unavailable store) ends the import, which can then be repeated. */
export function isItemsFault(error: unknown): error is PinakesError {
  return hasCode(error, "INVALID", "CONFLICT", "LIMIT_EXCEEDED", "NOT_FOUND", "NOT_SUPPORTED", "PRECONDITION_FAILED");
}
