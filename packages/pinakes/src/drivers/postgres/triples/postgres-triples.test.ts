/** The conformance suite of triples on a real PostgreSQL. */
import { afterAll, beforeAll } from "vitest";
import { tripleStoreSuite } from "../../../testing/triple-store-suite.ts";
import { startPostgres, type TestServer } from "../test-server.ts";
import { openPostgresTriples } from "./index.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

tripleStoreSuite("postgres", () => openPostgresTriples({ url: server.url, database: "triples-suite" }));
