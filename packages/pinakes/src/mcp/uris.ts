/**
 * The URIs of resources: documents and the state of agents. They never contain the workspace, so a URI cannot refer to another workspace.
 */
import type { Citation } from "@pinakes/client";

const part = encodeURIComponent;

export const templates = {
  collection: "pinakes://repositories/{repository}/collections/{collection}",
  document: "pinakes://repositories/{repository}/collections/{collection}/documents/{document}",
  excerpt:
    "pinakes://repositories/{repository}/collections/{collection}/documents/{document}/versions/{version}/text/{start}/{end}",
  workflow: "state://workflows/{workflow}",
  checkpoint: "state://workflows/{workflow}/checkpoints/{step}",
  session: "state://agents/{agent}/sessions/{session}",
  receipt: "state://receipts/{erasure}",
} as const;

interface Ids {
  readonly repository_id: string;
  readonly collection_id: string;
  readonly document_id: string;
}

export function collectionUri({ repository_id, collection_id }: Omit<Ids, "document_id">): string {
  return `pinakes://repositories/${part(repository_id)}/collections/${part(collection_id)}`;
}

export function documentUri(ids: Ids): string {
  return `${collectionUri(ids)}/documents/${part(ids.document_id)}`;
}

/** The text that a citation points to. */
export function excerptUri(citation: Citation): string {
  return `${documentUri(citation)}/versions/${citation.version}/text/${citation.start}/${citation.end}`;
}

export function workflowUri(workflowId: string): string {
  return `state://workflows/${part(workflowId)}`;
}

export function sessionUri(agentId: string, sessionId: string): string {
  return `state://agents/${part(agentId)}/sessions/${part(sessionId)}`;
}

/** Of the receipt of an erasure. */
export function receiptUri(erasureId: string): string {
  return `state://receipts/${part(erasureId)}`;
}
