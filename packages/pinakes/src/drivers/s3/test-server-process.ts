/** A server of the S3 API in a process of its own, on loopback. Prints its port when it listens. */
import { buildApp } from "fauxqs";
import type { AddressInfo } from "node:net";

// S3 lists keys in the order of their UTF-8 bytes; this server uses a locale order.
// oxlint-disable-next-line no-extend-native -- only in this process, which is the server
String.prototype.localeCompare = function compareBytes(other: string): number {
  return Buffer.compare(Buffer.from(String(this), "utf8"), Buffer.from(other, "utf8"));
};

const app = buildApp({ logger: false });
await app.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`${(app.server.address() as AddressInfo).port}\n`);
