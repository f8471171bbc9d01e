/** Live events of a workflow: the events, the lease holder, and refetches after each. */
import { type WorkflowEvent, workflowEventTypes } from "@pinakes/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useStream, type StreamState } from "../../api/stream.ts";
import { leaseOptions, workflowPath, type Lease } from "../../api/workflows.ts";

/** Limits the events of a long-running workflow. */
const keptMax = 1_000;

export interface WorkflowEvents {
  readonly state: StreamState;
  /** Newest first. */
  readonly events: readonly WorkflowEvent[];
  /** Undefined while loading, or if loading failed. */
  readonly lease: Lease | undefined;
  readonly deleted: boolean;
}

export function useWorkflowEvents(wid: string): WorkflowEvents {
  const client = useQueryClient();
  const [events, setEvents] = useState<readonly WorkflowEvent[]>([]);
  const [told, setTold] = useState<Lease>();
  const state = useStream<WorkflowEvent>({
    at: `${workflowPath(wid)}/events`,
    types: workflowEventTypes,
    onEvent: (event) => {
      setEvents((old) => [event, ...old].slice(0, keptMax));
      if (event.type === "workflow.deleted") return;
      if (event.type === "lease.changed") setTold(event.data as unknown as Lease);
      else void client.invalidateQueries({ queryKey: ["workflows", "one", wid] });
      if (event.type === "checkpoint.added")
        void client.invalidateQueries({ queryKey: ["workflows", "checkpoints", wid] });
    },
    onMissed: () => {
      setTold(undefined);
      for (const what of ["one", "checkpoints", "lease"])
        void client.invalidateQueries({ queryKey: ["workflows", what, wid] });
    },
  });
  const asked = useQuery(leaseOptions(wid)).data;
  const lease = told ?? asked;
  return { state, events, lease, deleted: events[0]?.type === "workflow.deleted" };
}
