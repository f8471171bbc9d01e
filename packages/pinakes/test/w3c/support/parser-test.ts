/** Tests of the parsers of RDF, whatever reads the files: in process, or a server over HTTP. */
import { hasCode } from "../../../src/domain/errors.ts";
import { termOf, type Quad } from "../../../src/domain/rdf.ts";
import type { RdfWriteFormat } from "../../../src/rdf/index.ts";
import { readByOxigraph } from "../../../src/rdf/test-rdf.ts";
import { sameDataset } from "./compare.ts";
import { mf, textOf, type W3cTest } from "./manifest.ts";
import { passed, wrong, type Outcome } from "./suite.ts";

/** The quads of a file, with the IRI that it is assumed to have. */
export type ReadFile = (format: RdfWriteFormat, file: string, base: string) => Promise<readonly Quad[]>;

const formats: Readonly<Record<string, RdfWriteFormat>> = {
  Turtle: "turtle",
  Trig: "trig",
  NTriples: "ntriples",
  NQuads: "nquads",
  XML: "rdfxml",
};

export async function parserTest({ type, node, facts, base }: W3cTest, read: ReadFile): Promise<Outcome> {
  const [, syntax = "", kind] =
    /^Test(Turtle|Trig|NTriples|NQuads|XML)(Eval|PositiveSyntax|NegativeSyntax|NegativeEval)$/.exec(type) ?? [];
  const format = formats[syntax];
  if (format === undefined) return wrong(`a test of the unknown type ${type}`);
  const action = termOf(facts.one(node, `${mf}action`) as string).value;
  if (kind === "NegativeSyntax" || kind === "NegativeEval") {
    try {
      return wrong(`accepted as ${JSON.stringify(await read(format, action, base(action))).slice(0, 300)}`);
    } catch (error) {
      if (hasCode(error, "INVALID")) return passed;
      throw error;
    }
  }
  const quads = await read(format, action, base(action));
  if (kind === "PositiveSyntax") return passed;
  const result = termOf(facts.one(node, `${mf}result`) as string).value;
  const expected = readByOxigraph(result.endsWith(".nq") ? "nquads" : "ntriples", textOf(result));
  return (await sameDataset(quads, expected)) ? passed : wrong(`read ${JSON.stringify(quads).slice(0, 600)}`);
}
