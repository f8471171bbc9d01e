import { BaseEmbedding } from "@llamaindex/core/embeddings";
import type { Engine, Via } from "../../../client/test/support/worlds.ts";

export const ways: readonly (readonly [Engine, Via])[] = [
  ["sqlite", "embedded"],
  ["sqlite", "http"],
  ["postgres", "embedded"],
  ["postgres", "http"],
];

/** A text becomes how often each of some letters is in it. */
export class LetterEmbedding extends BaseEmbedding {
  readonly #letters: string;

  constructor(letters = "xyzw") {
    super();
    this.#letters = letters;
  }

  override async getTextEmbedding(text: string): Promise<number[]> {
    return Array.from(this.#letters, (letter) => text.split(letter).length - 1);
  }
}
