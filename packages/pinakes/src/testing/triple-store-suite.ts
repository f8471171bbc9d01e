/**
 * The conformance suite of the triple-store port. Every engine runs it on the real thing.
 *
 * @example
 * tripleStoreSuite("my engine", () => openMyTriples({ url }));
 */
import { describe } from "vitest";
import type { TripleStore } from "../ports/triple-store.ts";
import { ends } from "./triple-store/ends.ts";
import { TripleFixture, type TripleSuiteOptions } from "./triple-store/fixture.ts";
import { histories } from "./triple-store/histories.ts";
import { inputs } from "./triple-store/inputs.ts";
import { paging } from "./triple-store/paging.ts";
import { patterns } from "./triple-store/patterns.ts";
import { sources } from "./triple-store/sources.ts";
import { supporting } from "./triple-store/supporting.ts";
import { tenancy } from "./triple-store/tenancy.ts";

export type { TripleSuiteOptions } from "./triple-store/fixture.ts";

/** `open` returns a store over the same data each time, without data of the suite's tenants at first; the suite closes it. */
export function tripleStoreSuite(
  name: string,
  open: () => Promise<TripleStore>,
  options: TripleSuiteOptions = {},
): void {
  describe(`triple store: ${name}`, () => {
    const fixture = new TripleFixture(open, options);
    describe("patterns", () => patterns(fixture));
    describe("paging", () => paging(fixture));
    describe("supporting", () => supporting(fixture));
    describe("sources", () => sources(fixture));
    describe("tenancy", () => tenancy(fixture));
    describe("ends", () => ends(fixture));
    describe("inputs", () => inputs(fixture));
    describe("histories", () => histories(fixture));
  });
}
