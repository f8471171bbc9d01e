/** Runs the writing process, and checks that nothing acknowledged is missing and no batch is partial. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { tenantScope } from "../../src/domain/scope.ts";
import type { ContainerDefinition, ItemStore } from "../../src/ports/item-store.ts";

export const scope = tenantScope("crash");
export const writers = 16;
export const chains: ContainerDefinition = {
  name: "chains",
  partitionKey: ["p"],
  feed: true,
  indexes: { byN: { partition: ["p"], sort: ["n"] } },
};

export interface Chain {
  readonly n: number;
}

/** Runs the writing process and calls `kill` once `acks` acknowledgements were read. Resolves with the last one of each writer. */
export async function writeUntil(
  args: readonly string[],
  acks: number,
  kill: (child: { kill(signal: "SIGKILL"): void }) => Promise<void> | void,
): Promise<Map<number, number>> {
  const child = spawn(process.execPath, [fileURLToPath(new URL("./writer-process.ts", import.meta.url)), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const last = new Map<number, number>();
  const exited = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  let seen = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const [writer, n] = line.split(" ").map(Number) as [number, number];
    last.set(writer, n);
    seen += 1;
    if (seen === acks) await kill({ kill: (signal) => void child.kill(signal) });
  }
  await exited;
  expect(seen).toBeGreaterThanOrEqual(acks);
  return last;
}

/** Every acknowledged link exists; head, count, links and feed agree with each other in every chain. */
export async function verifyChains(store: ItemStore, acknowledged: ReadonlyMap<number, number>): Promise<void> {
  await store.openContainer(chains);
  const fed = await feedIds(store);
  for (let writer = 0; writer < writers; writer += 1) {
    const partition = [`p${writer % 4}`];
    const head = (await store.read(scope, chains.name, { partition, id: `head-${writer}` }))?.document as
      | Chain
      | undefined;
    const count = (await store.read(scope, chains.name, { partition, id: `count-${writer}` }))?.document as
      | { links: number }
      | undefined;
    const links = await countLinks(store, writer);
    const n = head?.n ?? -1;
    expect(n, `chain ${writer}`).toBeGreaterThanOrEqual(acknowledged.get(writer) ?? -1);
    expect({ links, count: count?.links ?? 0 }, `chain ${writer}`).toEqual({ links: n + 1, count: n + 1 });
    for (let i = 0; i <= n; i += 1) expect(fed.has(`link-${writer}-${i}`), `feed of chain ${writer}`).toBe(true);
  }
}

async function countLinks(store: ItemStore, writer: number): Promise<number> {
  return store.count(scope, chains.name, { equals: { p: `p${writer % 4}` }, range: { prefix: `link-${writer}-` } });
}

async function feedIds(store: ItemStore): Promise<Set<string>> {
  const ids = new Set<string>();
  let cursor: string | undefined;
  for (;;) {
    const page = await store.changes(scope, chains.name, { limit: 1_000, ...(cursor === undefined ? {} : { cursor }) });
    for (const { id } of page.changes) ids.add(id);
    cursor = page.cursor;
    if (!page.more) return ids;
  }
}
