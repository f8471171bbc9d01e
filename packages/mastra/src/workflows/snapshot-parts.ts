/**
 * Snapshots of any size. A document is limited to 2 MB, but a snapshot contains everything the steps returned: a long one is split into
 * parts beside its run, written under a new version before the run refers to that version.
 */
import { startAgain, type Container, type Document } from "../container.ts";

export type RunDocument = Document & { readonly run_id: string };
export type SnapshotField =
  | { readonly snapshot: string }
  | { readonly snapshot_parts: { readonly version: string; readonly count: number } };

/** At most three bytes per character, so a part fits every engine: DynamoDB accepts 400 KB without an object store. */
export const partCharsMax = 100_000;
/** Parts that are written or read in one call. */
const partsAtOnce = 8;

export class SnapshotParts {
  readonly #container: Container<RunDocument>;

  constructor(container: Container<RunDocument>) {
    this.#container = container;
  }

  /** The run document's reference to its snapshot. */
  async store(runId: string, owner: string, text: string): Promise<SnapshotField> {
    if (text.length <= partCharsMax) return { snapshot: text };
    const version = crypto.randomUUID().slice(0, 13);
    const count = Math.ceil(text.length / partCharsMax);
    for (let first = 0; first < count; first += partsAtOnce) {
      const parts = Array.from({ length: Math.min(partsAtOnce, count - first) }, (_, i): RunDocument => {
        const from = (first + i) * partCharsMax;
        // An unpaired surrogate is not valid text; JSON escapes preserve it.
        return {
          id: partId(owner, version, first + i),
          run_id: runId,
          part: JSON.stringify(text.slice(from, from + partCharsMax)),
        };
      });
      await this.#container.putAnywhere(parts);
    }
    return { snapshot_parts: { version, count } };
  }

  async load(run: RunDocument): Promise<string> {
    if (typeof run["snapshot"] === "string") return run["snapshot"];
    const parts: string[] = [];
    const keys = keysOf(run);
    for (let first = 0; first < keys.length; first += partsAtOnce) {
      for (const document of await this.#container.readMany(keys.slice(first, first + partsAtOnce))) {
        if (document === null) throw startAgain("The snapshot was replaced while it was read.");
        parts.push(JSON.parse(document["part"] as string) as string);
      }
    }
    return parts.join("");
  }

  /** Removes parts that nothing refers to any more. */
  async remove(run: RunDocument | null): Promise<void> {
    if (run?.["snapshot_parts"] === undefined) return;
    await this.#container.deleteAnywhere(keysOf(run));
  }
}

function keysOf(run: RunDocument): { readonly pk: string; readonly id: string }[] {
  const { version, count } = run["snapshot_parts"] as { readonly version: string; readonly count: number };
  return Array.from({ length: count }, (_, i) => ({ pk: run.run_id, id: partId(run.id, version, i) }));
}

const partId = (owner: string, version: string, index: number) => `part-${version}-${index}-${owner}`;
