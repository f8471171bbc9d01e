/**
 * An agent that writes a report in steps, and survives its worker. Start a server with `npm start`, then:
 * PINAKES_KEY=$(cat data/root-token) npx node packages/client/examples/agent.ts
 */
import { ConflictError, createStateClient } from "@pinakes/client";

const client = createStateClient({
  url: process.env["PINAKES_URL"] ?? "http://127.0.0.1:7430",
  apiKey: process.env["PINAKES_KEY"],
});

// A workflow and its progress.
const { workflow_id } = await client.workflows.create({ type: "sequential", name: "Report", total_steps: 3 });
await client.workflows.start(workflow_id);
await client.workflows.checkpoint(workflow_id, { step: 1, state: { outline: ["Intro", "Findings"] } });

// The worker dies; another one acquires the lease and continues from the latest checkpoint.
const { state, lease } = await client.workflows.resume(workflow_id, { owner: "worker-7", leaseSeconds: 30 });
console.log("goes on with", JSON.stringify(state));
await client.workflows.pause(workflow_id).catch((error: unknown) => {
  if (!ConflictError.isInstance(error)) throw error;
  console.log("only the holder of the lease may write");
});

const fencingToken = lease?.fencing_token;
await client.workflows.checkpoint(workflow_id, { step: 2, state: { draft: "Sales rose." } }, { fencingToken });

// Read-modify-write: after a concurrent change the function is called again with the current document.
await client.workflows.update(workflow_id, ({ description }) => ({ description: `${description} Second draft.` }), {
  fencingToken,
});
await client.workflows.complete(workflow_id, { fencingToken });

// Messages, and a context window that fits a model.
const [agent_id, session_id] = ["writer", workflow_id];
await client.memories.append({ agent_id, session_id, message_type: "user", content: "Keep it short.", token_count: 4 });
await client.memories.append({ agent_id, session_id, message_type: "assistant", content: "I will.", token_count: 3 });
for await (const { message_type, content } of client.memories.list({ agent_id, session_id }))
  console.log(`${message_type}: ${content}`);
const { messages, omitted } = await client.memories.context({ agent_id, session_id, maxTokens: 5 });
console.log(`${messages.length} message fits, ${omitted} does not`);

// Tool calls: recorded in the background, in batches, exactly once.
const log = client.tools.recorder({ flushMs: 500, onError: (error) => console.error(error) });
for (const duration_ms of [12, 30, 9])
  log.record({ tool_name: "search", agent_id, session_id, status: "success", duration_ms });
await log.close();
const from = new Date(Date.now() - 86_400_000).toISOString();
const { items } = await client.tools.aggregate({ from, filter: { session_id }, aggregates: ["count", "p95"] });
console.log("tool calls:", JSON.stringify(items[0]?.values));

// Documents of any shape, in a container of one's own.
interface Note {
  readonly id: string;
  readonly author: string;
  readonly stars: number;
}
const notes = client.container<Note>("notes");
await notes.define({ partition_key: "/author" });
await notes.upsert({ id: workflow_id, author: "writer", stars: 4 });
await notes.update("writer", workflow_id, (note) => ({ ...note, stars: note.stars + 1 }));
for await (const { stars } of notes.query({
  query: "SELECT * FROM c WHERE c.id = @id",
  parameters: [{ name: "@id", value: workflow_id }],
}))
  console.log(`${stars} stars`);
