/**
 * A process for crash tests: puts objects into a folder endlessly and prints each key once it is acknowledged. An object's content
 * follows from its key (`expectedContent`), so survivors can be verified.
 *
 *   node object-writer.ts <dir> <first number>
 *   node object-writer.ts <dir> stuck          stops in the middle of a put and says so
 */
import { pathToFileURL } from "node:url";
import { tenantScope } from "../domain/scope.ts";
import { openFileObjects } from "../drivers/fs/index.ts";
import { pattern } from "./object-store/pattern.ts";

export function expectedContent(key: string): Uint8Array {
  const number = Number(/(\d+)$/.exec(key)?.[1]);
  return pattern(200_000 + number * 1_000, number + 1);
}

async function writeForever(dir: string, first: number): Promise<void> {
  const objects = await openFileObjects({ dir });
  const scope = tenantScope("acme");
  for (let number = first; ; number += 1) {
    const key = `run/${number % 5}/object-${number}`;
    const content = expectedContent(key);
    async function* chunks() {
      for (let start = 0; start < content.length; start += 10_000) yield content.subarray(start, start + 10_000);
    }
    await objects.put(scope, key, chunks());
    process.stdout.write(`${key}\n`);
  }
}

async function getStuck(dir: string): Promise<void> {
  const objects = await openFileObjects({ dir });
  async function* chunks() {
    yield pattern(100_000);
    process.stdout.write("stuck\n");
    await new Promise((resolve) => setTimeout(resolve, 600_000));
  }
  await objects.put(tenantScope("acme"), "run/stuck", chunks());
}

const [, script, dir, first] = process.argv;
if (script !== undefined && import.meta.url === pathToFileURL(script).href && dir !== undefined) {
  await (first === "stuck" ? getStuck(dir) : writeForever(dir, Number(first)));
}
