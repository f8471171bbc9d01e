/**
 * Ties a zod schema, which validates and documents, to a type of the contract (`@pinakes/client`), which all callers compile against. If
 * the two drift apart, the schema does not compile.
 */
import type { JsonValue } from "@pinakes/client";
import type { z } from "zod";

/** A value as sent: what zod infers, read-only, and without the index signature of loose objects. Any JSON stays as it is. */
export type Sent<Value> = [JsonValue] extends [Value] ? Value : SentParts<Value>;
type SentParts<Value> = Value extends readonly unknown[]
  ? { readonly [Key in keyof Value]: Sent<Value[Key]> }
  : Value extends object
    ? { readonly [Key in keyof Value as IsOpen<Value, Key> extends true ? never : Key]: Sent<Value[Key]> }
    : Value;

type IsOpen<Value, Key extends keyof Value> = string extends Key ? (unknown extends Value[Key] ? true : false) : false;

/** Every property by name, also of the members of a union; index signatures have none. */
type Names<Value> = Value extends unknown
  ? keyof { [Key in keyof Value as string extends Key ? never : Key]: true }
  : never;

type Fits<Value, Shown, Name extends PropertyKey> =
  Extract<Value, Record<Name, unknown>> extends never
    ? Value extends Shown
      ? never
      : Name
    : Pick<Value, Name & keyof Value> extends Pick<Shown, Name & keyof Shown>
      ? never
      : Name;

/** The fields in which schema and contract differ. */
type Differences<Contract, Shown, Undocumented> =
  | Exclude<Names<Contract>, Names<Shown> | Undocumented>
  | Exclude<Names<Shown>, Names<Contract>>
  | Extract<Names<Shown>, Undocumented>
  | { [Name in Names<Contract> & Names<Shown>]: Fits<Contract, Shown, Name> }[Names<Contract> & Names<Shown>];

type Agreed<Contract, Shown, Undocumented> = [Differences<Contract, Shown, Undocumented>] extends [never]
  ? Contract extends Shown
    ? unknown
    : { readonly "the schema does not accept the type of the contract": never }
  : { readonly "schema and contract differ in": Differences<Contract, Shown, Undocumented> };

/**
 * The schema, typed as the contract. It must document every field of the contract except those in `Undocumented`, no other field, and
 * accept every value that the contract allows.
 *
 * @example
 * const Job = shape<contract.Job>()(z.object({ job_id: z.string(), … }).meta({ id: "Job" }));
 */
export function shape<Contract, Undocumented extends Names<Contract> = never>() {
  return <Schema extends z.ZodType>(
    schema: Schema & Agreed<Contract, Sent<z.output<Schema>>, Undocumented>,
  ): z.ZodType<Contract> => schema as unknown as z.ZodType<Contract>;
}
