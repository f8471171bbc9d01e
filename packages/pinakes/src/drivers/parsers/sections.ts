/**
 * Collects where headings begin, with their heading paths.
 *
 * Invariant: positions strictly ascend. A heading at the position of the previous one replaces it, since no text lies between them.
 */
import { parserLimits } from "./limits.ts";

export interface Section {
  readonly start: number;
  readonly path: readonly string[];
}

export class Sections {
  readonly #list: Section[] = [];
  readonly #above: { readonly level: number; readonly title: string }[] = [];
  readonly #sectionsMax: number;
  #full = false;

  constructor(sectionsMax: number = parserLimits.sectionsMax) {
    this.#sectionsMax = sectionsMax;
  }

  /** A heading of a level (lower numbers are above); levels may be skipped. */
  heading(start: number, level: number, text: string): void {
    const title = headingText(text);
    if (title === "") return;
    while ((this.#above.at(-1)?.level ?? -1) >= level) this.#above.pop();
    this.#above.push({ level, title });
    this.add(
      start,
      this.#above.map((heading) => heading.title),
    );
  }

  add(start: number, path: readonly string[]): void {
    if (this.#full) return;
    if (this.#list.at(-1)?.start === start) this.#list.pop();
    // Later text must not seem to belong to the last heading within the limit.
    this.#full = this.#list.length === this.#sectionsMax;
    this.#list.push({ start, path: this.#full ? [] : path });
  }

  finish(warnings: string[]): Section[] {
    if (this.#full)
      warnings.push(
        `There are more than ${this.#sectionsMax.toLocaleString("en-US")} headings; later chunks have no heading.`,
      );
    return this.#list;
  }
}

export function headingText(text: string): string {
  const title = text.replaceAll(/\s+/g, " ").trim();
  return title.length > parserLimits.headingCharsMax
    ? `${title.slice(0, parserLimits.headingCharsMax - 1)}…`.toWellFormed()
    : title;
}
