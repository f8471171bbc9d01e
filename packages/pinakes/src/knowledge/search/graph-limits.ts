/** Every limit of graph search, with its unit last. */
export const graphSearchLimits = Object.freeze({
  hopsMax: 3,
  hopsDefault: 1,
  /** Edges in an answer. */
  edgesShownDefault: 20,
  edgesShownMax: 100,
  /** Chunks named by each edge. */
  sourcesShownMax: 5,
  /** Runs of words of a query that are looked up. */
  lookupsMax: 48,
  /** Words of the longest run. */
  runWordsMax: 5,
  seedsMax: 16,
  /** Entities matched per name. */
  seedsPerNameMax: 8,
  /** Edges of one entity in one direction; an entity with more is a hub that leads nowhere. */
  fanOutMax: 50,
  /** Entities from which the next hop starts. */
  frontierMax: 64,
  /** In total. */
  edgesMax: 1_000,
  passagesMax: 200,
  /** Concurrent lookups. */
  atOnceMax: 16,
});
