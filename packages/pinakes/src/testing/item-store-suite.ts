/**
 * The conformance suite of the item-store port. Every driver runs it on its real engine.
 *
 * @example
 * itemStoreSuite({ name: "my engine", open: ({ clock }) => openMyItems({ clock }) });
 */
import { describe } from "vitest";
import { batches } from "./item-store/batches.ts";
import { erasure } from "./item-store/erasure.ts";
import { evolution } from "./item-store/evolution.ts";
import { expiry } from "./item-store/expiry.ts";
import { feeds } from "./item-store/feeds.ts";
import { Fixture, type ItemStoreHarness, type Skip } from "./item-store/fixture.ts";
import { histories } from "./item-store/histories.ts";
import { inputs } from "./item-store/inputs.ts";
import { patches } from "./item-store/patches.ts";
import { queries } from "./item-store/queries.ts";
import { sessions } from "./item-store/sessions.ts";
import { tenancy } from "./item-store/tenancy.ts";
import { uniqueKeys } from "./item-store/unique-keys.ts";
import { writes } from "./item-store/writes.ts";

export type { ItemStoreHarness, Skip } from "./item-store/fixture.ts";

export function itemStoreSuite(harness: ItemStoreHarness, options: { readonly skip?: readonly Skip[] } = {}): void {
  describe(`item store: ${harness.name}`, () => {
    const fixture = new Fixture(harness, options.skip ?? []);
    describe("writes", () => writes(fixture));
    describe("patches", () => patches(fixture));
    describe("batches", () => batches(fixture));
    describe("expiry", () => expiry(fixture));
    describe("queries", () => queries(fixture));
    describe("unique keys", () => uniqueKeys(fixture));
    describe("feeds", () => feeds(fixture));
    describe("sessions", () => sessions(fixture));
    describe("tenancy", () => tenancy(fixture));
    describe("inputs", () => inputs(fixture));
    describe("erasure", () => erasure(fixture));
    describe("evolution", () => evolution(fixture));
    describe("histories", () => histories(fixture));
  });
}
