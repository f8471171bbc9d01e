/**
 * The files of an incarnation and everything derived from them: every object under its prefix, including those of unfinished uploads, and
 * its quarantine.
 */
import type { Scope } from "../../../domain/scope.ts";
import type { HeldIncarnations, Incarnation, Participant } from "../../../lifecycle/index.ts";
import { isIncarnation, type Stores } from "./built-in.ts";

const root = "knowledge/";
/** Objects that repairs removed (RFC 0016). */
export const quarantineRoot = "quarantine/";
const pageKeys = 1_000;

export class ObjectsStore implements Participant {
  readonly store = "objects";
  readonly class = "object";
  readonly capabilities = { delete: true, archive: true, list: true };
  readonly #deps: Pick<Stores, "objects">;

  constructor(deps: Pick<Stores, "objects">) {
    this.#deps = deps;
  }

  /** Objects need no fence of their own: the documents' fence stops their readers and writers. */
  async fence(): Promise<void> {}

  async unfence(): Promise<void> {}

  async deleteStep(
    scope: Scope,
    incarnation: Incarnation,
    { limit }: { readonly limit: number },
  ): Promise<{ deleted: number; done: boolean }> {
    for (const prefix of prefixesOf(incarnation)) {
      const { keys } = await this.#deps.objects.list(scope, prefix, { limit: Math.min(limit, pageKeys) });
      if (keys.length === 0) continue;
      await this.#deps.objects.delete(
        scope,
        keys.map(({ key }) => key),
      );
      return { deleted: keys.length, done: false };
    }
    return { deleted: 0, done: true };
  }

  async count(scope: Scope, incarnation: Incarnation): Promise<number> {
    let count = 0;
    for (const prefix of prefixesOf(incarnation)) {
      let after: string | undefined;
      do {
        const page = await this.#deps.objects.list(scope, prefix, { limit: pageKeys, after });
        count += page.keys.length;
        after = page.next;
      } while (after !== undefined);
    }
    return count;
  }

  async archive(scope: Scope, incarnation: Incarnation): Promise<{ count: number }> {
    return { count: await this.count(scope, incarnation) };
  }

  /** Reads one key of each incarnation, then skips the rest of its keys. */
  async incarnations(
    scope: Scope,
    { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
  ): Promise<HeldIncarnations> {
    const incarnations: HeldIncarnations["incarnations"][number][] = [];
    let after = cursor;
    while (incarnations.length < limit) {
      const { keys } = await this.#deps.objects.list(scope, root, { limit: 1, after });
      const incarnation = keys[0]?.key.slice(root.length).split("/")[0];
      if (incarnation === undefined) return { incarnations };
      if (isIncarnation(incarnation)) incarnations.push({ incarnation, repository_id: "" });
      // "0" follows "/" directly: after every key of this incarnation, before any other.
      after = `${root}${incarnation}0`;
    }
    return { incarnations, cursor: after };
  }
}

function prefixesOf({ incarnation }: Incarnation): readonly string[] {
  return [`${root}${incarnation}/`, `${quarantineRoot}${incarnation}/`];
}
