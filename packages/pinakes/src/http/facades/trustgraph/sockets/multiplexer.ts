/**
 * /api/v1/socket: requests to any service over one connection, matched to responses by id, several at a time. Clients of 2.8 sign in with
 * the first frame and get errors beside the id; those of 1.4 pass a token in the address and get errors in the response.
 */
import { PinakesError, invalid } from "../../../../domain/errors.ts";
import type { Authenticated, Credentials } from "../../../framework/index.ts";
import { readCall, type Dialect, type Request } from "../call.ts";
import { errorObject, type Gateway } from "../gateway.ts";
import { isStream, type Message, type Reply } from "../services/service.ts";
import { isOurs, readFrame, send, type Connection } from "./connection.ts";
import { socketLimits } from "./limits.ts";

export class Multiplexer {
  readonly #gateway: Gateway;
  readonly #connection: Connection;
  #credentials: Credentials | undefined;
  /** Protocol version of the connection, derived from how it signed in. */
  readonly #dialect: Dialect;
  #running = 0;
  /** Frames after the first wait for it. */
  #signing: Promise<void> | undefined;

  constructor(gateway: Gateway, connection: Connection) {
    this.#gateway = gateway;
    this.#connection = connection;
    this.#credentials = connection.credentials;
    this.#dialect = connection.credentials === undefined ? "new" : "old";
  }

  serve(): void {
    const { ws, log } = this.#connection;
    const late = setTimeout(() => {
      if (this.#credentials === undefined) ws.close(1008, "The first frame did not arrive in time.");
    }, socketLimits.firstFrameMsMax);
    late.unref();
    ws.on("close", () => clearTimeout(late));
    ws.on("message", (data, isBinary) => {
      this.#running += 1;
      if (this.#running >= socketLimits.requestsAtOnce || this.#credentials === undefined) ws.pause();
      void this.#frame(data, isBinary)
        .catch((error: unknown) => log({ error: String(error) }, "a frame failed", "error"))
        .finally(() => {
          this.#running -= 1;
          ws.resume();
        });
    });
  }

  async #frame(data: unknown, isBinary: boolean): Promise<void> {
    const { ws } = this.#connection;
    let message: Request = {};
    try {
      message = readFrame(data, isBinary);
      if (this.#credentials === undefined && this.#signing === undefined) {
        this.#signing = this.#signIn(message);
        return await this.#signing;
      }
      await this.#signing;
      if (this.#credentials !== undefined && message["type"] !== "auth") await this.#answer(this.#credentials, message);
    } catch (error) {
      const { id } = message;
      const told = errorObject(error);
      if (isOurs(error)) this.#connection.log({ error: String(error) }, "a request of a socket failed", "error");
      const form = this.#dialect === "old" ? { response: { error: told } } : { error: told };
      await send(ws, { ...(id === undefined ? {} : { id }), ...form, complete: true });
    }
  }

  async #signIn({ type, token }: Request): Promise<void> {
    const { ws, authenticate, credentialsOf } = this.#connection;
    try {
      if (type !== "auth")
        throw new PinakesError("UNAUTHENTICATED", 'The first frame must be { type: "auth", token }.');
      if (typeof token !== "string" || token === "") throw new PinakesError("UNAUTHENTICATED", "token: is missing.");
      const credentials = credentialsOf(token);
      const { caller } = await authenticate(credentials);
      this.#credentials = credentials;
      await send(ws, { type: "auth-ok", default_workspace: caller.scope.tenant, workspace: caller.scope.tenant });
    } catch (error) {
      await send(ws, { type: "auth-failed", error: errorObject(error).message });
      ws.close(1008, "auth failure");
    }
  }

  async #answer(credentials: Credentials, message: Request): Promise<void> {
    const { ws, recorded } = this.#connection;
    const { id, service } = message;
    let auth: Authenticated | undefined;
    const name = typeof service === "string" && global.has(service) ? service : "flow-service";
    const reply = await recorded(
      name,
      () => auth,
      () => this.#ask(credentials, message, (known) => (auth = known)),
    );
    if (!isStream(reply)) return send(ws, { id, response: reply, complete: true });
    let last: Message | undefined;
    for await (const one of reply) {
      if (ws.readyState !== ws.OPEN) return;
      if (last !== undefined) await send(ws, { id, response: last, complete: false });
      last = one;
    }
    await send(ws, { id, response: last ?? {}, complete: true });
  }

  async #ask(credentials: Credentials, message: Request, onKnown: (auth: Authenticated) => void): Promise<Reply> {
    const { authenticate, take, log } = this.#connection;
    const auth = await authenticate(credentials);
    onKnown(auth);
    take(auth);
    const { id, service, flow, workspace, request } = message;
    if (typeof id !== "string" && typeof id !== "number") throw invalid("id: is required, to match the response.");
    if (typeof service !== "string") throw invalid("service: must be the name of a service.");
    if (typeof request !== "object" || request === null || Array.isArray(request))
      throw invalid("request: must be an object.");
    const call = readCall(auth, {
      request: request as Request,
      flow: typeof flow === "string" && flow !== "" && !global.has(service) ? flow : undefined,
      workspace: typeof workspace === "string" && workspace !== "" ? workspace : undefined,
      streams: true,
    });
    log(lineOf(auth, service, call.caller.userId), "request of a socket");
    return this.#gateway.answer(service, call);
  }
}

/** Not part of a flow, although clients may name one. */
const global = new Set(["collection-management", "librarian", "knowledge", "flow"]);

function lineOf({ caller }: Authenticated, service: string, userId: string): Readonly<Record<string, unknown>> {
  return {
    route: "/api/v1/socket",
    service,
    workspace: caller.scope.tenant,
    user: caller.userId,
    ...(userId === caller.userId ? {} : { acting_as: userId }),
  };
}
