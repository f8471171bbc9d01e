/**
 * The conformance suite of the object-store port. Every driver runs it on its real store.
 *
 * @example
 * objectStoreSuite("my store", () => openMyObjects());
 */
import { describe } from "vitest";
import { bodies } from "./object-store/bodies.ts";
import { ObjectFixture, type ObjectSkip, type OpenObjects } from "./object-store/fixture.ts";
import { keys } from "./object-store/keys.ts";
import { lifetimes } from "./object-store/lifetimes.ts";
import { listing } from "./object-store/listing.ts";
import { tenancy } from "./object-store/tenancy.ts";

export interface ObjectStoreSuiteOptions {
  readonly skip?: readonly ObjectSkip[] | undefined;
  /** Durable stores: reopens the same data after the store was closed. */
  readonly reopen?: OpenObjects | undefined;
}

/** `open` returns a fresh, empty store; the suite closes it. */
export function objectStoreSuite(name: string, open: OpenObjects, options: ObjectStoreSuiteOptions = {}): void {
  describe(`object store: ${name}`, () => {
    const fixture = new ObjectFixture(name, open, options);
    describe("bodies", () => bodies(fixture));
    describe("listing", () => listing(fixture));
    describe("keys", () => keys(fixture));
    describe("tenancy", () => tenancy(fixture));
    describe("lifetimes", () => lifetimes(fixture));
  });
}
