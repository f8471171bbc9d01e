/** A server on a real socket as the endpoint of the suites: one collection, emptied and filled for each test. */
import { PinakesError, type ErrorCode } from "../../../src/domain/errors.ts";
import { serve } from "../../../src/http/serve.ts";
import { readByOxigraph } from "../../../src/rdf/test-rdf.ts";
import {
  newSite,
  openTestServer,
  readReply,
  requestInit,
  type CallOptions,
  type Reply,
} from "../../http/support/server.ts";
import { rdfFormatOf, type Endpoint } from "./evaluate.ts";
import { bytesAt, type GraphFile } from "./manifest.ts";

export interface HttpEndpoint extends Endpoint, AsyncDisposable {
  /** The path of the SPARQL service. */
  readonly path: string;
  send(method: string, path: string, options?: CallOptions): Promise<Reply>;
}

const contentTypes = {
  turtle: "text/turtle",
  trig: "application/trig",
  ntriples: "application/n-triples",
  nquads: "application/n-quads",
  rdfxml: "application/rdf+xml",
};

export async function httpEndpoint(): Promise<HttpEndpoint> {
  const server = await openTestServer("sqlite");
  const running = await serve(server.app, { host: "127.0.0.1", port: 0 });
  const key = await server.key("w3c", "tester", { role: "admin" });
  const { at, collection } = await newSite(server, key);
  const send = async (method: string, path: string, options: CallOptions = {}) =>
    readReply(await fetch(`${running.url}${path}`, requestInit(method, { key, ...options })));
  const done = async (reply: Promise<Reply>): Promise<Reply> => {
    const { status, json, text } = await reply;
    if (status >= 500 && status !== 501) throw new Error(`${status}: ${text}`);
    if (status >= 400) throw new PinakesError(json["code"] as ErrorCode, json["detail"] as string);
    return reply;
  };
  const load = ({ file, graph, base = file }: GraphFile) => {
    const query = new URLSearchParams({ base_iri: base, ...(graph === undefined ? {} : { graph }) });
    return done(
      send("POST", `${at}/triples?${query.toString()}`, {
        body: bytesAt(file),
        headers: { "content-type": contentTypes[rdfFormatOf(file)] },
      }),
    );
  };
  const ask = (text: string, type: string, base: string, accept: string) =>
    done(
      send("POST", `${at}/sparql?${new URLSearchParams({ base_iri: base, timeout_ms: "300000" }).toString()}`, {
        body: text,
        headers: { "content-type": type, accept },
      }),
    );
  return {
    path: `${at}/sparql`,
    send,
    reset: async (files) => {
      await done(send("DELETE", `${at}/triples?confirm=${collection}`));
      for (const file of files) await load(file);
    },
    // A CONSTRUCT answers with the second, which its test reads.
    query: async (text, { base, accept }) =>
      (
        await ask(
          text,
          "application/sparql-query",
          base,
          `${accept}, application/n-triples;q=0.9, application/sparql-results+json;q=0.1`,
        )
      ).text,
    update: async (text, { base }) => void (await ask(text, "application/sparql-update", base, "application/json")),
    dump: async () =>
      readByOxigraph(
        "nquads",
        (await done(send("GET", `${at}/triples`, { headers: { accept: "application/n-quads" } }))).text,
      ),
    [Symbol.asyncDispose]: async () => {
      await running.close();
      await server[Symbol.asyncDispose]();
    },
  };
}
