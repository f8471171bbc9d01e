/** Search parameters are untrusted: each screen parses its own with these, and drops the rest. */
export function textParam(value: unknown): string | undefined {
  if (typeof value === "string" && value !== "") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

export function numberParam(value: unknown): number | undefined {
  const number = typeof value === "string" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

export function flagParam(value: unknown): true | undefined {
  return value === true || value === "true" ? true : undefined;
}

export function oneOfParam<const Choice extends string>(
  value: unknown,
  choices: readonly Choice[],
): Choice | undefined {
  return choices.find((choice) => choice === value);
}

export function listParam(value: unknown): readonly string[] | undefined {
  const list = Array.isArray(value) ? value.map(textParam).filter((one) => one !== undefined) : [];
  return list.length === 0 ? undefined : list;
}
