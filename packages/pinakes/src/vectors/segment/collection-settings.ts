/** The fixed settings of a collection. */
import type { Metric } from "../row.ts";

export interface CollectionSettings {
  readonly dims: number;
  readonly metric: Metric;
  /** Of stemming and stop words; "none" for neither. */
  readonly language: string;
}
