/** The keys that sign checkpoints: from the settings, or created once and stored in the data folder, readable by its owner only. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PinakesError } from "../../domain/errors.ts";
import { auditLimits } from "./limits.ts";
import { newSeed, signerOf } from "./signed-note.ts";

const fileName = "audit-key";

/** The seeds, the current one first. `given`: separated by commas; `folder`: absent if nothing outlives the process. */
export function auditSeeds(folder: string | undefined, given: string | undefined): readonly string[] {
  if (given !== undefined) return readSeeds(given.split(","), "PINAKES_AUDIT_KEY");
  if (folder === undefined) return [newSeed()];
  const file = join(folder, fileName);
  if (existsSync(file)) return readSeeds(readFileSync(file, "utf8").split("\n"), file);
  mkdirSync(folder, { recursive: true });
  try {
    writeFileSync(file, `${newSeed()}\n`, { mode: 0o600, flag: "wx" });
    chmodSync(file, 0o600);
  } catch (error) {
    // Another process was faster: there is one key.
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  return auditSeeds(folder, undefined);
}

function readSeeds(texts: readonly string[], where: string): readonly string[] {
  const seeds = texts.map((text) => text.trim()).filter((text) => text !== "");
  if (seeds.length === 0 || seeds.length > auditLimits.keysMax)
    throw new PinakesError(
      "INVALID",
      `${where}: must have 1–${auditLimits.keysMax} keys, the current one first; got ${seeds.length}.`,
    );
  for (const seed of seeds) signerOf("check", seed);
  return seeds;
}
