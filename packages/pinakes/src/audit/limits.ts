/** Every limit of the audit, with its unit last. */
export const auditLimits = Object.freeze({
  /** Listed in the job itself; all of them are in the report's file. */
  findingsInJobMax: 100,
  /** Listed in the report's file; those above it are only counted. */
  findingsKeptMax: 10_000,
  detailCharsMax: 300,
  /** A repair is refused where more than this share of a collection is missing or unknown … */
  missingShareMax: 0.5,
  /** … and it is more than a handful. */
  missingMin: 5,
  /** Listed in the report. */
  refusalsKeptMax: 100,
  /** An object younger than this is left alone: its upload or its ingestion may be under way. */
  objectYoungMs: 3_600_000,
  /** How long rows and triples that no record names are watched where somebody may still be about to take them back. */
  suspectMs: 600_000,
  /** Vectors of an earlier generation are watched for so long: the re-index that made the new one may still be tidying up. */
  generationMs: 3_600_000,
  /** How long a suspicion is remembered, in seconds. */
  suspectSecondsMax: 172_800,
  /** An operation that failed, or of which nothing was heard for so long, is stuck. */
  operationSilentMs: 900_000,
  /** A removal that was written so long ago and not carried out. */
  removalLateMs: 600_000,
  /** How long the file of a report is kept. */
  reportMsMax: 7_776_000_000,
  /** Earlier generations of vectors that are looked for. */
  generationsMax: 20,
  /** Tries to count a collection that changes all the time. */
  countTriesMax: 10,
  /** Looks at vectors that somebody may be compacting; what is broken is broken in each. */
  manifestLooksMax: 3,
  pageItemsMax: 200,
  pageKeysMax: 1_000,
  pageQuadsMax: 500,
  /** In one round of the background. */
  roundStepsMax: 50,
  roundMsMax: 10_000,
  /** A step that failed so often is left out of the pass. */
  stepTriesMax: 3,
  /** Who took the round and is silent for so long has died. */
  roundLeaseMs: 300_000,
  /** From the end of a pass over everything to the next. */
  passPauseMs: 3_600_000,
});
