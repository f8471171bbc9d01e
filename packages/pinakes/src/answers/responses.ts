/**
 * Generated responses, stored so that clients can read and continue them (OpenAI's `responses` with `store`).
 *
 *   responses  (owner)   the responses of one user
 *
 * Invariants
 * - a response is found by tenant, user and id together: it quotes documents that others of the workspace may not be allowed to read;
 * - it expires 30 days after it was written.
 */
import { hash } from "node:crypto";
import { z } from "zod";
import { defineContainer, type Container } from "../containers/index.ts";
import { requireCaller, type Caller } from "../domain/caller.ts";
import { PinakesError, show } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import type { ItemStore } from "../ports/item-store.ts";
import { ifMissing } from "../runtime/expected-errors.ts";
import { answerLimits } from "./limits.ts";

const ResponseRecord = z.strictObject({
  id: z.string(),
  owner: z.string(),
  /** The response in the form of the interface that created it, and its input. */
  content: z.looseObject({}),
});
type Records = Container<z.output<typeof ResponseRecord>, z.input<typeof ResponseRecord>, "owner", {}>;

const container = defineContainer({
  name: "responses",
  partitionKey: ["owner"],
  schema: ResponseRecord,
  ttl: answerLimits.responseKeptSeconds,
});

export class Responses {
  readonly #records: Records;

  private constructor(records: Records) {
    this.#records = records;
  }

  static async open(items: ItemStore): Promise<Responses> {
    return new Responses(await container.open(items));
  }

  async put(caller: Caller, id: string, content: JsonObject): Promise<void> {
    await this.#records.create(requireCaller(caller), { id, owner: ownerOf(caller), content });
  }

  async get(caller: Caller, id: string): Promise<JsonObject> {
    const found = await this.#records.read(requireCaller(caller), { id, owner: ownerOf(caller) });
    if (found === undefined) throw new PinakesError("NOT_FOUND", `There is no response ${show(id)}.`);
    return found.content as JsonObject;
  }

  async delete(caller: Caller, id: string): Promise<void> {
    await this.get(caller, id);
    await ifMissing(this.#records.delete(requireCaller(caller), { id, owner: ownerOf(caller) }));
  }
}

/** An id of fixed length, whatever the length of the user id. */
function ownerOf({ userId }: Caller): string {
  return hash("sha256", userId, "hex").slice(0, 32);
}
