/** `node vectors/one.ts <peer> <set> <size> <result.json>`: measures one peer in a process of its own, so that memory and CPU are its own. `<set>` may be "text". */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { PeerModule } from "./candidate.ts";
import { loadVectors, scratch, type SetName, type SizeName } from "./data.ts";
import { measure, type Measured } from "./measure.ts";
import { loadText } from "./text.ts";

const [peer = "", set = "", size = "", out = ""] = process.argv.slice(2);
mkdirSync(`${scratch}tmp`, { recursive: true });
const dir = mkdtempSync(`${scratch}tmp/${peer}-`);
try {
  writeFileSync(out, JSON.stringify(await measured()));
} catch (error) {
  writeFileSync(out, JSON.stringify({ reason: error instanceof Error ? error.message : String(error) }));
} finally {
  rmSync(dir, { recursive: true, force: true });
}
// Some libraries keep threads that never end.
process.exit();

async function measured(): Promise<Measured> {
  const module = (await import(`./peers/${peer}.ts`)) as PeerModule;
  if (set === "text") {
    if (module.openText === undefined) throw new Error("does not search text");
    return await using(await module.openText(dir), (candidate) => measure(candidate, loadText, { recall: 0 }));
  }
  if (module.open === undefined) throw new Error("does not search vectors");
  return await using(await module.open(dir), (candidate) =>
    measure(candidate, () => loadVectors(set as SetName, size as SizeName)),
  );
}

async function using<C extends { close(): Promise<void> }>(
  candidate: C,
  work: (candidate: C) => Promise<Measured>,
): Promise<Measured> {
  try {
    return await work(candidate);
  } finally {
    await candidate.close();
  }
}
