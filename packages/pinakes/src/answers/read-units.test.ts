import { describe, expect, it } from "vitest";
import type { ChatPiece } from "../ports/chat-model.ts";
import { answerLimits } from "./limits.ts";
import { unitsOf, type Unit } from "./read-units.ts";

async function read(pieces: readonly string[], end: "stop" | "length" | "other" | "none" = "stop") {
  const given = async function* (): AsyncGenerator<ChatPiece> {
    for (const text of pieces) yield { text };
    if (end !== "none") yield { end };
  };
  const units: Unit[] = [];
  const reader = unitsOf(given(), answerLimits);
  for (let next = await reader.next(); ; next = await reader.next()) {
    if (next.done === true) return { finish: next.value, units: units.map(({ text, sources }) => [text, ...sources]) };
    units.push(next.value);
  }
}

const text = "First one. [1]\n- Second, with 4.2 bar [2][3]. Third [1, 2] goes on here [4].\n\nLast without a mark";
const expected = [
  ["First one.", 1],
  ["Second, with 4.2 bar.", 2, 3],
  ["Third goes on here.", 1, 2, 4],
  ["Last without a mark"],
];

describe("units of a streamed answer", () => {
  it("are the same however the text is cut into pieces", async () => {
    for (const size of [1, 2, 3, 7, 1_000]) {
      const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
        text.slice(i * size, (i + 1) * size),
      );
      expect(await read(pieces)).toEqual({ finish: "complete", units: expected });
    }
  });

  it.each([
    ["length", "length"],
    ["other", "cut_off"],
    ["none", "cut_off"],
  ] as const)("the incomplete last one is dropped where the stream ends with %s", async (end, finish) => {
    expect(await read([text], end)).toEqual({ finish, units: expected.slice(0, 3) });
  });

  it("a line without end and an answer without end stop at their limits", async () => {
    const { unitCharsMax, answerCharsMax } = answerLimits;
    expect(await read(["x ".repeat(unitCharsMax)], "none")).toEqual({ finish: "length", units: [] });
    const lines = Array.from({ length: answerCharsMax }, () => "A line of it. [1]\n");
    expect((await read(lines, "none")).finish).toBe("length");
  });

  it("what has no letter or digit is no unit", async () => {
    expect(await read(["```\n---\n[1]\n...\n"])).toEqual({ finish: "complete", units: [] });
  });
});
