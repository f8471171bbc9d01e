/**
 * What migrations may open. An admin of a workspace is not the operator of the machine: without the operator's list no file is read and no
 * address is called, so that a migration reaches neither other tenants' files nor the network behind the server. An address is parsed once,
 * and exactly the parsed parts are checked and connected to.
 */
import { realpath } from "node:fs/promises";
import { resolve, sep } from "node:path";
import { PinakesError, invalid, show } from "../domain/errors.ts";
import {
  narrowedCassandra,
  readCassandraAddress,
  showCassandraAddress,
  type CassandraAddress,
} from "../outgoing/cassandra-address.ts";
import { isWithin, readHttpAddress, type HttpAddress } from "../outgoing/http-address.ts";
import {
  narrowedBy,
  postgresConnection,
  readPostgresAddress,
  showPostgresAddress,
  type PostgresAddress,
} from "../outgoing/postgres-address.ts";
import { postgresPassword } from "../outgoing/postgres-password.ts";

/** A PostgreSQL database that may be opened. */
export interface PostgresSource {
  /** Without a password. */
  readonly shown: string;
  /** For the client's constructor. */
  readonly connection: object;
}

/** A keyspace of Cassandra that may be read. */
export interface CassandraSource {
  /** Without a password. */
  readonly shown: string;
  readonly keyspace: string;
  readonly address: CassandraAddress;
  readonly password: string | undefined;
}

const setting = "PINAKES_MIGRATION_SOURCES";

export class AllowedSources {
  readonly #folders: readonly string[] | "any";
  readonly #servers: readonly HttpAddress[] | "any";
  readonly #databases: readonly PostgresAddress[] | "any";
  readonly #clusters: readonly CassandraAddress[] | "any";

  constructor(allowed: readonly string[] | "any") {
    if (allowed === "any") {
      this.#folders = this.#servers = this.#databases = this.#clusters = "any";
      return;
    }
    const addresses = allowed.filter(isAddress);
    this.#folders = allowed.filter((source) => !isAddress(source));
    this.#databases = addresses.filter(isPostgres).map((text) => readPostgresAddress(text, setting));
    this.#clusters = addresses.filter(isCassandra).map((text) => readCassandraAddress(text, setting));
    this.#servers = addresses
      .filter((text) => !isPostgres(text) && !isCassandra(text))
      .map((text) => readHttpAddress(text, setting));
  }

  /** The path, resolved so that links cannot lead out of the allowed folders. */
  async file(path: string): Promise<string> {
    const wanted = await real(path);
    if (this.#folders === "any") return wanted;
    for (const folder of this.#folders) {
      const root = await real(folder);
      if (wanted === root || wanted.startsWith(root.endsWith(sep) ? root : root + sep)) return wanted;
    }
    throw this.#refused(show(path));
  }

  /** An HTTP server: the same scheme, host and port, and a path below. */
  server(text: string, called: string): string {
    const wanted = readHttpAddress(text, called);
    if (this.#servers !== "any" && !this.#servers.some((allowed) => isWithin(wanted, allowed)))
      throw this.#refused(show(wanted.origin + wanted.path));
    return wanted.origin + wanted.path;
  }

  /** The same host and port; user, database and sslmode if the operator set them. */
  postgres(text: string, called: string): PostgresSource {
    const wanted = readPostgresAddress(text, called);
    if (wanted.password !== undefined)
      throw invalid(
        `${called}: the address has a password, which would be stored with the migration. Omit it, and set it in PGPASSWORD or PGPASSFILE.`,
      );
    const databases = this.#databases;
    const source =
      databases === "any"
        ? wanted
        : databases.map((allowed) => narrowedBy(wanted, allowed)).find((one) => one !== undefined);
    if (source === undefined) throw this.#refused(show(showPostgresAddress(wanted)));
    return {
      shown: showPostgresAddress(source),
      connection: postgresConnection(source, () => postgresPassword(source, databases, process.env)),
    };
  }

  /** The same node; user and keyspace if the operator set them, and TLS if they asked for it. */
  cassandra(text: string, called: string): CassandraSource {
    const wanted = readCassandraAddress(text, called);
    if (wanted.password !== undefined)
      throw invalid(
        `${called}: the address has a password, which would be stored with the migration. Omit it, and set it in CASSANDRA_PASSWORD.`,
      );
    const clusters = this.#clusters;
    const source =
      clusters === "any"
        ? wanted
        : clusters.map((allowed) => narrowedCassandra(wanted, allowed)).find((one) => one !== undefined);
    if (source === undefined) throw this.#refused(show(showCassandraAddress(wanted)));
    if (source.keyspace === undefined)
      throw invalid(`${called}: names no keyspace, as in cassandra://host:9042/keyspace.`);
    // CASSANDRA_PASSWORD names no server, so it is sent only where there is no choice of servers.
    const named = clusters === "any" || clusters.length === 1;
    const password = source.password ?? (named ? process.env["CASSANDRA_PASSWORD"] : undefined);
    return { shown: showCassandraAddress(source), keyspace: source.keyspace, address: source, password };
  }

  #refused(source: string): PinakesError {
    return new PinakesError(
      "FORBIDDEN",
      `${source} is not among the sources that migrations may read; the operator lists them in ${setting}, or migrates with the command line.`,
    );
  }
}

function isAddress(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

function isPostgres(text: string): boolean {
  return /^postgres(?:ql)?:/i.test(text);
}

function isCassandra(text: string): boolean {
  return /^cassandra:/i.test(text);
}

/** A missing file has no links; opening it reports the error. */
async function real(path: string): Promise<string> {
  return realpath(path).catch(() => resolve(path));
}
