/**
 * An HTTP address as a closed set of parts: scheme, host, port and path. User names, passwords, query parameters and fragments are refused,
 * since a library below might read a meaning into them that whoever allowed the address never checked.
 */
import { invalid } from "../domain/errors.ts";

export interface HttpAddress {
  /** `https://host:port`, the port only where it is not the scheme's own. */
  readonly origin: string;
  /** "" or `/a/b`, without a slash at its end. */
  readonly path: string;
}

/** `called` is what the caller calls it, for the message; the message never repeats the address, which may hold a password. */
export function readHttpAddress(text: string, called: string): HttpAddress {
  const url = URL.parse(text);
  const web = url !== null && /^https?:$/.test(url.protocol) && /^https?:\/\//i.test(text);
  if (!web || url.hostname === "" || /[\s\\]/.test(text))
    throw invalid(`${called}: must be an address such as http://localhost:8000.`);
  if (url.username !== "" || url.password !== "" || text.includes("?") || text.includes("#"))
    throw invalid(
      `${called}: must be an address such as http://localhost:8000, without user and password, "?" and "#".`,
    );
  return { origin: url.origin, path: url.pathname.replace(/\/+$/, "") };
}

/** The same server, and a path below that of `allowed`. */
export function isWithin(address: HttpAddress, allowed: HttpAddress): boolean {
  return (
    address.origin === allowed.origin && (address.path === allowed.path || address.path.startsWith(`${allowed.path}/`))
  );
}

/** Whether it may stand as `endpoint=` in the address of a bucket, a table or a queue. */
export function isEndpoint(text: string): boolean {
  try {
    readHttpAddress(text, "endpoint");
    return true;
  } catch {
    return false;
  }
}
