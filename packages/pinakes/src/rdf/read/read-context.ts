/** The input of every reader. */
import type { TermFactory } from "./term-factory.ts";

export interface ReadContext {
  readonly factory: TermFactory;
  readonly baseIri: string | undefined;
  readonly termBytesMax: number;
  readonly nestingLevelsMax: number;
}
