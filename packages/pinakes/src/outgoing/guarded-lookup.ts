/**
 * Names are resolved when the connection is made, and the connection goes to the resolved address, so the answer cannot change in between
 * (DNS rebinding). A name that resolves to an address of the machine's own network (link-local, where clouds serve the credentials of the
 * machine) is rejected: the operator allowed a host name, and the owner of its DNS must not redirect it there. To allow such an address,
 * the operator writes it as an IP address.
 */
import { lookup as dnsLookup, type LookupAddress, type LookupOptions } from "node:dns";
import { BlockList, isIP, Socket, type LookupFunction } from "node:net";
import { PinakesError } from "../domain/errors.ts";

const refused = new BlockList();
refused.addSubnet("0.0.0.0", 8, "ipv4");
refused.addSubnet("169.254.0.0", 16, "ipv4");
refused.addSubnet("224.0.0.0", 4, "ipv4");
refused.addAddress("255.255.255.255", "ipv4");
// Metadata services outside of link-local: Alibaba's, and Amazon's in IPv6.
refused.addAddress("100.100.100.200", "ipv4");
refused.addSubnet("fd00:ec2::", 32, "ipv6");
refused.addAddress("::", "ipv6");
refused.addSubnet("fe80::", 10, "ipv6");
refused.addSubnet("ff00::", 8, "ipv6");

type Resolve = (
  name: string,
  options: LookupOptions,
  answer: (error: NodeJS.ErrnoException | null, found: string | LookupAddress[], family?: number) => void,
) => void;

export function isRefused({
  address,
  family,
}: {
  readonly address: string;
  readonly family?: number | undefined;
}): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return refused.check(mapped, "ipv4");
  return refused.check(address, family === 6 || address.includes(":") ? "ipv6" : "ipv4");
}

/** `resolve` is the system resolver by default; tests pass another one. */
export function guardedLookup(resolve: Resolve = dnsLookup): LookupFunction {
  return (name, options, answer) =>
    resolve(name, options, (error, found, family) => {
      if (error !== null) return answer(error, found, family);
      const list = typeof found === "string" ? [{ address: found, family }] : found;
      const bad = list.find(isRefused);
      if (bad === undefined) return answer(null, found, family);
      const reason = `${name} resolves to ${bad.address}, an address of the machine's own network, which must not be used through a host name`;
      answer(new PinakesError("FORBIDDEN", `${reason}.`), []);
    });
}

/** The address to connect to, for clients that take no lookup function; an IP address is returned unchanged. */
export async function resolveGuarded(host: string): Promise<string> {
  if (isIP(host) !== 0) return host;
  return new Promise((resolve, reject) => {
    guardedLookup()(host, { all: false }, (error, found) => {
      if (error === null) resolve(found as string);
      else reject(error);
    });
  });
}

/** For clients that take a socket and call `connect(port, host)` on it. */
export function openGuardedSocket(): Socket {
  return new GuardedSocket();
}

class GuardedSocket extends Socket {
  override connect(...given: unknown[]): this {
    const [port, host] = given;
    if (typeof port !== "number" || typeof host !== "string")
      return super.connect(...(given as Parameters<Socket["connect"]>));
    return super.connect({ port, host, lookup: guardedLookup() });
  }
}
