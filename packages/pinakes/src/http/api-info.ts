/** General information for the OpenAPI document and the reference page. */
import type { ApiInfo } from "./framework/docs/openapi.ts";

/** In the order of the reference. */
const tags: NonNullable<ApiInfo["tags"]> = [
  { name: "repositories", description: "Groups of collections that share a model, settings and access." },
  {
    name: "collections",
    description: "Documents, vectors and triples under one access decision, one retention and one deletion.",
  },
  {
    name: "catalogs",
    description: "A user's own catalogs, with the operations of the knowledge-base agent; the same tools as over MCP.",
  },
  { name: "documents", description: "Upload, read, re-index and delete files; their text, chunks and versions." },
  { name: "search", description: "Hybrid, vector, keyword and graph search with citations that can be verified." },
  { name: "vectors", description: "Vectors of callers that compute embeddings themselves." },
  { name: "graph", description: "Triples of RDF and SPARQL 1.1." },
  { name: "pipelines", description: "Folders and buckets whose files are ingested on a schedule or on events." },
  { name: "transfer", description: "Single-use upload grants and expiring download links." },
  { name: "quality", description: "Evaluation of retrieval on judged questions." },
  { name: "jobs", description: "Long-running work, operations on all stores, and events." },
  { name: "access", description: "Who may do what, and why." },
  { name: "identity", description: "API keys, browser sessions and the caller." },
  { name: "workflows", description: "Runs of agents with checkpoints, leases and fencing tokens." },
  { name: "memories", description: "Messages of sessions, context windows and semantic search over them." },
  { name: "threads", description: "Conversation threads and agent entities." },
  { name: "metrics", description: "Metrics of agents with exact aggregates." },
  { name: "tools", description: "The log of tool invocations, redacted and hash-chained." },
  { name: "telemetry", description: "OpenTelemetry traces, metrics and logs (OTLP)." },
  { name: "containers", description: "Custom containers: items, batches, SQL queries and change feeds." },
  { name: "migrations", description: "Move data in from other systems and between engines." },
  { name: "openai", description: "Files, vector stores, embeddings and conversations for clients of the OpenAI API." },
  {
    name: "lisa",
    description: "Repositories, collections, documents and searches for clients of LISA, at the server's root.",
  },
  {
    name: "trustgraph",
    description: "Collections, documents, triples and embeddings for clients of TrustGraph, at `/api/v1`.",
  },
  { name: "governance", description: "Erasures with signed receipts, and legal holds." },
  { name: "audit", description: "The audit log: who did what, with cryptographic proofs." },
  { name: "operation", description: "Queues, consistency checks and metrics for operators." },
  { name: "system", description: "Health, readiness and information about the server." },
];

export function apiInfo(version: string): ApiInfo {
  return {
    title: "Pinakes",
    version,
    description: "The data plane of AI agents: what they know and what they did.",
    tags,
  };
}
