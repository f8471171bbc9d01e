/** Initial states of fault tests: an empty collection, or one with some versions. */
import { Machine, hourMs, scope, type Process } from "./machine.ts";
import { put } from "./scenarios.ts";

export async function fresh(
  policy: Parameters<typeof Machine.open>[0] = {},
): Promise<{ machine: Machine; process: Process }> {
  const machine = await Machine.open(policy);
  const process = machine.process();
  await process.vectors.create(scope, "c", { dims: 3, metric: "dot" });
  return { machine, process };
}

/** One version for each, an hour apart. */
export async function versions({ machine, vectors }: Process, count: number): Promise<void> {
  for (let x = 1; x <= count; x += 1) {
    await vectors.append(scope, "c", { upsert: [put("a", x), put(`r${x}`, x)] });
    await vectors.compact(scope, "c", { all: true });
    machine.now += hourMs;
  }
}
