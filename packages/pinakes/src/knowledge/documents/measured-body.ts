/** An upload stream: counted, hashed, and stopped at the limit. */
import { createHash } from "node:crypto";
import { PinakesError } from "../../domain/errors.ts";

export class MeasuredBody implements AsyncIterable<Uint8Array> {
  bytes = 0;
  readonly #body: AsyncIterable<Uint8Array>;
  readonly #bytesMax: number;
  readonly #hash = createHash("sha256");
  readonly #name: string;

  constructor(body: AsyncIterable<Uint8Array>, bytesMax: number, name: string) {
    this.#body = body;
    this.#bytesMax = bytesMax;
    this.#name = name;
  }

  get sha256(): string {
    return this.#hash.copy().digest("hex");
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.#body) {
      this.bytes += chunk.byteLength;
      if (this.bytes > this.#bytesMax)
        throw new PinakesError("LIMIT_EXCEEDED", `"${this.#name}" exceeds the limit of ${this.#bytesMax} bytes.`);
      this.#hash.update(chunk);
      yield chunk;
    }
  }
}
