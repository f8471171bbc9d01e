import { Embeddings } from "@langchain/core/embeddings";
import type { Engine, Via } from "../../../client/test/support/worlds.ts";

export const ways: readonly (readonly [Engine, Via])[] = [
  ["sqlite", "embedded"],
  ["sqlite", "http"],
  ["postgres", "embedded"],
  ["postgres", "http"],
];

/** A text becomes how often each of some letters is in it. */
export class LetterEmbeddings extends Embeddings {
  constructor() {
    super({});
  }

  override async embedDocuments(texts: string[]): Promise<number[][]> {
    return texts.map((text) => Array.from("xyzw", (letter) => text.split(letter).length - 1));
  }

  override async embedQuery(text: string): Promise<number[]> {
    return (await this.embedDocuments([text]))[0] as number[];
  }
}
