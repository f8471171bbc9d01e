/**
 * The Authorization header of Cosmos DB's clients: an HMAC over verb, type of the resource, link and date. A request counts only if it is
 * not older, or newer, than a quarter of an hour.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { CosmosError } from "../errors.ts";
import type { ResourcePath } from "../path.ts";

export const clockSkewMsMax = 15 * 60_000;
const headerCharsMax = 4_096;

export interface Signed {
  /** Whether this key made the signature. */
  fits(key: Uint8Array): boolean;
}

export interface SignedRequest {
  readonly method: string;
  readonly path: ResourcePath;
  readonly header: (name: string) => string | undefined;
}

export function readSignature(request: SignedRequest): Signed {
  const given = request.header("authorization") ?? "";
  const fields = fieldsOf(given);
  const [type, version, signature] = [fields.get("type"), fields.get("ver"), fields.get("sig")];
  if (type !== "master" || version !== "1.0" || signature === undefined)
    throw unauthorized(
      type === undefined || type === "master"
        ? "Required Header authorization is missing or malformed; sign the request with an account key (type=master&ver=1.0&sig=…)."
        : `Authorization of type "${type.slice(0, 20)}" is not supported; sign with an account key (type=master).`,
    );
  const wanted = Buffer.from(signature, "base64");
  const texts = signedTexts(request);
  return {
    fits: (key) =>
      texts.some((text) => {
        const made = createHmac("sha256", key).update(text, "utf8").digest();
        return made.length === wanted.length && timingSafeEqual(made, wanted);
      }),
  };
}

/** After the signature was found good: its date is what was signed. */
export function checkDate({ header }: SignedRequest, now: number): void {
  const date = header("x-ms-date") ?? header("date") ?? "";
  const at = Date.parse(date);
  if (Number.isNaN(at)) throw unauthorized("The date of the request (x-ms-date) is missing or no HTTP date.");
  if (Math.abs(now - at) <= clockSkewMsMax) return;
  throw new CosmosError(
    403,
    `The authorization token is not valid at the current time: the request says ${new Date(at).toUTCString()}, the server's clock ${new Date(now).toUTCString()}. The difference may be 15 minutes.`,
  );
}

export function unauthorized(detail: string): CosmosError {
  return new CosmosError(401, detail);
}

function fieldsOf(given: string): ReadonlyMap<string, string> {
  if (given === "" || given.length > headerCharsMax) return new Map();
  let text: string;
  try {
    text = decodeURIComponent(given);
  } catch {
    return new Map();
  }
  return new Map(
    text.split("&").map((part) => {
      const at = part.indexOf("=");
      return at < 0 ? [part, ""] : [part.slice(0, at), part.slice(at + 1)];
    }),
  );
}

/** What may have been signed: clients differ in the type and in the case of resource ids. */
function signedTexts({ method, path, header }: SignedRequest): readonly string[] {
  const date = header("x-ms-date");
  const dates = date === undefined ? `\n${(header("date") ?? "").toLowerCase()}` : `${date.toLowerCase()}\n`;
  return signedLinks(path).map(([type, link]) => `${method.toLowerCase()}\n${type}\n${link}\n${dates}\n`);
}

function signedLinks({ segments }: ResourcePath): readonly (readonly [type: string, link: string])[] {
  if (segments.length === 0) return [["", ""]];
  if (segments[4] === "operations") {
    const link = segments.slice(0, 4).join("/");
    return [
      ["colls", link],
      ["partitionkey", link],
    ];
  }
  const feed = segments.length % 2 === 1;
  const type = segments[segments.length - (feed ? 1 : 2)] as string;
  const link = segments.slice(0, feed ? -1 : undefined).join("/");
  const last = link.split("/").at(-1) ?? "";
  const own = type === "offers" ? (feed ? "" : last.toLowerCase()) : link;
  return [
    [type.toLowerCase(), own],
    // Addressed by resource ids, only the last one is signed, in lower case.
    [type.toLowerCase(), last.toLowerCase()],
  ];
}
