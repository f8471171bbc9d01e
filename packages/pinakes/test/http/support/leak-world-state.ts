/** A workspace full of agents' state, and keys for it; everything that belongs to it and must not be told elsewhere. */
import type { Caller } from "../../../src/domain/caller.ts";
import { dumpWorkspace } from "../../state/support/dump-workspace.ts";
import { fillState, namesOf, newMarker } from "../../state/support/secret-state.ts";
import type { StateTarget } from "./leak-calls-state.ts";
import type { TestServer } from "./server.ts";

export interface StateWorld {
  /** In w1. */
  readonly ann: string;
  readonly admin: Caller;
  readonly target: StateTarget;
  /** The same, where nothing was ever called so: as long, letter by letter but for the marker. */
  readonly never: StateTarget;
  readonly marker: string;
  readonly neverMarker: string;
  /** In every text, tag, user and dimension, and in no name. */
  readonly secret: string;
  /** Versions, hashes and ids that were made up: nobody may hear of them who did not send them. */
  readonly ids: ReadonlySet<string>;
}

export async function buildStateWorld(server: TestServer): Promise<StateWorld> {
  const { pinakes } = server;
  const now = Date.now();
  const [marker, neverMarker, secret] = [newMarker(), newMarker(), newMarker()];
  const admin = pinakes.as({ tenant: "w1", userId: `boss ${secret}`, role: "admin" });
  const etags = await fillState(pinakes.state, admin, namesOf(marker, now), secret, now);
  const target: StateTarget = { ...namesOf(marker, now), etags };
  const never: StateTarget = { ...namesOf(neverMarker, now), etags };
  const ann = await server.key("w1", "ann");
  return { ann, admin, target, never, marker, neverMarker, secret, ids: idsIn(dumpWorkspace(server.dir, "w1")) };
}

/** Of the stored rows: versions, ids, hashes of the chain, lives of stamps. */
function idsIn(lines: readonly string[]): ReadonlySet<string> {
  const found = lines.flatMap((line) =>
    [...line.matchAll(/\\?"(?:etag|id|hash|previous|life|incarnation)\\?":\\?"([^"\\]+)/g)].map(
      (match) => match[1] as string,
    ),
  );
  return new Set(found.filter((id) => id.length >= 12 && !known.has(id)));
}
/** Ids that every workspace has. */
const known: ReadonlySet<string> = new Set(["~stamp-changes", "state-memories-words"]);

/** Everything there is of w1. */
export async function stateDump({ pinakes, dir }: TestServer, { admin }: StateWorld): Promise<readonly string[]> {
  const { keys } = await pinakes.objects.list(admin.scope, "", { limit: 1000 });
  return [...dumpWorkspace(dir, "w1"), ...keys.map((key) => `object: ${JSON.stringify(key)}`)];
}
