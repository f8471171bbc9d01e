/**
 * The conformance suite of the queue port. Every driver runs it on its real engine or service.
 *
 * @example
 * queueSuite({ name: "my queue", start: async ({ clock }) => ({ open: (options) => openMyQueue({ clock, ...options }), stop: async () => {} }) });
 */
import { describe } from "vitest";
import { deadLetters } from "./queue/dead-letters.ts";
import { failures } from "./queue/failures.ts";
import { QueueFixture, type QueueHarness, type QueueSkip } from "./queue/fixture.ts";
import { inputs } from "./queue/inputs.ts";
import { leases } from "./queue/leases.ts";
import { model } from "./queue/model.ts";
import { ordering } from "./queue/ordering.ts";
import { sending } from "./queue/sending.ts";
import { tenancy } from "./queue/tenancy.ts";
import { waiting } from "./queue/waiting.ts";

export type { QueueHarness, QueueSkip } from "./queue/fixture.ts";

export function queueSuite(harness: QueueHarness, options: { readonly skip?: readonly QueueSkip[] } = {}): void {
  describe(`queue: ${harness.name}`, () => {
    const fixture = new QueueFixture(harness, options.skip ?? []);
    describe("ordering", () => ordering(fixture));
    describe("sending", () => sending(fixture));
    describe("leases", () => leases(fixture));
    describe("failures", () => failures(fixture));
    describe("dead letters", () => deadLetters(fixture));
    describe("waiting", () => waiting(fixture));
    describe("tenancy", () => tenancy(fixture));
    describe("inputs", () => inputs(fixture));
    describe("model", () => model(fixture));
  });
}
