import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readPickle } from "./pickle.ts";
import { chromaFiles, refusal } from "./test-support.ts";

/** Written by Python's own pickle, of an object with the class and the fields of Chroma's PersistentData. */
const byPython = {
  2: "gAJjY2hyb21hZGIuc2VnbWVudC5pbXBsLnZlY3Rvci5sb2NhbF9wZXJzaXN0ZW50X2huc3cKUGVyc2lzdGVudERhdGEKcQApgXEBfXECKFgOAAAAZGltZW5zaW9uYWxpdHlxA02AAVgUAAAAdG90YWxfZWxlbWVudHNfYWRkZWRxBEpzEQEAWAsAAABpZF90b19sYWJlbHEFfXEGKFgBAAAAYXEHSwFYBAAAAMOkLWJxCE0sAVgBAAAAY3EJSnIRAQB1WAsAAABsYWJlbF90b19pZHEKfXELKEsBaAdNLAFoCEpyEQEAaAl1WAwAAABpZF90b19zZXFfaWRxDH1xDShoB0sFaAiKBgAAAAAAAWgJSwd1dWIu",
  4: "gASV8wAAAAAAAACMMmNocm9tYWRiLnNlZ21lbnQuaW1wbC52ZWN0b3IubG9jYWxfcGVyc2lzdGVudF9obnN3lIwOUGVyc2lzdGVudERhdGGUk5QpgZR9lCiMDmRpbWVuc2lvbmFsaXR5lE2AAYwUdG90YWxfZWxlbWVudHNfYWRkZWSUSnMRAQCMC2lkX3RvX2xhYmVslH2UKIwBYZRLAYwEw6QtYpRNLAGMAWOUSnIRAQB1jAtsYWJlbF90b19pZJR9lChLAWgJTSwBaApKchEBAGgLdYwMaWRfdG9fc2VxX2lklH2UKGgJSwVoCooGAAAAAAABaAtLB3V1Yi4=",
  5: "gAWV8wAAAAAAAACMMmNocm9tYWRiLnNlZ21lbnQuaW1wbC52ZWN0b3IubG9jYWxfcGVyc2lzdGVudF9obnN3lIwOUGVyc2lzdGVudERhdGGUk5QpgZR9lCiMDmRpbWVuc2lvbmFsaXR5lE2AAYwUdG90YWxfZWxlbWVudHNfYWRkZWSUSnMRAQCMC2lkX3RvX2xhYmVslH2UKIwBYZRLAYwEw6QtYpRNLAGMAWOUSnIRAQB1jAtsYWJlbF90b19pZJR9lChLAWgJTSwBaApKchEBAGgLdYwMaWRfdG9fc2VxX2lklH2UKGgJSwVoCooGAAAAAAABaAtLB3V1Yi4=",
} as const;
/** `os.system("touch /tmp/pk/owned")`, in two protocols. */
const hostile = [
  "gASVPwAAAAAAAAB9lIwLaWRfdG9fbGFiZWyUjAVwb3NpeJSMBnN5c3RlbZSTlIwTdG91Y2ggL3RtcC9way9vd25lZJSFlFKUcy4=",
  "gAJ9cQBYCwAAAGlkX3RvX2xhYmVscQFjcG9zaXgKc3lzdGVtCnECWBMAAAB0b3VjaCAvdG1wL3BrL293bmVkcQOFcQRScQVzLg==",
];

describe("pickle", () => {
  it.each(Object.entries(byPython))("reads what Python writes with protocol %s", (_, base64) => {
    const dict = readPickle(Buffer.from(base64, "base64"), "x");
    expect(dict.get("dimensionality")).toBe(384);
    expect(dict.get("total_elements_added")).toBe(70_003);
    expect(dict.get("id_to_label")).toEqual(
      new Map([
        ["a", 1],
        ["ä-b", 300],
        ["c", 70_002],
      ]),
    );
    expect((dict.get("id_to_seq_id") as Map<string, number>).get("ä-b")).toBe(2 ** 40);
  });

  it("reads what Chroma's own server writes", async () => {
    const files = await chromaFiles("hnsw-l2");
    const [path, bytes] = [...files].find(([name]) => name.endsWith(".pickle")) as [string, Uint8Array];
    const dict = readPickle(bytes, path);
    expect((dict.get("id_to_label") as Map<string, number>).get("row-000")).toBe(1);
  });

  it("rejects every other class, and runs nothing", async () => {
    for (const base64 of hostile) {
      const error = await refusal(() => readPickle(Buffer.from(base64, "base64"), "d/index_metadata.pickle"));
      expect(error).toMatchObject({
        code: "CORRUPT",
        detail: expect.stringMatching(/d\/index_metadata\.pickle.*posix.*not Chroma's/) as unknown,
      });
    }
    expect(existsSync("/tmp/pk/owned")).toBe(false);
  });

  it("a file that is truncated or changed at any byte is read or rejected, and never throws anything else", async () => {
    const whole = Buffer.from(byPython[5], "base64");
    for (let end = 0; end < whole.length; end += 1)
      expect(await refusal(() => readPickle(whole.subarray(0, end), "x"))).toMatchObject({ code: "CORRUPT" });
    for (let at = 0; at < whole.length; at += 1) {
      for (const value of [0x00, 0x28, 0x2e, 0x52, 0x62, 0x63, 0x75, 0x81, 0xff]) {
        const changed = Buffer.from(whole);
        changed[at] = value;
        try {
          expect(readPickle(changed, "x")).toBeInstanceOf(Map);
        } catch (error) {
          expect(error).toMatchObject({ code: "CORRUPT" });
        }
      }
    }
  });
});
