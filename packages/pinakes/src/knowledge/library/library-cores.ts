/**
 * Cores: triples and vectors that a user keeps apart from any collection, to load them into collections. A core is the sequence of the
 * messages that it was put together from. Flows, of which a server has one that works, are names that clients start and stop.
 */
import type { Caller } from "../../domain/caller.ts";
import { hasCode, PinakesError, show } from "../../domain/errors.ts";
import { ifMissing } from "../../runtime/expected-errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Files } from "../files/files.ts";
import { isoTime } from "../records/times.ts";
import {
  itemId,
  prefixes,
  type CoreKind,
  type LibraryFlow,
  type StoredTerm,
  type StoredTriple,
} from "./library-records.ts";
import { checkLibraryId, checkText, type LibraryStore } from "./library-store.ts";
import { libraryLimits } from "./limits.ts";

/** A message of a core, in terms of ours. */
export type CoreMessage =
  | { readonly triples: readonly StoredTriple[] }
  | { readonly entities: readonly { readonly entity: StoredTerm; readonly vectors: readonly (readonly number[])[] }[] }
  | {
      readonly chunks: readonly {
        readonly chunk: string;
        readonly text: boolean;
        readonly vectors: readonly (readonly number[])[];
      }[];
    };

export class LibraryCores {
  readonly #store: LibraryStore;
  readonly #files: Files;
  readonly #clock: Clock;
  readonly #newId: () => string;

  constructor(parts: { store: LibraryStore; files: Files; clock: Clock; newId: () => string }) {
    this.#store = parts.store;
    this.#files = parts.files;
    this.#clock = parts.clock;
    this.#newId = parts.newId;
  }

  async list(caller: Caller, kind: CoreKind): Promise<readonly string[]> {
    const cores = await this.#store.list(caller, "core", `core:${kind}:`);
    return cores.map(({ core_id }) => core_id).toSorted();
  }

  /** Adds a message. The first makes the core. */
  async put(caller: Caller, kind: CoreKind, coreId: string, message: CoreMessage): Promise<void> {
    const id = itemId.core(kind, checkLibraryId(coreId, "id"));
    const file = await this.#files.create(caller, {
      filename: "core.json",
      body: inOne(Buffer.from(JSON.stringify(message))),
      settings: async () => ({ purpose: "user_data" }),
    });
    const created_at = isoTime(this.#clock.now());
    await this.#store
      .create<"core">(caller, { id, kind: "core", core_kind: kind, core_id: coreId, created_at })
      .catch((error: unknown) => {
        if (!hasCode(error, "CONFLICT")) throw error;
      });
    // Ids are ordered by time, so messages come back as they came.
    const partId = `${itemId.parts(kind, coreId)}${this.#newId()}`;
    await this.#store.create<"part">(caller, { id: partId, kind: "part", core_id: coreId, file_id: file.id });
  }

  async *messages(caller: Caller, kind: CoreKind, coreId: string): AsyncGenerator<CoreMessage> {
    await this.#require(caller, kind, coreId);
    for await (const part of this.#store.each(caller, "part", itemId.parts(kind, coreId))) {
      const { body } = await this.#files.content(caller, part.file_id);
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) chunks.push(chunk);
      yield JSON.parse(Buffer.concat(chunks).toString("utf8")) as CoreMessage;
    }
  }

  async delete(caller: Caller, kind: CoreKind, coreId: string): Promise<void> {
    await this.#require(caller, kind, coreId);
    for (const part of await this.#store.list(caller, "part", itemId.parts(kind, coreId))) {
      await ifMissing(this.#files.delete(caller, part.file_id));
      await this.#store.remove(caller, part.id);
    }
    await this.#store.remove(caller, itemId.core(kind, coreId));
  }

  async flows(caller: Caller): Promise<readonly LibraryFlow[]> {
    return this.#store.list(caller, "flow", prefixes.flow);
  }

  async startFlow(
    caller: Caller,
    flow: { readonly flow_id: string; readonly blueprint: string; readonly description: string },
  ): Promise<void> {
    const { flow_id, blueprint, description } = flow;
    try {
      await this.#store.create<"flow">(caller, {
        id: itemId.flow(checkLibraryId(flow_id, "flow-id")),
        kind: "flow",
        flow_id,
        blueprint: checkText(blueprint, "blueprint-name", libraryLimits.titleCharsMax),
        description: checkText(description, "description", libraryLimits.commentsCharsMax),
        created_at: isoTime(this.#clock.now()),
      });
    } catch (error) {
      if (!hasCode(error, "CONFLICT")) throw error;
      throw new PinakesError("CONFLICT", `Flow ${show(flow_id)} already exists.`, { cause: error });
    }
  }

  async stopFlow(caller: Caller, flowId: string): Promise<void> {
    const id = itemId.flow(checkLibraryId(flowId, "flow-id"));
    await this.#store.get(caller, "flow", id, `flow ${show(flowId)}`);
    await this.#store.remove(caller, id);
  }

  async #require(caller: Caller, kind: CoreKind, coreId: string): Promise<void> {
    await this.#store.get(caller, "core", itemId.core(kind, checkLibraryId(coreId, "id")), `core ${show(coreId)}`);
  }
}

async function* inOne(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
