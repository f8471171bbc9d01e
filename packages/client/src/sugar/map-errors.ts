/** Wraps an API so that it throws the errors of this package, whichever implementation is behind it. */
import type { KnowledgeApi } from "../api/knowledge-api.ts";
import type { StateApi } from "../api/state-api.ts";
import { toClientError } from "../errors.ts";

export function mapErrors(api: StateApi): StateApi {
  return {
    workflows: mapped(api.workflows),
    memories: mapped(api.memories),
    threads: mapped(api.threads),
    systemThreads: mapped(api.systemThreads),
    entities: mapped(api.entities),
    metrics: mapped(api.metrics),
    tools: mapped(api.tools),
    containers: mapped(api.containers),
  };
}

export function mapKnowledgeErrors(api: KnowledgeApi): KnowledgeApi {
  return {
    repositories: mapped(api.repositories),
    collections: mapped(api.collections),
    documents: mapped(api.documents),
    search: mapped(api.search),
    answers: mapped(api.answers),
    graph: mapped(api.graph),
    vectors: mapped(api.vectors),
    jobs: mapped(api.jobs),
    operations: mapped(api.operations),
    keys: mapped(api.keys),
    audit: mapped(api.audit),
    erasures: mapped(api.erasures),
    receipts: mapped(api.receipts),
    holds: mapped(api.holds),
    retention: mapped(api.retention),
    subjectExports: mapped(api.subjectExports),
    events: mapped(api.events),
    server: mapped(api.server),
  };
}

function mapped<Group extends object>(group: Group): Group {
  const made = new Map<string | symbol, unknown>();
  return new Proxy(group, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name, target);
      if (typeof method !== "function") return method;
      const known = made.get(name);
      if (known !== undefined) return known;
      const call = (...args: unknown[]): unknown => guarded(() => Reflect.apply(method, target, args) as unknown);
      made.set(name, call);
      return call;
    },
  });
}

/** The result of a call: a promise, or a stream of results. */
function guarded(call: () => unknown): unknown {
  let result: unknown;
  try {
    result = call();
  } catch (error) {
    throw toClientError(error);
  }
  if (result instanceof Promise) {
    return result.catch((error: unknown) => {
      throw toClientError(error);
    });
  }
  return isStream(result) ? guardedStream(result) : result;
}

async function* guardedStream(stream: AsyncIterable<unknown>): AsyncGenerator<unknown, void> {
  try {
    yield* stream;
  } catch (error) {
    throw toClientError(error);
  }
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
