/**
 * A process that writes until it is killed: sixteen writers, each appending to its own chain by atomic batches. A line on standard
 * output is an acknowledgement: what it names must survive.
 *
 * usage: writer-process.ts sqlite <folder> | postgres <url> <schema>
 */
import { writeSync } from "node:fs";
import { openPostgresItems } from "../../src/drivers/postgres/index.ts";
import { openSqliteItems } from "../../src/drivers/sqlite/index.ts";
import { chains, scope, writers, type Chain } from "./chains.ts";

const [engine, where, database] = process.argv.slice(2) as [string, string, string];
const store =
  engine === "sqlite" ? await openSqliteItems({ dir: where }) : await openPostgresItems({ url: where, database });
await store.openContainer(chains);

async function write(writer: number): Promise<void> {
  const partition = [`p${writer % 4}`];
  const head = (await store.read(scope, chains.name, { partition, id: `head-${writer}` }))?.document as
    | Chain
    | undefined;
  for (let n = (head?.n ?? -1) + 1; ; n += 1) {
    const p = partition[0] as string;
    await store.batch(scope, chains.name, partition, [
      { op: "create", document: { id: `link-${writer}-${n}`, p, n, text: "x".repeat((n * 37) % 3_000) } },
      { op: "upsert", document: { id: `head-${writer}`, p, n } },
      { op: "upsert", document: { id: `count-${writer}`, p, links: n + 1 } },
    ]);
    writeSync(1, `${writer} ${n}\n`);
  }
}

await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
