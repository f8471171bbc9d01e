/**
 * Selects the password for a PostgreSQL server: only one that the operator configured for that server. PGPASSWORD alone names no server, so
 * it is for the server of PGHOST, or, if that is not set, for the only one that the operator listed.
 */
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { PinakesError } from "../domain/errors.ts";
import { isSamePostgres, showPostgresAddress, type PostgresAddress } from "./postgres-address.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** `listed`: all servers that the operator listed; "any" if the operator wrote the address, as on the command line. */
export async function postgresPassword(
  address: PostgresAddress,
  listed: readonly PostgresAddress[] | "any",
  env: Environment,
): Promise<string> {
  if (address.password !== undefined) return address.password;
  const { PGPASSWORD: password } = env;
  if (password !== undefined && password !== "" && isNamedWith(address, listed, env)) return password;
  const kept = await inPasswordFile(address, listed !== "any", env);
  if (kept !== undefined) return kept;
  throw new PinakesError(
    "UNAVAILABLE",
    `${showPostgresAddress(address)} requires a password, and none is configured for it. Add it to the operator's list of addresses or to the file of PGPASSFILE with the host's name, or set PGPASSWORD together with PGHOST.`,
    { retryable: false },
  );
}

function isNamedWith(
  address: PostgresAddress,
  listed: readonly PostgresAddress[] | "any",
  { PGHOST, PGPORT }: Environment,
): boolean {
  if (listed === "any") return true;
  if (PGHOST !== undefined && PGHOST !== "")
    return isSamePostgres(address, { host: PGHOST.toLowerCase(), port: Number(PGPORT ?? 5432) });
  return listed.every((one) => isSamePostgres(one, address));
}

/** Lines of host:port:database:user:password, "*" for any; a line for any host names no server, so it counts only where any is allowed. */
async function inPasswordFile(
  { host, port, user, database }: PostgresAddress,
  named: boolean,
  env: Environment,
): Promise<string | undefined> {
  const text = await readFile(env["PGPASSFILE"] ?? join(homedir(), ".pgpass"), "utf8").catch(() => "");
  const wanted = [host, String(port), database, user ?? env["PGUSER"]];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith("#")) continue;
    const parts = [...line.matchAll(/((?:\\.|[^:\\])*)(?::|$)/g)].map(([, part = ""]) =>
      part.replaceAll(/\\(.)/g, "$1"),
    );
    if (parts.length < 5 || (named && parts[0] === "*")) continue;
    if (wanted.every((part, i) => parts[i] === "*" || parts[i] === part)) return parts[4];
  }
  return undefined;
}
