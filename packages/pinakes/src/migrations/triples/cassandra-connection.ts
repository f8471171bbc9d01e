/**
 * The settings of a connection to one node of Cassandra. The client library would also connect to every node that this one names; only the
 * named node is used, as the coordinator of all reads, since the operator allowed no other.
 */
import type { ClientOptions } from "cassandra-driver";
import { PinakesError, show } from "../../domain/errors.ts";
import type { CassandraAddress } from "../../outgoing/cassandra-address.ts";
import { resolveGuarded } from "../../outgoing/guarded-lookup.ts";

const connectMsMax = 10_000;
const readMsMax = 60_000;

/** The name is resolved here, once. */
export async function cassandraConnection(
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
