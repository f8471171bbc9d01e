/** Requests signed by hand, for what no client would send. */
import { createHmac } from "node:crypto";

export interface SignedCall {
  readonly method?: string;
  /** Below the facade, as it is sent. */
  readonly path: string;
  /** What is signed; from the path when absent. */
  readonly type?: string;
  readonly link?: string;
  readonly date?: Date;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface SignedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: { readonly code?: string; readonly message?: string; readonly [name: string]: unknown };
}

export async function signed(base: string, key: string, call: SignedCall): Promise<SignedAnswer> {
  const { method = "GET", path, date = new Date(), headers = {}, body } = call;
  const segments = path
    .split("/")
    .filter((part) => part !== "")
    .map(decodeURIComponent);
  const feed = segments.length % 2 === 1;
  const type = call.type ?? segments[segments.length - (feed ? 1 : 2)] ?? "";
  const link = call.link ?? segments.slice(0, feed ? -1 : undefined).join("/");
  const utc = date.toUTCString();
  const text = `${method.toLowerCase()}\n${type}\n${link}\n${utc.toLowerCase()}\n\n`;
  const signature = createHmac("sha256", Buffer.from(key, "base64")).update(text).digest("base64");
  const response = await fetch(`${base}${path}`, {
    method,
    headers: {
      "x-ms-date": utc,
      "x-ms-version": "2020-07-15",
      authorization: encodeURIComponent(`type=master&ver=1.0&sig=${signature}`),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const answer = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text: answer,
    json: answer === "" ? {} : (JSON.parse(answer) as SignedAnswer["json"]),
  };
}
