/**
 * Group commit. The cost of a commit is mostly statements, round trips and the flush to disk, whatever it writes: requests that wait
 * anyway are therefore carried out together, in one transaction.
 *
 * A container has a few lanes, each one transaction at a time. A request that finds a free lane starts at once, alone: no request
 * waits in order to be grouped. While all lanes are busy requests queue, and the next free lane takes as many as fit.
 *
 * Invariants
 * - a group has at most one request of a partition: the engine serialises them;
 * - a group is bounded, in requests, operations and bytes: it costs the server no more than one large batch does;
 * - an outcome is returned only after the COMMIT that contains it returned;
 * - an error in one request fails no other: the group is rolled back and its requests are retried one by one (unless the server
 *   failed: then all fail at once);
 * - a partition that another process holds delays only its own request, which leaves the lane.
 */
import { hasCode } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { CommitOutcome } from "../../items/item-engine.ts";
import type { CommitRequest } from "../../items/plan-batch.ts";

/** Two: while the server works for one, the plans of the other are made. More make smaller groups, and each a flush to disk. */
export const lanesMax = 2;
export const groupRequestsMax = 16;

interface Committer {
  /** Undefined: its partition is in use elsewhere; nothing was written. */
  group(container: string, requests: readonly CommitRequest[]): Promise<readonly (CommitOutcome | undefined)[]>;
  alone(container: string, request: CommitRequest): Promise<CommitOutcome>;
}

interface Waiting {
  readonly request: CommitRequest;
  readonly chars: number;
  readonly resolve: (outcome: CommitOutcome) => void;
  readonly reject: (error: unknown) => void;
}

interface Lanes {
  readonly container: string;
  readonly waiting: Waiting[];
  busy: number;
}

export class CommitGroups {
  readonly #committer: Committer;
  readonly #containers = new Map<string, Lanes>();

  constructor(committer: Committer) {
    this.#committer = committer;
  }

  async commit(container: string, request: CommitRequest): Promise<CommitOutcome> {
    let lanes = this.#containers.get(container);
    if (lanes === undefined) this.#containers.set(container, (lanes = { container, waiting: [], busy: 0 }));
    const { promise, resolve, reject } = Promise.withResolvers<CommitOutcome>();
    lanes.waiting.push({ request, chars: charsOf(request), resolve, reject });
    if (lanes.busy < lanesMax) void this.#work(lanes);
    return promise;
  }

  async #work(lanes: Lanes): Promise<void> {
    lanes.busy += 1;
    while (lanes.waiting.length > 0) await this.#run(lanes.container, nextGroup(lanes.waiting));
    lanes.busy -= 1;
  }

  /** Never rejects: every request gets its own outcome. */
  async #run(container: string, group: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await this.#committer.group(
        container,
        group.map(({ request }) => request),
      );
      for (const [i, waiting] of group.entries()) {
        const outcome = outcomes[i];
        if (outcome === undefined) void this.#alone(container, waiting);
        else waiting.resolve(outcome);
      }
    } catch (error) {
      if (group.length === 1 || isMachineError(error)) for (const { reject } of group) reject(error);
      else await Promise.all(group.map((waiting) => this.#alone(container, waiting)));
    }
  }

  async #alone(container: string, { request, resolve, reject }: Waiting): Promise<void> {
    await this.#committer.alone(container, request).then(resolve, reject);
  }
}

/** Takes the first, and those after it as long as they fit: no request is overtaken. */
function nextGroup(waiting: Waiting[]): Waiting[] {
  let [operations, chars] = [0, 0];
  const end = waiting.findIndex((one, i) => {
    operations += one.request.operations.length;
    chars += one.chars;
    return i > 0 && (i >= groupRequestsMax || operations > limits.batchOperationsMax || chars > limits.batchBytesMax);
  });
  return waiting.splice(0, end === -1 ? waiting.length : end);
}

function charsOf({ operations }: CommitRequest): number {
  return operations.reduce((sum, operation) => sum + ("prepared" in operation ? operation.prepared.json.length : 0), 0);
}

/** Each of them alone would fail with it, too: no connection, no time, no space. */
function isMachineError(error: unknown): boolean {
  return hasCode(error, "UNAVAILABLE");
}
