/** Every limit of audits, with its unit last. */
export const auditLimits = Object.freeze({
  /** Listed in the job itself; more are in the report's file. */
  findingsInJobMax: 100,
  /** Listed in the report's file; the rest is only counted. */
  findingsKeptMax: 10_000,
  detailCharsMax: 300,
  /** A repair is refused if more than this share of a collection is missing or unknown … */
  missingShareMax: 0.5,
  /** … and more than this many. */
  missingMin: 5,
  /** Listed in the report. */
  refusalsKeptMax: 100,
  /** Objects younger than this are skipped: their upload or ingestion may be in progress. */
  objectYoungMs: 3_600_000,
  /** How long unnamed rows and triples are observed if a worker may still be about to remove them. */
  suspectMs: 600_000,
  /** How long vectors of an earlier generation are observed: the re-index that replaced them may still be cleaning up. */
  generationMs: 3_600_000,
  /** How long a suspicion is remembered, in seconds. */
  suspectSecondsMax: 172_800,
  /** A failed operation, or one without progress for this long, is stuck. */
  operationSilentMs: 900_000,
  /** Age of a removal that should have been executed. */
  removalLateMs: 600_000,
  /** How long the file of a report is kept. */
  reportMsMax: 7_776_000_000,
  /** Number of earlier generations of vectors that are checked. */
  generationsMax: 20,
  /** Attempts to count a collection that keeps changing. */
  countTriesMax: 10,
  /** Checks of vectors that may be compacted concurrently; only findings of all checks count. */
  manifestLooksMax: 3,
  pageItemsMax: 200,
  pageKeysMax: 1_000,
  pageQuadsMax: 500,
  /** Per background round. */
  roundStepsMax: 50,
  roundMsMax: 10_000,
  /** A step that failed this often is skipped in this pass. */
  stepTriesMax: 3,
  /** A process that took the round and is silent for this long has died. */
  roundLeaseMs: 300_000,
  /** Pause between the end of a pass and the next. */
  passPauseMs: 3_600_000,
});
