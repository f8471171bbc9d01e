/**
 * For tests: DynamoDB with indexes that are late, as the real ones are. Local servers show a write in every index at once.
 *
 * Two servers. Everything goes to the first. A query of an index goes to the second, which gets every successful write again
 * `lagMs` later, in the same order and without its conditions. So index reads show the state of a moment ago, with ghosts of what
 * was deleted or changed since, while the table itself is current.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { startDynamo, type DynamoServer } from "./test-server.ts";

export interface LagProxyOptions {
  readonly lagMs: number;
  /** Indexes that are not late. */
  readonly prompt?: readonly string[] | undefined;
}

export interface LagProxy extends DynamoServer {
  /** How late indexes are from now on. Pending updates are applied at once. */
  lag(ms: number): void;
  /** The next writes are executed, but their connection is closed before the response, after `meanwhile`. */
  loseAnswers(count: number, meanwhile?: () => unknown): void;
  /** The connection of the next writes breaks before they arrive. */
  loseWrites(count: number): void;
  /** The first matching call waits until it is released. `reached` resolves when it has come. */
  hold(matches: (operation: string, body: string) => boolean): {
    readonly reached: Promise<void>;
    readonly letGo: () => void;
  };
  /** The next calls, of any kind, are throttled. */
  throttle(count: number): void;
}

interface Call {
  readonly operation: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

const writing = new Set(["PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"]);
const defining = new Set(["CreateTable", "UpdateTable", "DeleteTable"]);

export async function startLagProxy({ lagMs, prompt = [] }: LagProxyOptions): Promise<LagProxy> {
  const [primary, replica] = [await startDynamo(), await startDynamo()];
  const router = new Router(primary.endpoint, replica.endpoint, lagMs, new Set(prompt));
  const server = createServer((request, response) => void serve(router, request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = async () => {
    router.stop();
    await closeServer(server);
    await Promise.all([primary.stop(), replica.stop()]);
  };
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop,
    lag: (ms) => router.lag(ms),
    loseAnswers: (count, meanwhile) => router.loseAnswers(count, meanwhile),
    loseWrites: (count) => router.loseWrites(count),
    hold: (matches) => router.hold(matches),
    throttle: (count) => router.throttle(count),
  };
}

class Router {
  readonly #primary: string;
  readonly #replica: string;
  readonly #prompt: ReadonlySet<string>;
  #lagMs: number;
  /** Applies writes sequentially, so that the replica gets them in commit order. */
  #turn: Promise<unknown> = Promise.resolve();
  #replays: Promise<unknown> = Promise.resolve();
  #stopped = false;
  #lost = 0;
  #meanwhile: (() => unknown) | undefined;
  #unsent = 0;
  #held:
    | { matches: (operation: string, body: string) => boolean; reached: () => void; until: Promise<void> }
    | undefined;
  #throttled = 0;
  readonly #timers = new Set<{ timer: NodeJS.Timeout; fire: () => void }>();

  constructor(primary: string, replica: string, lagMs: number, prompt: ReadonlySet<string>) {
    this.#primary = primary;
    this.#replica = replica;
    this.#lagMs = lagMs;
    this.#prompt = prompt;
  }

  lag(ms: number): void {
    this.#lagMs = ms;
    this.#catchUp();
  }

  loseAnswers(count: number, meanwhile?: () => unknown): void {
    this.#lost = count;
    this.#meanwhile = meanwhile;
  }

  loseWrites(count: number): void {
    this.#unsent = count;
  }

  hold(matches: (operation: string, body: string) => boolean): { reached: Promise<void>; letGo: () => void } {
    const [reached, until] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    this.#held = { matches, reached: reached.resolve, until: until.promise };
    return { reached: reached.promise, letGo: until.resolve };
  }

  throttle(count: number): void {
    this.#throttled = count;
  }

  stop(): void {
    this.#stopped = true;
    this.#catchUp();
  }

  #catchUp(): void {
    for (const { timer, fire } of this.#timers) {
      clearTimeout(timer);
      fire();
    }
  }

  async answer(call: Call): Promise<Answer> {
    if (this.#throttled > 0) {
      this.#throttled -= 1;
      return {
        status: 400,
        headers: { "content-type": "application/x-amz-json-1.0" },
        body: JSON.stringify({
          __type: "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
          message: "Rate exceeded",
        }),
      };
    }
    if (this.#held?.matches(call.operation, call.body) === true) {
      const { reached, until } = this.#held;
      this.#held = undefined;
      reached();
      await until;
    }
    if (writing.has(call.operation)) return this.#writeOrLose(call);
    if (defining.has(call.operation)) return this.#inTurn(() => this.#define(call));
    if (call.operation === "Query") {
      const { IndexName } = JSON.parse(call.body) as { IndexName?: string };
      if (IndexName !== undefined && !this.#prompt.has(IndexName)) return forward(this.#replica, call);
    }
    return forward(this.#primary, call);
  }

  #inTurn(work: () => Promise<Answer>): Promise<Answer> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  /** Not in turn, so that others can write before the loss is noticed. */
  async #writeOrLose(call: Call): Promise<Answer> {
    if (this.#unsent > 0) {
      this.#unsent -= 1;
      throw new Error("the write is lost");
    }
    const answer = await this.#inTurn(() => this.#write(call));
    if (answer.status !== 200 || this.#lost === 0) return answer;
    this.#lost -= 1;
    await this.#meanwhile?.();
    throw new Error("the response is lost");
  }

  async #write(call: Call): Promise<Answer> {
    const answer = await forward(this.#primary, call);
    const body = answer.status === 200 ? unconditional(call) : undefined;
    if (body !== undefined) this.#replay({ ...call, body });
    return answer;
  }

  async #define(call: Call): Promise<Answer> {
    const answer = await forward(this.#primary, call);
    if (answer.status === 200) await forward(this.#replica, call);
    return answer;
  }

  #replay(call: Call): void {
    const due = this.#after(this.#lagMs);
    this.#replays = this.#replays.then(async () => {
      await due;
      if (this.#stopped) return;
      const { status, body } = await forward(this.#replica, call);
      // The test must not pass with a replica that has diverged.
      if (status !== 200 && !this.#stopped)
        process.emitWarning(`the lagging replica refused ${call.operation}: ${body}`);
    });
    this.#replays.catch(() => undefined);
  }

  #after(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const entry = { timer: setTimeout(() => fire(), ms), fire: () => fire() };
      const fire = () => {
        this.#timers.delete(entry);
        resolve();
      };
      this.#timers.add(entry);
    });
  }
}

/** The same write without conditions, tokens and the checks of a transaction; undefined if nothing remains. */
function unconditional({ operation, body }: Call): string | undefined {
  const input = JSON.parse(body) as Record<string, unknown>;
  if (operation === "BatchWriteItem") return body;
  if (operation !== "TransactWriteItems") return JSON.stringify(withoutCondition(input));
  const items = (input["TransactItems"] as Record<string, Record<string, unknown>>[]).flatMap((item) => {
    const [[kind, action]] = Object.entries(item) as [[string, Record<string, unknown>]];
    return kind === "ConditionCheck" ? [] : [{ [kind]: withoutCondition(action) }];
  });
  return items.length === 0 ? undefined : JSON.stringify({ TransactItems: items });
}

function withoutCondition({
  ConditionExpression: _condition,
  ReturnValuesOnConditionCheckFailure: _return,
  ...input
}: Record<string, unknown>): Record<string, unknown> {
  // The service rejects unused names and values, so those of the condition go.
  const expressions = (input["UpdateExpression"] ?? "") as string;
  const used = (names: unknown) =>
    Object.fromEntries(
      Object.entries((names ?? {}) as Record<string, unknown>).filter(([name]) =>
        new RegExp(`${name}(?![A-Za-z0-9_])`).test(expressions),
      ),
    );
  const { ExpressionAttributeNames: names, ExpressionAttributeValues: values, ...rest } = input;
  const [usedNames, usedValues] = [used(names), used(values)];
  return {
    ...rest,
    ...(Object.keys(usedNames).length === 0 ? {} : { ExpressionAttributeNames: usedNames }),
    ...(Object.keys(usedValues).length === 0 ? {} : { ExpressionAttributeValues: usedValues }),
  };
}

async function serve(router: Router, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const operation = String(request.headers["x-amz-target"]).split(".")[1] ?? "";
    const kept = ["x-amz-target", "content-type", "authorization", "x-amz-date"];
    const headers = Object.fromEntries(
      kept.flatMap((name) => (request.headers[name] === undefined ? [] : [[name, String(request.headers[name])]])),
    );
    const answer = await router.answer({ operation, headers, body: Buffer.concat(chunks).toString("utf8") });
    response.writeHead(answer.status, answer.headers).end(answer.body);
  } catch {
    response.destroy();
  }
}

async function forward(endpoint: string, { headers, body }: Call): Promise<Answer> {
  const response = await fetch(endpoint, { method: "POST", headers, body });
  const kept = ["content-type", "x-amz-crc32", "x-amzn-requestid"];
  return {
    status: response.status,
    headers: Object.fromEntries(
      kept.flatMap((name) =>
        response.headers.get(name) === null ? [] : [[name, response.headers.get(name) as string]],
      ),
    ),
    body: await response.text(),
  };
}

async function closeServer(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}
