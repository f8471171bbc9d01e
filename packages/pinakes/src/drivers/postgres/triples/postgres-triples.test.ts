/** The conformance suite of triples on a real PostgreSQL. */
import { tripleStoreSuite } from "../../../testing/triple-store-suite.ts";
import { startPostgres } from "../test-server.ts";
import { openPostgresTriples } from "./index.ts";
import { forAllTests } from "../../../../test/support/for-tests.ts";

const server = forAllTests(() => startPostgres());

tripleStoreSuite("postgres", () => openPostgresTriples({ url: server.url, database: "triples-suite" }));
