/**
 * An HTTP address parsed into a closed set of parts: scheme, host, port and path. User names, passwords, query parameters and fragments are
 * rejected, since a library below might give them a meaning that the check of the address missed.
 */
import { invalid } from "../domain/errors.ts";

export interface HttpAddress {
  /** `https://host:port`, the port only if it is not the scheme's default. */
  readonly origin: string;
  /** "" or `/a/b`, without a trailing slash. */
  readonly path: string;
}

/** `called` names the setting in messages; a message never repeats the address, which may contain a password. */
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

/** Whether it is valid as `endpoint=` in the address of a bucket, table or queue. */
export function isEndpoint(text: string): boolean {
  try {
    readHttpAddress(text, "endpoint");
    return true;
  } catch {
    return false;
  }
}
