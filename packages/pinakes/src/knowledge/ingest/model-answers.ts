/** The answers of a chat model about the chunks of a version, stored beside its text: an answered chunk is not sent again. */
import { PinakesError } from "../../domain/errors.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import type { CollectionPartition } from "../records/collection-partition.ts";
import type { PassageAnswer } from "../extraction/index.ts";
import { answersKey } from "../documents/parsed-text.ts";

const format = 1;

export async function readAnswers(
  objects: ObjectStore,
  partition: CollectionPartition,
  documentId: string,
  versions: readonly number[],
): Promise<Map<string, PassageAnswer>> {
  const answers = new Map<string, PassageAnswer>();
  for (const version of versions) {
    const bytes = await objects.get(partition.scope, answersKey(partition, documentId, version));
    if (bytes === undefined) continue;
    const stored = JSON.parse(Buffer.from(bytes).toString("utf8")) as {
      readonly format: number;
      readonly answers: readonly [string, PassageAnswer][];
    };
    if (stored.format !== format)
      throw new PinakesError(
        "CORRUPT",
        `The answers about document ${documentId} have format ${stored.format}; this version of Pinakes reads format ${format}.`,
      );
    for (const [key, answer] of stored.answers) answers.set(key, answer);
  }
  return answers;
}

export async function saveAnswers(
  objects: ObjectStore,
  partition: CollectionPartition,
  documentId: string,
  version: number,
  answers: ReadonlyMap<string, PassageAnswer>,
): Promise<void> {
  await objects.put(
    partition.scope,
    answersKey(partition, documentId, version),
    Buffer.from(JSON.stringify({ format, answers: [...answers] }), "utf8"),
  );
}
