/**
 * A PostgreSQL address parsed into a closed set of parts, and connection settings built from these parts only. The client library also
 * reads `host`, `port`, `sslcert` and others from the query of an address: a check of the host alone would allow one server and connect to
 * another.
 */
import { invalid, show } from "../domain/errors.ts";
import { openGuardedSocket } from "./guarded-lookup.ts";

const sslModes = ["disable", "require", "verify-ca", "verify-full", "no-verify"] as const;
type SslMode = (typeof sslModes)[number];

export interface PostgresAddress {
  readonly host: string;
  readonly port: number;
  /** If absent, the caller decides. */
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
  readonly sslMode?: SslMode;
}

const form = "must be an address such as postgres://user@host:5432/database";
const portDefault = 5432;

/** `called` names the setting in messages; a message never repeats the address, which may contain a password. */
export function readPostgresAddress(text: string, called: string): PostgresAddress {
  const url = URL.parse(text);
  if (url === null || !/^postgres(?:ql)?:\/\//i.test(text) || /[\s\\]/.test(text)) throw invalid(`${called}: ${form}.`);
  const host = url.hostname.toLowerCase();
  // Neither "%2Fvar%2Frun", which would be a socket in a folder, nor a list of hosts.
  if (!/^(?:[a-z0-9_](?:[a-z0-9_.-]{0,252})|\[[0-9a-f:.]+\])$/.test(host))
    throw invalid(`${called}: ${form}; ${show(host)} is not a host name.`);
  if (url.hash !== "") throw invalid(`${called}: ${form}, without "#".`);
  const user = decoded(url.username, called);
  const password = decoded(url.password, called);
  const database = decoded(url.pathname.slice(1), called);
  const sslMode = readSslMode(url.searchParams, called);
  return {
    host: host.replace(/^\[(.+)\]$/, "$1"),
    port: url.port === "" ? portDefault : Number(url.port),
    ...(user === "" ? {} : { user }),
    ...(password === "" ? {} : { password }),
    ...(database === "" ? {} : { database }),
    ...(sslMode === undefined ? {} : { sslMode }),
  };
}

function decoded(part: string, called: string): string {
  try {
    return decodeURIComponent(part);
  } catch (cause) {
    throw invalid(`${called}: ${form}, with "%" written as %25.`, { cause });
  }
}

function readSslMode(query: URLSearchParams, called: string): SslMode | undefined {
  const other = [...query.keys()].find((key) => key !== "sslmode");
  if (other !== undefined)
    throw invalid(
      `${called}: ${show(other)} is not allowed after the "?"; only sslmode is. Write host, port and user before it.`,
    );
  const given = query.getAll("sslmode");
  if (given.length === 0) return undefined;
  const mode = sslModes.find((one) => given.length === 1 && one === given[0]);
  if (mode === undefined) throw invalid(`${called}: sslmode must be one of ${sslModes.join(", ")}, specified once.`);
  return mode;
}

/** Without the password: for messages and storage. */
export function showPostgresAddress({ host, port, user, database, sslMode }: PostgresAddress): string {
  const shown = host.includes(":") ? `[${host}]` : host;
  const who = user === undefined ? "" : `${encodeURIComponent(user)}@`;
  const query = sslMode === undefined ? "" : `?sslmode=${sslMode}`;
  return `postgres://${who}${shown}:${port}/${encodeURIComponent(database ?? "")}${query}`;
}

export function isSamePostgres(
  a: Pick<PostgresAddress, "host" | "port">,
  b: Pick<PostgresAddress, "host" | "port">,
): boolean {
  return a.host === b.host && a.port === b.port;
}

/**
 * The caller may choose what the operator's entry leaves open, but cannot change what it fixes: another user, another database, or a
 * connection with less protection than the operator wrote. Undefined if the entry does not allow the address.
 */
export function narrowedBy(wanted: PostgresAddress, allowed: PostgresAddress): PostgresAddress | undefined {
  if (!isSamePostgres(wanted, allowed)) return undefined;
  for (const part of ["user", "database", "sslMode"] as const) {
    if (allowed[part] !== undefined && wanted[part] !== undefined && wanted[part] !== allowed[part]) return undefined;
  }
  return { ...wanted, ...allowed };
}

/**
 * Options for the client's constructor. No part is parsed from an address again, and nothing is read from the environment except the TLS
 * defaults.
 */
export function postgresConnection(
  { host, port, user, database, sslMode }: PostgresAddress,
  password: () => Promise<string>,
): object {
  return {
    host,
    port,
    password,
    stream: openGuardedSocket,
    ...(user === undefined ? {} : { user }),
    ...(database === undefined ? {} : { database }),
    ...(sslMode === undefined
      ? {}
      : { ssl: sslMode === "disable" ? false : sslMode === "no-verify" ? { rejectUnauthorized: false } : true }),
  };
}
