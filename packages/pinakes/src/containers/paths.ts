/** Paths of a document type, so that a typo in an index or a query is a type error. */

/** Dotted paths up to three levels deep: "status", "metadata.user_id". */
export type PathOf<T, Depth extends readonly unknown[] = []> = Depth["length"] extends 3
  ? never
  : T extends readonly unknown[]
    ? never
    : T extends object
      ? { [K in keyof T & string]: K | `${K}.${PathOf<NonNullable<T[K]>, [...Depth, 0]>}` }[keyof T & string]
      : never;

export type ValueAt<T, P extends string> = P extends keyof T
  ? T[P]
  : P extends `${infer Head}.${infer Rest}`
    ? Head extends keyof T
      ? ValueAt<NonNullable<T[Head]>, Rest>
      : unknown
    : unknown;

/** What can be compared for equality at a path. */
export type KeyAt<T, P extends string> = [Extract<ValueAt<T, P>, string | number | boolean | null>] extends [never]
  ? string | number | boolean | null
  : Extract<ValueAt<T, P>, string | number | boolean | null>;
