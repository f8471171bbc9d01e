/** Random documents and random queries: every engine gives the answer of a brute-force evaluation in plain JavaScript. */
import fc from "fast-check";
import { describe, it } from "vitest";
import type { IndexDefinition } from "../../src/ports/item-store.ts";
import { container, definition, Documents, indexes } from "./support/container.ts";
import { engineNames, engines } from "./support/engines.ts";
import { documents } from "./support/oracle.ts";
import { cases } from "./support/queries.ts";

const store = engines(container);
const runs = { memory: 300, sqlite: 120, postgres: 60, dynamodb: 25 } as const;

/** The planner is told of some of the indexes only, so that it takes every way there is. */
const known = fc.subarray(Object.keys(indexes).filter((name) => name !== "all"));

describe.each(engineNames)("on %s", (name) => {
  it("R-AGT-58 any query of the subset has the answer of a brute-force evaluation, whatever its plan and its pages", async () => {
    const questions = fc.array(fc.record({ case: cases, known, limit: fc.integer({ min: 1, max: 8 }) }), {
      minLength: 6,
      maxLength: 10,
    });
    await fc.assert(
      fc.asyncProperty(documents, questions, async (list, asked) => {
        const docs = new Documents(store(name));
        await docs.put(list);
        for (const { case: question, known: some, limit } of asked) {
          const chosen = Object.fromEntries(
            ["all", ...some].map((index) => [index, indexes[index] as IndexDefinition]),
          );
          try {
            question.judge(
              await docs.walk(question.query, { limit, definition: { ...definition, indexes: chosen } }),
              list,
            );
          } catch (error) {
            throw new Error(
              `${question.query}\nwith the indexes ${Object.keys(chosen).join(", ")} and pages of ${limit}`,
              { cause: error },
            );
          }
        }
      }),
      { numRuns: runs[name] },
    );
  });
});
