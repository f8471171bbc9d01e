/**
 * Messages: each in the partition of its thread, and a small document under its id that says which. The place is written before the
 * message: a place without a message means nothing, a message without a place could not be found by its id.
 */
import type { MastraDBMessage } from "@mastra/core/memory";
import type { ContainersApi, IndexQuery } from "@pinakes/client";
import { Container } from "../container.ts";
import { toJson } from "../json.ts";
import { fromDocument, nextOrder, toDocument, type MessageDocument, type PlaceDocument } from "./message-document.ts";

export type MessageUpdate = Partial<Omit<MastraDBMessage, "content">> & {
  readonly id: string;
  readonly content?: object;
};

export class Messages {
  readonly container: Container<MessageDocument>;
  readonly places: Container<PlaceDocument>;

  constructor(api: ContainersApi, prefix: string) {
    this.container = new Container(api, `${prefix}-messages`, {
      partition_key: "/threadId",
      indexes: {
        ofThread: { partition: ["/threadId"], sort: ["/createdAt", "/order"] },
        ofResource: { partition: ["/resourceId"], sort: ["/createdAt", "/order"] },
      },
    });
    this.places = new Container(api, `${prefix}-message-places`, { partition_key: "/id" });
  }

  /** New ones are added, others replaced; one that was in another thread moves. The threads that changed. */
  async save(messages: readonly MastraDBMessage[]): Promise<Set<string>> {
    const latest = new Map(messages.map((message) => [message.id, message]));
    const places = await this.#placesOf([...latest.keys()]);
    const documents = [...latest.values()].map((message) => {
      if (!message.threadId) throw new Error(`Message "${message.id}" has no threadId; give the thread it belongs to.`);
      return toDocument(message, message.threadId, places.get(message.id)?.order ?? nextOrder());
    });
    await this.#write(documents, places);
    return new Set(documents.map((document) => document.threadId));
  }

  /** Changes existing messages; content and its metadata are merged one level deep. */
  async update(
    updates: readonly MessageUpdate[],
  ): Promise<{ readonly messages: MastraDBMessage[]; readonly threadIds: Set<string> }> {
    const places = await this.#placesOf(updates.map((update) => update.id));
    const messages: MastraDBMessage[] = [];
    const threadIds = new Set<string>();
    for (const update of updates) {
      const place = places.get(update.id);
      if (place === undefined) continue;
      const changed = await this.container.modify(keyOf(place), (before) =>
        before === null ? undefined : merge(before, update),
      );
      if (changed === null) continue;
      const moved =
        update.threadId !== undefined && update.threadId !== place.threadId
          ? { ...changed, threadId: update.threadId }
          : changed;
      if (moved !== changed) await this.#write([moved], places);
      threadIds.add(place.threadId).add(moved.threadId);
      messages.push(fromDocument(moved));
    }
    return { messages, threadIds };
  }

  /** The threads they were in. */
  async delete(ids: readonly string[]): Promise<Set<string>> {
    const places = [...(await this.#placesOf(ids)).values()];
    await this.container.deleteAnywhere(places.map(keyOf));
    await this.places.deleteAnywhere(places.map(({ id }) => ({ pk: id, id })));
    return new Set(places.map((place) => place.threadId));
  }

  async deleteThread(threadId: string): Promise<void> {
    const ids: string[] = [];
    for await (const { id } of this.container.walk({ equals: { threadId } })) ids.push(id);
    await this.container.deletePartition(threadId);
    await this.places.deleteAnywhere(ids.map((id) => ({ pk: id, id })));
  }

  /** In the order of the ids; unknown ones are omitted. */
  async byId(ids: readonly string[]): Promise<MessageDocument[]> {
    const places = await this.#placesOf(ids);
    const known = ids.flatMap((id) => places.get(id) ?? []);
    return (await this.container.readMany(known.map(keyOf))).filter((document) => document !== null);
  }

  ofThread(threadId: string, query: Pick<IndexQuery, "order" | "range">): AsyncGenerator<MessageDocument> {
    return this.container.walk({ index: "ofThread", equals: { threadId }, ...query });
  }

  ofResource(resourceId: string, query: Pick<IndexQuery, "order" | "range">): AsyncGenerator<MessageDocument> {
    return this.container.walk({ index: "ofResource", equals: { resourceId }, ...query });
  }

  async #placesOf(ids: readonly string[]): Promise<Map<string, PlaceDocument>> {
    const unique = [...new Set(ids)];
    const found = await this.places.readMany(unique.map((id) => ({ pk: id, id })));
    return new Map(found.flatMap((place) => (place === null ? [] : [[place.id, place] as const])));
  }

  async #write(documents: readonly MessageDocument[], places: ReadonlyMap<string, PlaceDocument>): Promise<void> {
    const elsewhere = documents.filter(({ id, threadId }) => places.get(id)?.threadId !== threadId);
    await this.places.putAnywhere(elsewhere.map(({ id, threadId, order }) => ({ id, threadId, order })));
    for (const [threadId, group] of Map.groupBy(documents, (document) => document.threadId))
      await this.container.putMany(threadId, group);
    const left = elsewhere.flatMap(({ id }) => places.get(id) ?? []);
    await this.container.deleteAnywhere(left.map(keyOf));
  }
}

const keyOf = ({ id, threadId }: { readonly id: string; readonly threadId: string }) => ({ pk: threadId, id });

function merge(before: MessageDocument, update: MessageUpdate): MessageDocument {
  const message = fromDocument(before);
  const { id: _id, threadId: _threadId, content, ...rest } = update;
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const document = toDocument({ ...message, ...given }, before.threadId, before.order);
  if (content === undefined) return document;
  const metadata = { ...message.content.metadata, ...("metadata" in content ? (content.metadata as object) : {}) };
  const merged = { ...message.content, ...content, ...(Object.keys(metadata).length > 0 ? { metadata } : {}) };
  return { ...document, content: toJson(merged) };
}
