/** Dead letters of a queue with their messages, for admins of a workspace. */
import { hash } from "node:crypto";
import type { Scope } from "../../domain/scope.ts";
import type { DeadKey, DeadLetter, Queue } from "../../ports/queue.ts";

export interface DeadMessage {
  readonly dead_id: string;
  readonly cause: DeadLetter["cause"];
  readonly reason: string | null;
  readonly dead_at: string;
  readonly failures: number;
  /** The original message. */
  readonly message: DeadLetter["body"];
}

/** The dead letters a workspace may see; all others do not exist for it. */
export interface Letterbox {
  readonly queue: Queue;
  /** Owner of the queue. */
  readonly scope: Scope;
  readonly name: string;
  readonly isOwn: (letter: DeadLetter) => boolean;
}

const pageLetters = 100;
/** Maximum number of letters, over all workspaces, read for one answer. */
const lettersMax = 1_000;

export async function deadMessages(box: Letterbox): Promise<readonly DeadMessage[]> {
  return (await lettersOf(box)).map(({ group, id, cause, reason, deadAt, failures, body }) => ({
    dead_id: deadId({ group, id }),
    cause,
    reason: reason ?? null,
    dead_at: new Date(deadAt).toISOString(),
    failures,
    message: body,
  }));
}

/** Returns false if there is no such letter. */
export async function redriveMessage(box: Letterbox, id: string): Promise<boolean> {
  const key = await keyOf(box, id);
  if (key === undefined) return false;
  await box.queue.dead.redrive(box.scope, box.name, key);
  return true;
}

export async function discardMessage(box: Letterbox, id: string): Promise<boolean> {
  const key = await keyOf(box, id);
  return key !== undefined && box.queue.dead.discard(box.scope, box.name, key);
}

async function keyOf(box: Letterbox, id: string): Promise<DeadKey | undefined> {
  const found = (await lettersOf(box)).find((letter) => deadId(letter) === id);
  return found === undefined ? undefined : { group: found.group, id: found.id };
}

async function lettersOf({ queue: { dead }, scope, name, isOwn }: Letterbox): Promise<readonly DeadLetter[]> {
  const found: DeadLetter[] = [];
  let cursor: string | undefined;
  let seen = 0;
  do {
    const page = await dead.list(scope, name, { limit: pageLetters, cursor });
    seen += page.letters.length;
    for (const { group, id } of page.letters) {
      const letter = await dead.inspect(scope, name, { group, id });
      if (letter !== undefined && isOwn(letter)) found.push(letter);
    }
    cursor = page.cursor;
  } while (cursor !== undefined && seen < lettersMax);
  return found;
}

/** The group of an external message can hold any text; this id is safe in a URL. */
function deadId({ group, id }: DeadKey): string {
  return hash("sha256", JSON.stringify([group, id]), "hex").slice(0, 40);
}
