import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import type { Quad } from "../../src/domain/rdf.ts";
import { openSqliteTriples } from "../../src/drivers/sqlite/index.ts";
import type { TripleStore } from "../../src/ports/triple-store.ts";
import { pagesOf } from "../../src/runtime/pages.ts";
import { expectAgreement } from "./agreement.ts";
import { quadsAfter, scope, spaceOf, writers } from "./history.ts";

const dir = temporaryFolder("triples-crash");

/** Lets the writers continue with their next steps, kills them after this many acknowledgements, and returns the last of each. */
async function writeUntilKilled(next: readonly number[], acks: number): Promise<Map<number, number>> {
  const script = fileURLToPath(new URL("./writer-process.ts", import.meta.url));
  const child = spawn(process.execPath, [script, dir, ...next.map(String)], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  const last = new Map<number, number>();
  let seen = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const [writer, step] = line.split(" ").map(Number) as [number, number];
    last.set(writer, step);
    seen += 1;
    if (seen === acks) child.kill("SIGKILL");
  }
  await exited;
  expect(seen).toBeGreaterThanOrEqual(acks);
  return last;
}

async function readAll(store: TripleStore, space: string): Promise<Quad[]> {
  const quads: Quad[] = [];
  for await (const page of pagesOf((cursor) => store.match(scope, space, {}, { cursor }))) {
    quads.push(...page.quads);
  }
  return quads;
}

const texts = (quads: readonly Quad[]): string[] => quads.map(({ s, p, o, g }) => [s, p, o, g].join(" ")).toSorted();

/** The last step of a writer that is in its space. */
function lastStep(writer: number, quads: readonly Quad[]): number {
  return Math.max(
    -1,
    ...quads.flatMap(({ s }) => (s.startsWith(`<urn:${writer}:`) ? [Number(s.slice(1, -1).split(":")[2])] : [])),
  );
}

describe("kill -9 while triples are written", () => {
  it("R-TG-72 every acknowledged write exists, none exists in part, the orders agree and the counters are exact, round after round", async () => {
    const next = Array.from({ length: writers }, () => 0);
    for (const acks of [1, 30, 150, 400]) {
      const acknowledged = await writeUntilKilled(next, acks);
      {
        await using store = await openSqliteTriples({ dir });
        for (const space of new Set(Array.from({ length: writers }, (_, writer) => spaceOf(writer)))) {
          const quads = await readAll(store, space);
          const own = Array.from({ length: writers }, (_, writer) => writer).filter(
            (writer) => spaceOf(writer) === space,
          );
          const expected = own.flatMap((writer) => {
            const step = lastStep(writer, quads);
            const told = acknowledged.get(writer) ?? (next[writer] as number) - 1;
            // At most the one write in flight exists besides.
            expect([told, told + 1]).toContain(step);
            next[writer] = step + 1;
            return quadsAfter(writer, step);
          });
          expect(texts(quads)).toEqual(texts(expected));
          expect((await store.usage(scope, space)).quads).toBe(expected.length);
        }
      }
      expectAgreement(dir);
    }
  });
});
