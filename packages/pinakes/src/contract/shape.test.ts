/** Checked by the compiler: a line marked `@ts-expect-error` that compiles fails `npm run types`. */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { shape } from "./shape.ts";

interface Contract {
  readonly name: string;
  readonly status: "open" | "closed";
  readonly tags: readonly string[];
  readonly note?: string;
}
const fields = { name: z.string(), status: z.enum(["open", "closed"]), tags: z.array(z.string()) };

describe("shape", () => {
  it("accepts a schema that equals the contract", () => {
    const whole = shape<Contract>()(z.object({ ...fields, note: z.string().optional() }));
    const part = shape<Contract, "note">()(z.looseObject(fields));
    const wider = shape<Contract, "note">()(z.object({ ...fields, status: z.string() }));
    expect(
      [whole, part, wider].every((schema) => schema.safeParse({ name: "a", status: "open", tags: [] }).success),
    ).toBe(true);
  });

  it("rejects a schema that differs from it, in either direction", () => {
    // @ts-expect-error: the schema lacks `note`
    shape<Contract>()(z.looseObject(fields));
    // @ts-expect-error: the contract lacks `colour`
    shape<Contract, "note">()(z.object({ ...fields, colour: z.string() }));
    // @ts-expect-error: the contract lacks `colour`, also where it may be absent
    shape<Contract, "note">()(z.object({ ...fields, colour: z.string().optional() }));
    // @ts-expect-error: a status that the schema rejects
    shape<Contract, "note">()(z.object({ ...fields, status: z.literal("open") }));
    // @ts-expect-error: the contract allows that it is absent
    shape<Contract>()(z.object({ ...fields, note: z.string() }));
    // @ts-expect-error: there is no such field to leave out
    shape<Contract, "colour">()(z.object(fields));
  });
});
