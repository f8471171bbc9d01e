/** Addresses below `/cosmos`: an account key's id, if one is named, then types and ids in turn. */
import { badRequest } from "./errors.ts";

export const cosmosPrefix = "/cosmos";

export interface ResourcePath {
  /** Of the account key that the address names. */
  readonly keyId: string | undefined;
  /** Decoded: `["dbs", "a", "colls", "b"]`. */
  readonly segments: readonly string[];
}

const keyIdPattern = /^[0-9a-f]{20}$/;
const pathCharsMax = 8_192;

/** `target`: as it stands in the request line. Clients leave "?" in the id of an item as it is, so there is no query here. */
export function readPath(target: string): ResourcePath {
  if (target.length > pathCharsMax) throw badRequest(`The address has more than ${pathCharsMax} characters.`);
  const rest = target.slice(target.indexOf(cosmosPrefix) + cosmosPrefix.length);
  // An endpoint that ends in a slash makes old clients send two: no id is empty, so what is empty means nothing.
  const parts = rest.split("/").filter((part) => part !== "");
  const segments = parts.map(decoded);
  const [first = ""] = segments;
  const named = keyIdPattern.test(first);
  const own = named ? segments.slice(1) : segments;
  return { keyId: named ? first : undefined, segments: own.length === 1 && own[0]?.startsWith("?") ? [] : own };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw badRequest("The address is not valid percent-encoded UTF-8.");
  }
}
