/**
 * A process that writes triples until it is killed. A line on standard output is an acknowledgement: what it names must survive.
 *
 * usage: writer-process.ts <folder> <next step of each writer>
 */
import { writeSync } from "node:fs";
import { openSqliteTriples } from "../../src/drivers/sqlite/index.ts";
import { changeOf, scope, spaceOf, writers } from "./history.ts";

const [dir, ...firsts] = process.argv.slice(2) as [string, ...string[]];
const store = await openSqliteTriples({ dir });

async function write(writer: number): Promise<void> {
  await store.open(scope, spaceOf(writer));
  for (let step = Number(firsts[writer] ?? 0); ; step += 1) {
    await store.write(scope, spaceOf(writer), changeOf(writer, step));
    writeSync(1, `${writer} ${step}\n`);
  }
}

await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
