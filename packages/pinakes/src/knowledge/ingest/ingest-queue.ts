/** Documents on their way to the workers. The record is the truth; a message only says where to look. */
import type { Scope, SystemScope } from "../../domain/scope.ts";
import type { Queue, ReceivedMessage } from "../../ports/queue.ts";
import type { Shelf } from "../documents/shelf.ts";
import type { DocumentRecord } from "../model/records.ts";
import { knowledgeTenant, type KnowledgeWork } from "./knowledge-work.ts";

export const documentsQueue = "documents";

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
  readonly #registry: KnowledgeWork;
  readonly #log: (line: string) => void;

  constructor(queue: Queue, system: SystemScope, registry: KnowledgeWork, log: (line: string) => void) {
    this.queue = queue;
    this.scope = system.forTenant(knowledgeTenant);
    this.#registry = registry;
    this.#log = log;
  }

  /** Before anything of the collection is begun: from here on the watchdog looks after it. */
  async watch(shelf: Shelf): Promise<void> {
    await this.#registry.mark({ kind: "documents", tenant: shelf.scope.tenant, ...shelf.place });
  }

  /** A message that gets lost here is sent again by the watchdog, so its loss is no error of the caller's. */
  async send(shelf: Shelf, { document_id, run, attempts }: DocumentRecord, again = ""): Promise<void> {
    const { repository_id, collection_id, incarnation } = shelf.place;
    const body: IngestMessage = { tenant: shelf.scope.tenant, repository_id, collection_id, incarnation, document_id, run };
    const group = `${shelf.scope.tenant}:${document_id}`;
    try {
      await this.queue.send(this.scope, documentsQueue, { body: { ...body }, group, dedupId: `${document_id}:${run}:${attempts}${again}` });
    } catch (error) {
      this.#log(`document ${document_id} could not be queued, the watchdog will: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

export function readMessage({ body }: ReceivedMessage): IngestMessage {
  return body as unknown as IngestMessage;
}
