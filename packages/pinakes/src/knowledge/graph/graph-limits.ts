/** Every limit of the graph of a collection, with its unit last. */
import { sparqlLimits } from "../../sparql/index.ts";

export const graphLimits = Object.freeze({
  pageTriplesDefault: 100,
  pageTriplesMax: 10_000,
  /** Per write of a load … */
  writeQuadsMax: 10_000,
  writeCharsMax: 8_388_608,
  /** … and per atomic write, if the engine can do as much in one transaction. */
  atomicQuadsMax: 50_000,
  atomicCharsMax: 33_554_432,
  /** A body up to this size is buffered before it is parsed, so that its blank nodes can be named by its hash. */
  hashedBytesMax: 8_388_608,
  /** Exact triples in one removal. */
  removedTriplesMax: 10_000,
  /** Per operation of an update: the limit of one write of the store. */
  updateQuadsMax: 50_000,
  sparqlTimeoutMsDefault: sparqlLimits.timeoutMsDefault,
  sparqlTimeoutMsMax: sparqlLimits.timeoutMsMax,
  sparqlRowsMax: sparqlLimits.resultRowsMax,
});
