/** Tables of triples in a keyspace of Cassandra, each read as a whole, once. Cassandra has no snapshots: let nothing write meanwhile. */
import type { Client, ClientOptions } from "cassandra-driver";
import { PinakesError, show } from "../../domain/errors.ts";
import type { CassandraAddress } from "../../outgoing/cassandra-address.ts";
import { resolveGuarded } from "../../outgoing/guarded-lookup.ts";
import type { CassandraSource } from "../allowed-sources.ts";
import type { TriplesSpec } from "./spec.ts";
import { StagedTables, type TableLoader } from "./staged-tables.ts";
import { quoted } from "./tables.ts";

const rowsPerFetch = 2_000;
/** Of the protocol's error codes: from here on the request itself is wrong. */
const firstRefusal = 0x2000;

interface DriverError extends Error {
  readonly code?: unknown;
  /** By host. */
  readonly innerErrors?: Readonly<Record<string, Error>>;
}

export class CassandraTables extends StagedTables {
  readonly #source: CassandraSource;
  #client: Promise<Client> | undefined;

  constructor(source: CassandraSource, spec: TriplesSpec) {
    super(source.shown, spec);
    this.#source = source;
  }

  async tables(): Promise<readonly string[]> {
    return this.#described(async (client) => {
      const { keyspace } = this.#source;
      const since3 = "SELECT table_name AS name FROM system_schema.tables WHERE keyspace_name = ?";
      const before = "SELECT columnfamily_name AS name FROM system.schema_columnfamilies WHERE keyspace_name = ?";
      const found = await client.execute(client.getState().getConnectedHosts().some(isBefore3) ? before : since3, [
        keyspace,
      ]);
      return found.rows.map((row) => row["name"] as string).toSorted();
    });
  }

  protected nameOf(table: string): string {
    return `${this.location}/${table}`;
  }

  protected async read(table: string, loader: TableLoader): Promise<void> {
    await this.#described(async (client) => {
      const { keyspace } = this.#source;
      const { partitionKeys, clusteringKeys, columns } = await client.metadata.getTable(keyspace, table);
      const keys = [...partitionKeys, ...clusteringKeys].map(({ name }) => name);
      const names = [...keys, ...columns.map(({ name }) => name).filter((name) => !keys.includes(name))];
      loader.setColumns(names);
      const query = `SELECT ${names.map(quoted).join(", ")} FROM ${quoted(keyspace)}.${quoted(table)}`;
      const rows = await client.execute(query, [], { fetchSize: rowsPerFetch, prepare: true });
      for await (const row of rows) {
        loader.at += 1;
        loader.row(row.values().map(storable));
      }
    });
  }

  async #described<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    try {
      this.#client ??= this.#connect();
      return await work(await this.#client);
    } catch (error) {
      if (PinakesError.isInstance(error)) throw error;
      const { innerErrors, message, code } = error as DriverError;
      const reason = [message, ...Object.values(innerErrors ?? {}).map((inner) => inner.message)].join(" ");
      const isRefused = typeof code === "number" && code >= firstRefusal;
      throw new PinakesError(isRefused ? "INVALID" : "UNAVAILABLE", `${this.location}: cannot be read: ${reason}`, {
        cause: error,
      });
    }
  }

  async #connect(): Promise<Client> {
    const { Client } = (await import("cassandra-driver")).default;
    const { address, password } = this.#source;
    const client = new Client(await cassandraConnection(address, password));
    this.undo.defer(() => client.shutdown());
    await client.connect();
    return client;
  }
}

function isBefore3(host: { readonly cassandraVersion: string }): boolean {
  return Number(host.cassandraVersion.split(".")[0]) < 3;
}

function storable(value: unknown): string | number | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return value.toISOString();
  // Sets, uuids and the like: the plan names them if they are where a text must be.
  return typeof value === "number" || typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * The settings of a connection to one node of Cassandra. The client library would also connect to every node that this one names; only the
 * named node is used, as the coordinator of all reads, since the operator allowed no other.
 */
const connectMsMax = 10_000;
const readMsMax = 60_000;

/** The name is resolved here, once. */
async function cassandraConnection(
  { host, port, tls, user, keyspace }: CassandraAddress,
  password: string | undefined,
): Promise<ClientOptions> {
  if (user !== undefined && password === undefined)
    throw new PinakesError(
      "UNAVAILABLE",
      `No password is configured for ${show(user)}: write it into the operator's list of addresses, or set CASSANDRA_PASSWORD.`,
      { retryable: false },
    );
  const { policies, types } = (await import("cassandra-driver")).default;
  const address = await resolveGuarded(host);
  const only = `${address.includes(":") ? `[${address}]` : address}:${port}`;
  class OneNode extends policies.loadBalancing.RoundRobinPolicy {
    override getDistance(node: { readonly address: string }): number {
      return node.address === only ? types.distance.local : types.distance.ignored;
    }
  }
  return {
    contactPoints: [only],
    policies: { loadBalancing: new OneNode() },
    socketOptions: { connectTimeout: connectMsMax, readTimeout: readMsMax },
    ...(keyspace === undefined ? {} : { keyspace }),
    ...(user === undefined ? {} : { credentials: { username: user, password: password ?? "" } }),
    ...(tls ? { sslOptions: { rejectUnauthorized: true, servername: host } } : {}),
  };
}
