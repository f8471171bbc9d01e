/** Names of refusals that programs tell from others with the same code. */
export const problemReasons = [
  /** A repository has this id. */
  "repository_exists",
  /** A collection has this id. */
  "collection_exists",
  /** Another collection of the repository has this name. */
  "collection_name_taken",
  "file_type_not_accepted",
  "model_not_found",
  /** The request has a field that the endpoint does not know. */
  "unknown_field",
] as const;
export type ProblemReason = (typeof problemReasons)[number];
