/** Tests of W3C's suites that are expected to fail, each with its reason. All of them are refusals; none is a wrong answer. */
import type { ExpectedFailures } from "./support/suite.ts";

export const rdf11Failures: ExpectedFailures = {};
export const sparql10Failures: ExpectedFailures = {};
const loadIsOff = "LOAD is off, SILENT or not: no request makes the server call another (R-TG-126).";

export const sparql11Failures: ExpectedFailures = {
  "update-silent/load-silent": loadIsOff,
  "update-silent/load-into-silent": loadIsOff,
};
