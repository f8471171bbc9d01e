import type { Collection } from "@pinakes/client";
import { describe, expect, it } from "vitest";
import { ProblemError } from "../../../api/problem.ts";
import { changedFields, currentOf, only } from "./changes.ts";
import { errorAt, fieldErrorsOf } from "./field-errors.ts";
import { emptyValues, readValues, valuesOf } from "./form-values.ts";
import { firstWithErrors } from "./steps.ts";

const chunking = { type: "SENTENCE", unit: "char", chunk_size: 400, chunk_overlap: 0 };
const collection = {
  collection_id: "c",
  repository_id: "r",
  repository_name: "R",
  name: "C",
  description: "",
  chunking_strategy: chunking,
  own_chunking_strategy: chunking,
  allow_chunking_override: true,
  metadata: { tags: ["a", "b"], custom_fields: { z: 1, a: { y: 2, x: 3 } } },
  allowed_groups: ["ops, night", "dev"],
  embedding_model: "m",
  private: false,
} as unknown as Collection;

describe("the form of a collection", () => {
  it("a form that nobody touched changes nothing, whatever the collection holds", () => {
    const variants = [chunking, { type: "NONE", unit: "token", chunk_size: 0, chunk_overlap: 0 }, null].map((own) => ({
      ...collection,
      own_chunking_strategy: own,
    }));
    const more = { type: "RECURSIVE", unit: "token", chunk_size: 300, chunk_overlap: 30, separators: ["\n\n", '"'] };
    for (const one of [...variants, { ...collection, own_chunking_strategy: more }]) {
      const shown = { ...one, chunking_strategy: one.own_chunking_strategy ?? chunking } as Collection;
      const read = readValues(valuesOf(shown));
      expect(read.errors).toBeUndefined();
      expect(read.value === undefined ? ["unread"] : changedFields(currentOf(shown), read.value)).toEqual([]);
    }
  });

  it("only what was changed is sent", () => {
    const { value } = readValues({ ...valuesOf(collection), name: " New ", groups: " \n" });
    if (value === undefined) throw new Error("The values could not be read.");
    const changed = changedFields(currentOf(collection), value);
    expect(only(value, changed)).toEqual({ name: "New", allowed_groups: null });
  });

  it("what cannot be sent is refused at its field", () => {
    const { errors } = readValues({
      ...emptyValues,
      ownChunking: true,
      fields: "[1]",
      size: "many",
      separators: '["a", 1]',
    });
    expect(Object.keys(errors ?? {}).sort()).toEqual([
      "chunking_strategy.chunk_size",
      "chunking_strategy.separators",
      "metadata.custom_fields",
    ]);
  });

  it("a refusal of the server is about the field that it names, or about none", () => {
    const at = (status: number, detail: string, more: object = {}) =>
      fieldErrorsOf(new ProblemError(status, { detail, ...more }));
    expect(
      errorAt(at(400, "metadata.tags[0]: a tag has letters.", { field: "metadata.tags[0]" }), "metadata.tags"),
    ).toBe("A tag has letters.");
    expect(at(409, "A name exists.", { reason: "collection_name_taken" })).toEqual({ name: "A name exists." });
    expect(at(409, "An id exists.", { reason: "collection_exists" })).toEqual({ collection_id: "An id exists." });
    expect(at(409, "An id exists.", { reason: "repository_exists" })).toEqual({ repository_id: "An id exists." });
    expect(at(409, "The collection is being deleted.")).toEqual({});
    expect(at(400, "x", { errors: [{ path: "private", message: "is wrong" }] })).toEqual({ private: "Is wrong" });
    expect(at(503, "The store does not answer.")).toEqual({});
    expect(fieldErrorsOf(new Error("name: no problem of the server"))).toEqual({});
    expect(firstWithErrors(at(400, "allowed_groups[1]: a group is a text.", { field: "allowed_groups[1]" }))).toBe(
      "access",
    );
    expect(firstWithErrors(at(400, "elsewhere: is wrong.", { field: "elsewhere" }))).toBeUndefined();
  });
});
