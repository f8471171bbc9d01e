/** Documents on their way to the workers, in one queue per workspace. The record is authoritative; a message only says where to look. */
import type { Scope, SystemScope } from "../../domain/scope.ts";
import type { DeadKey, Queue, ReceivedMessage } from "../../ports/queue.ts";
import type { CollectionPartition } from "../records/collection-partition.ts";
import type { DocumentRecord } from "../records/records.ts";
import { knowledgeTenant, type KnowledgeWork } from "../records/work-registry.ts";
import { laneOf, Lanes, sharedQueue } from "./lanes.ts";

export interface IngestMessage {
  readonly tenant: string;
  readonly repository_id: string;
  readonly collection_id: string;
  readonly incarnation: string;
  readonly document_id: string;
  readonly run: number;
}

export class IngestQueue {
  readonly scope: Scope;
  readonly queue: Queue;
  readonly lanes: Lanes;
  readonly #registry: KnowledgeWork;
  readonly #log: (line: string) => void;

  constructor(queue: Queue, system: SystemScope, registry: KnowledgeWork, log: (line: string) => void) {
    this.queue = queue;
    this.scope = system.forTenant(knowledgeTenant);
    this.lanes = new Lanes(() => registry.tenantsWithDocuments());
    this.#registry = registry;
    this.#log = log;
  }

  /** The queues that may hold messages of a workspace. */
  queuesOf(tenant: string): readonly string[] {
    return [laneOf(tenant), sharedQueue];
  }

  /** Called before any work on the collection starts: from here on the watchdog monitors it. */
  async watch(partition: CollectionPartition): Promise<void> {
    await this.#registry.mark({ kind: "documents", tenant: partition.scope.tenant, ...partition.key });
  }

  /** The watchdog resends a message that is lost here, so a failure is not the caller's error. */
  async send(
    partition: CollectionPartition,
    { document_id, run, attempts }: DocumentRecord,
    again = "",
  ): Promise<void> {
    const { repository_id, collection_id, incarnation } = partition.key;
    const body: IngestMessage = {
      tenant: partition.scope.tenant,
      repository_id,
      collection_id,
      incarnation,
      document_id,
      run,
    };
    const group = `${partition.scope.tenant}:${document_id}`;
    try {
      const lane = laneOf(partition.scope.tenant);
      await this.queue.send(this.scope, lane, {
        body: { ...body },
        group,
        dedupId: `${document_id}:${run}:${attempts}${again}`,
      });
      this.lanes.expect(lane);
    } catch (error) {
      this.#log(
        `document ${document_id} could not be queued, the watchdog will resend it: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  /** Whether the lane of a workspace holds messages, including leased ones. */
  async hasMessages(tenant: string): Promise<boolean> {
    const { ready, inFlight, delayed } = await this.queue.stats(this.scope, laneOf(tenant));
    return ready + inFlight + delayed > 0;
  }

  /** False if there is no such letter. The workspace is marked first, so that workers poll its lane. */
  async redrive(tenant: string, key: DeadKey): Promise<boolean> {
    for (const queue of this.queuesOf(tenant)) {
      const letter = await this.queue.dead.inspect(this.scope, queue, key);
      if (letter === undefined) continue;
      const { repository_id, collection_id, incarnation } = readMessage(letter);
      await this.#registry.mark({ kind: "documents", tenant, repository_id, collection_id, incarnation });
      await this.queue.dead.redrive(this.scope, queue, key);
      this.lanes.expect(queue);
      return true;
    }
    return false;
  }
}

export function readMessage({ body }: Pick<ReceivedMessage, "body">): IngestMessage {
  return body as unknown as IngestMessage;
}
