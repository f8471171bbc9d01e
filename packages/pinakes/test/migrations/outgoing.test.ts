/** Migrations connect only to what the operator allowed, and no other server learns a password. */
import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { World } from "./support/world.ts";
import { forAllTests } from "../support/for-tests.ts";

/** Speaks enough of PostgreSQL to ask for the password in plain text, and records what it receives. */
interface FakePostgres {
  readonly port: number;
  readonly received: string[];
  readonly server: Server;
}

async function fakePostgres(): Promise<FakePostgres> {
  const received: string[] = [];
  const server = createServer((socket) => {
    received.push("connected");
    socket.on("error", () => undefined);
    socket.once("data", () => {
      // AuthenticationCleartextPassword
      socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
      socket.on("data", (bytes) => {
        received.push(bytes.toString("latin1"));
        socket.end();
      });
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, received, server };
}

let allowed: FakePostgres;
let other: FakePostgres;
const { PGPASSWORD, PGHOST } = process.env;
const world = forAllTests(() => World.open());
beforeAll(async () => {
  [allowed, other] = await Promise.all([fakePostgres(), fakePostgres()]);
  process.env["PGPASSWORD"] = "operators-secret";
  delete process.env["PGHOST"];
});
afterAll(async () => {
  for (const [name, value] of Object.entries({ PGPASSWORD, PGHOST })) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  allowed.server.close();
  other.server.close();
});

it("the query of an address leads to no other server, and no password leaks", async () => {
  const mine = await world.process([`postgres://u@127.0.0.1:${allowed.port}/db`]);
  const plan = (query: string) =>
    mine.plan({ kind: "triples", postgres: `postgres://u@127.0.0.1:${allowed.port}/db${query}`, objects: "literal" });
  for (const query of [
    `?host=127.0.0.1&port=${other.port}`,
    `?port=${other.port}`,
    "?hostaddr=127.0.0.1",
    "?service=x",
    "?sslcert=/etc/passwd",
  ])
    await expect(plan(query), query).rejects.toMatchObject({ code: "INVALID" });
  expect([...allowed.received, ...other.received]).toEqual([]);
  // Without them the allowed server is asked, and PGPASSWORD can only be for it.
  await plan("").catch(() => undefined);
  expect(other.received).toEqual([]);
  expect(allowed.received.join("")).toContain("operators-secret");
  await mine.close();
});

it("of two allowed servers without a configured password, neither gets one", async () => {
  allowed.received.length = 0;
  const both = await world.process([allowed, other].map(({ port }) => `postgres://u@127.0.0.1:${port}/db`));
  const plan = both.plan({ kind: "triples", postgres: `postgres://u@127.0.0.1:${other.port}/db`, objects: "literal" });
  await plan.catch(() => undefined);
  expect(other.received[0]).toBe("connected");
  expect(other.received.join("")).not.toContain("operators-secret");
  expect(allowed.received).toEqual([]);
  await both.close();
});
