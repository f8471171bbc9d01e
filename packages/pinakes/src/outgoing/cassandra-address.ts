/** A Cassandra address parsed into a closed set of parts. */
import { invalid, show } from "../domain/errors.ts";

export interface CassandraAddress {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** If absent, the caller decides. */
  readonly user?: string;
  readonly password?: string;
  readonly keyspace?: string;
}

const form = "must be an address such as cassandra://user@host:9042/keyspace";
const portDefault = 9_042;

/** `called` names the setting in messages; a message never repeats the address, which may contain a password. */
export function readCassandraAddress(text: string, called: string): CassandraAddress {
  const url = URL.parse(text);
  if (url === null || !/^cassandra:\/\//i.test(text) || /[\s\\]/.test(text) || url.hash !== "")
    throw invalid(`${called}: ${form}.`);
  const host = url.hostname.toLowerCase();
  if (!/^(?:[a-z0-9_](?:[a-z0-9_.-]{0,252})|\[[0-9a-f:.]+\])$/.test(host))
    throw invalid(`${called}: ${form}; ${show(host)} is not a host name.`);
  const other = [...url.searchParams].find(([name, value]) => name !== "tls" || value !== "require");
  if (other !== undefined) throw invalid(`${called}: only ?tls=require may follow the address.`);
  const [user, password, keyspace] = [url.username, url.password, url.pathname.slice(1)].map((part) =>
    decoded(part, called),
  ) as [string, string, string];
  return {
    host: host.replace(/^\[(.+)\]$/, "$1"),
    port: url.port === "" ? portDefault : Number(url.port),
    tls: url.searchParams.size > 0,
    ...(user === "" ? {} : { user }),
    ...(password === "" ? {} : { password }),
    ...(keyspace === "" ? {} : { keyspace }),
  };
}

function decoded(part: string, called: string): string {
  try {
    return decodeURIComponent(part);
  } catch (cause) {
    throw invalid(`${called}: ${form}, with "%" written as %25.`, { cause });
  }
}

/** Without the password: for messages and storage. */
export function showCassandraAddress({ host, port, tls, user, keyspace }: CassandraAddress): string {
  const shown = host.includes(":") ? `[${host}]` : host;
  const who = user === undefined ? "" : `${encodeURIComponent(user)}@`;
  return `cassandra://${who}${shown}:${port}/${encodeURIComponent(keyspace ?? "")}${tls ? "?tls=require" : ""}`;
}

/**
 * The caller may choose what the operator's entry leaves open, but cannot change what it fixes. Undefined if the entry does not allow the
 * address.
 */
export function narrowedCassandra(wanted: CassandraAddress, allowed: CassandraAddress): CassandraAddress | undefined {
  if (wanted.host !== allowed.host || wanted.port !== allowed.port) return undefined;
  for (const part of ["user", "keyspace"] as const)
    if (allowed[part] !== undefined && wanted[part] !== undefined && wanted[part] !== allowed[part]) return undefined;
  return { ...wanted, ...allowed, tls: wanted.tls || allowed.tls };
}
