/** Validates the form of a new migration. */
import type { NewMigration } from "../../api/migrations.ts";
import { migrationStrings } from "../../strings/migrations.ts";
import { sourceOf, type FieldValues, type SourceKind } from "./source-fields.ts";

const s = migrationStrings.form;

export interface FormValues {
  readonly kind: SourceKind;
  readonly fields: FieldValues;
  /** JSON. */
  readonly more: string;
  readonly retainDays: string;
  readonly auto: boolean;
}

interface Read {
  /** Undefined while invalid. */
  readonly input: NewMigration | undefined;
  readonly errors: { readonly more?: string; readonly retainDays?: string };
}

export function readMigration({ kind, fields, more, retainDays, auto }: FormValues): Read {
  const extra = objectOf(more);
  // A moved collection is kept in the trash, for the trash's retention.
  const days = retainDays.trim() === "" || kind === "collection" ? undefined : Number(retainDays);
  const errors = {
    ...(extra === undefined ? { more: s.notObject } : {}),
    ...(days !== undefined && !Number.isInteger(days) ? { retainDays: s.notNumber } : {}),
  };
  if (extra === undefined || Object.keys(errors).length > 0) return { input: undefined, errors };
  const input = {
    source: sourceOf(kind, fields, extra),
    ...(days === undefined ? {} : { retain_days: days }),
    ...(auto ? { auto } : {}),
  };
  return { input, errors };
}

function objectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}
