/** Every limit of the graph of a collection, with its unit last. */
import { sparqlLimits } from "../../sparql/index.ts";

export const graphLimits = Object.freeze({
  pageTriplesDefault: 100,
  pageTriplesMax: 10_000,
  /** Of one write of a load … */
  writeQuadsMax: 10_000,
  writeCharsMax: 8_388_608,
  /** … and of one that is all or nothing, where the engine can do so much in one transaction. */
  atomicQuadsMax: 50_000,
  atomicCharsMax: 33_554_432,
  /** A body up to this size is read as a whole before it is parsed, so that its blank nodes can be named by what it holds. */
  hashedBytesMax: 8_388_608,
  /** Given one by one to be removed. */
  removedTriplesMax: 10_000,
  /** Of one operation of an update: what one write of the store takes. */
  updateQuadsMax: 50_000,
  sparqlTimeoutMsDefault: sparqlLimits.timeoutMsDefault,
  sparqlTimeoutMsMax: sparqlLimits.timeoutMsMax,
  sparqlRowsMax: sparqlLimits.resultRowsMax,
});
