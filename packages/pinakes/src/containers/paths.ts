/** Paths of a document type, so that a typo in an index, a query or a filter is a type error. */
import type { Comparison } from "../domain/filter.ts";

/** Dotted paths up to three levels deep: "status", "metadata.user_id". */
export type PathOf<T, Depth extends readonly unknown[] = []> = Depth["length"] extends 3
  ? never
  : T extends readonly unknown[]
    ? never
    : T extends object
      ? { [K in keyof T & string]: K | `${K}.${PathOf<NonNullable<T[K]>, [...Depth, 0]>}` }[keyof T & string]
      : never;

/** An RFC 6901 pointer: for names that contain dots, and for paths deeper than the types follow. */
export type Pointer = `/${string}`;

export type ValueAt<T, P extends string> = P extends keyof T
  ? T[P]
  : P extends `${infer Head}.${infer Rest}`
    ? Head extends keyof T
      ? ValueAt<NonNullable<T[Head]>, Rest>
      : unknown
    : unknown;

type Scalar = string | number | boolean | null;

/** Values that can be compared for equality at a path. */
export type KeyAt<T, P extends string> = [Extract<ValueAt<T, P>, Scalar>] extends [never]
  ? Scalar
  : Extract<ValueAt<T, P>, Scalar>;

/** Values of a partition key at a path. */
export type PartitionValueAt<T, P extends string> = [Extract<ValueAt<T, P>, string | number | boolean>] extends [never]
  ? string | number | boolean
  : Extract<ValueAt<T, P>, string | number | boolean>;

/** A filter (domain/filter.ts) over the properties of a document. */
export type FilterOf<T> = {
  readonly and?: readonly FilterOf<T>[];
  readonly or?: readonly FilterOf<T>[];
  readonly not?: FilterOf<T>;
} & { readonly [P in PathOf<T> | Pointer]?: Scalar | Comparison };
