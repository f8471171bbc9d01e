/** Every limit of the graph's part in a search, with its unit last. */
export const graphSearchLimits = Object.freeze({
  hopsMax: 3,
  hopsDefault: 1,
  /** Edges that an answer shows. */
  edgesShownDefault: 20,
  edgesShownMax: 100,
  /** Passages that each of them names. */
  sourcesShownMax: 5,
  /** Runs of words of a question that are looked up. */
  lookupsMax: 48,
  /** Words of the longest of them. */
  runWordsMax: 5,
  seedsMax: 16,
  /** Entities that one name is taken for. */
  seedsPerNameMax: 8,
  /** Edges of one entity in one direction; an entity with more is known for too much to lead anywhere. */
  fanOutMax: 50,
  /** Entities from which the next hop begins. */
  frontierMax: 64,
  /** In all. */
  edgesMax: 1_000,
  passagesMax: 200,
  /** Lookups at a time. */
  atOnceMax: 16,
});
