/**
 * A tour of the item store in a minute. After `npm ci`: npx node packages/pinakes/examples/tour.ts
 */
import { days, defineContainer, open, PinakesError, tenantScope, timestamp } from "pinakes";
import { z } from "zod";

// Declare a container once: the type, the validation, the indexes and the lifetime come from here.
const notes = defineContainer({
  name: "notes",
  partitionKey: ["agent_id"],
  schema: z.object({
    id: z.string().optional(),
    agent_id: z.string(),
    topic: z.string(),
    text: z.string(),
    importance: z.number().int().min(1).max(10).default(5),
    created_at: timestamp(), // ISO 8601 in UTC; sorted as text, so write one precision: toISOString()
    ttl: z.number().int().optional(), // this document's own lifetime
  }),
  indexes: { byTopic: { partition: ["topic"], sort: [{ path: "created_at", order: "desc" }] } },
  // Time to live in seconds from the last change: the container's is the default, a document's own `ttl` overrides it (-1: never).
  // Without a container `ttl` nothing expires; with -1 only documents that have their own.
  ttl: days(30),
  feed: true,
});

// Open the stores: here SQLite, in a folder. This is the line that changes with the engine.
await using pinakes = await open({ dir: "./data/tour" });
const repository = await notes.open(pinakes.items);

// The first argument of every call is the tenant. No tenant sees another's documents.
const scope = tenantScope("acme");
const { cursor } = await repository.changes(scope, { from: "now" });

// Write: one document, then several of one partition, all or nothing.
const now = () => new Date().toISOString();
const first = await repository.create(scope, {
  agent_id: "a1",
  topic: "travel",
  text: "Prefers trains.",
  importance: 7,
  created_at: now(),
});
const { session } = await repository.batch(scope, { agent_id: "a1" }, [
  { op: "create", document: { agent_id: "a1", topic: "travel", text: "Never before nine.", created_at: now() } },
  { op: "create", document: { agent_id: "a1", topic: "food", text: "No mushrooms.", created_at: now(), ttl: 3_600 } },
]);

// Change: read, modify, write back; repeated after a concurrent change.
const changed = await repository.update(scope, { agent_id: "a1", id: first.id }, (note) => ({
  ...note,
  importance: note.importance + 1,
}));
console.log("importance is now", changed.importance);

// A write with an outdated etag changes nothing, and the error says what to do.
try {
  await repository.replace(scope, first, { ifMatch: first._etag });
} catch (error) {
  if (!PinakesError.isInstance(error)) throw error;
  console.log(error.code, error.detail);
}

// Query by a declared index. An index that is not declared, or a field that it does not have, is a type error.
// The session token is for engines with eventual indexes: the query waits until it shows our write.
const page = await repository.query(scope, "byTopic", { equals: { topic: "travel" }, limit: 2, session });
for (const note of page.items) console.log("note:", note.text, note.importance);

// Follow the changes since the cursor: every commit, in order within a partition, deletes included.
await repository.delete(scope, { agent_id: "a1", id: first.id });
const feed = await repository.changes(scope, { cursor });
for (const change of feed.changes) console.log("change:", change.kind, change.id);
