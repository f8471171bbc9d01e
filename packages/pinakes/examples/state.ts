/** Agents' state in one process: a workflow that survives its worker, a conversation that fits a model, figures, a log, and SQL. */
import { openEmbedded } from "pinakes";

// The same client talks to a server: createStateClient({ url, apiKey }) of @pinakes/client.
// What it leaves behind: PINAKES_DATA=./data/state npx pinakes workflows list --workspace acme
await using client = await openEmbedded({ dir: "./data/state", workspace: "acme" });
const { workflows, memories, metrics, tools } = client;

// A workflow, its progress, and where it goes on after a crash.
const { workflow_id } = await workflows.create({
  type: "sequential",
  name: "Quarterly report",
  total_steps: 3,
  metadata: { timeout_seconds: 3_600 },
});
await workflows.start(workflow_id);
await workflows.checkpoint(workflow_id, { step: 1, state: { outline: ["Intro", "Findings"] } });
// The first worker dies here. Another takes over: one lease, the latest checkpoint, and a token that fences the first one off.
const { state, lease } = await workflows.resume(workflow_id, { owner: "worker-2", leaseSeconds: 30 });
const { fencing_token: fencingToken } = lease ?? { fencing_token: 0 };
const late = await workflows.checkpoint(workflow_id, { step: 2, state: {} }).catch((error: Error) => error.message);
await workflows.checkpoint(
  workflow_id,
  { step: 2, state: { outline: ["Intro", "Findings"], draft: "Sales rose." } },
  { fencingToken },
);
const done = await workflows.complete(workflow_id, { fencingToken });
console.log("resumed with", state, "and is", done.status, "at step", done.current_step);
console.log("the first worker is told:", late);

// A conversation, and as much of it as fits 25 tokens: a tool call and its result are both in or both out, and it starts with a user message.
const said = { agent_id: "analyst", session_id: workflow_id };
const call = await memories.append({ ...said, message_type: "tool_call", content: "sales(quarter=3)", token_count: 8 });
await memories.append({
  ...said,
  message_type: "tool_result",
  content: "1.2 million",
  token_count: 6,
  parent_message_id: call.id,
});
await memories.append({
  ...said,
  message_type: "assistant",
  content: "Sales rose to 1.2 million in the third quarter.",
  token_count: 14,
});
await memories.append({ ...said, message_type: "user", content: "And compared to last year?", token_count: 9 });
const window = await memories.context({ ...said, maxTokens: 25 });
console.log(
  "in the window:",
  window.messages.map(({ message_type }) => message_type),
  "left out:",
  window.omitted,
);
const { hits } = await memories.search({ query: "how much did we sell?", agent_id: "analyst", limit: 1 });
console.log("recalled:", hits[0]?.memory.content);

// What it cost and what was done; recorded in the background, sent in batches, each line once.
const seconds = metrics.recorder();
for (const value of [120, 80, 340])
  seconds.record({ agent_id: "analyst", metric_type: "latency", value, dimensions: { session_id: workflow_id } });
await seconds.close();
const rules = await tools.putRule({ tool_name: "sales", mask: ["input_args.api_key"] });
await tools.ingest([
  {
    tool_name: rules.tool_name,
    ...said,
    status: "success",
    duration_ms: 41,
    input_args: { quarter: 3, api_key: "secret" },
  },
]);
const { items } = await metrics.aggregate({
  aggregates: ["count", "avg", "p95"],
  group_by: ["agent_id"],
  filter: { session_id: workflow_id },
});
console.log("latency:", items[0]?.values);
for await (const { tool_name, input_args } of tools.list({ session_id: workflow_id }))
  console.log("called", tool_name, "with", input_args);

// Every container can be asked in SQL; one's own as well.
const query = "SELECT c.message_type, COUNT(1) AS n FROM c WHERE c.session_id = @session GROUP BY c.message_type";
const answer = await client.containers.query("agent-memories", {
  query,
  parameters: [{ name: "@session", value: workflow_id }],
});
console.log("by type:", answer.items);
