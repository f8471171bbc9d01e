import { describe, expect, it } from "vitest";
import { readAhead } from "./read-ahead.ts";

async function* failing(pieces: number, state: { closed?: boolean } = {}): AsyncGenerator<string> {
  try {
    for (let i = 0; i < pieces; i += 1) yield "0123456789";
    throw new Error("late");
  } finally {
    state.closed = true;
  }
}
const text = async (stream: AsyncIterable<Uint8Array>) => Buffer.concat(await Array.fromAsync(stream)).toString("utf8");

describe("an answer that is made while it is sent", () => {
  it("what goes wrong within the limit is thrown before anything is sent, one piece past it in the middle", async () => {
    await expect(readAhead(failing(10), 100)).rejects.toThrow("late");
    const begun = await readAhead(failing(11), 100);
    await expect(text(begun)).rejects.toThrow("late");
  });

  it("hands on everything in order, and lets go of the source when nobody reads on", async () => {
    expect(
      await text(
        await readAhead(
          (async function* () {
            yield* ["a", "é", "b"];
          })(),
          1,
        ),
      ),
    ).toBe("aéb");
    const state: { closed?: boolean } = {};
    const stream = await readAhead(failing(50, state), 20);
    for await (const _ of stream) break;
    expect(state.closed).toBe(true);
  });
});
