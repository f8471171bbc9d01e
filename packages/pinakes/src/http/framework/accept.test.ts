import { describe, expect, it } from "vitest";
import { chooseType, type Offer } from "./accept.ts";
import { HttpError } from "./http-error.ts";

const offers: readonly Offer<string>[] = [
  { types: ["application/sparql-results+json", "application/json"], value: "json" },
  { types: ["application/sparql-results+xml", "application/xml"], value: "xml" },
  { types: ["text/csv"], value: "csv" },
];
const chosen = (accept: string | undefined) => chooseType(accept, offers).value;

describe("content negotiation", () => {
  it("takes the best of what the client wants, the first among equals, and the first where nothing is asked", () => {
    expect(chosen(undefined)).toBe("json");
    expect(chosen(" ")).toBe("json");
    expect(chosen("*/*")).toBe("json");
    expect(chosen("text/*")).toBe("csv");
    expect(chosen("text/csv;q=0.4, application/sparql-results+xml;q=0.5")).toBe("xml");
    expect(chosen("text/csv, application/sparql-results+xml")).toBe("xml");
    expect(chosen("Application/JSON ; charset=utf-8")).toBe("json");
    expect(chosen("application/xml")).toBe("xml");
    expect(chosen("*/*;q=0.1, text/csv;q=0.2")).toBe("csv");
  });

  it("a type that is refused by name is not taken, although everything is", () => {
    expect(chosen("application/sparql-results+json;q=0, */*")).toBe("xml");
    expect(chosen("text/csv;q=1.5, application/xml;q=0.1")).toBe("xml");
  });

  it("what cannot be had is a 406 that names what can", () => {
    for (const accept of ["image/png", "text/csv;q=0", "nonsense", "text/html, application/pdf"]) {
      try {
        chosen(accept);
        expect.unreachable(accept);
      } catch (error) {
        expect(error).toBeInstanceOf(HttpError);
        expect(error).toMatchObject({
          status: 406,
          detail: expect.stringContaining(
            "application/sparql-results+json, application/sparql-results+xml, text/csv",
          ) as string,
        });
      }
    }
  });
});
