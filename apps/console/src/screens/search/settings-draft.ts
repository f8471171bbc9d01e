/** Settings while typing: all strings, so that a half-typed number is kept. */
import { numberParam, oneOfParam, textParam } from "../../lib/search-params.ts";
import { fusions, modes, type Settings } from "./search-state.ts";

export type SettingsDraft = Readonly<Record<keyof Settings, string>>;

export function draftOf({
  mode,
  limit,
  min,
  filter,
  asof,
  fusion,
  weight,
  diversity,
  hops,
  user,
  groups,
}: Settings): SettingsDraft {
  const text = (value: number | string | undefined) => (value === undefined ? "" : String(value));
  return {
    mode: mode ?? "hybrid",
    limit: text(limit),
    min: text(min),
    filter: text(filter),
    asof: text(asof),
    fusion: text(fusion),
    weight: text(weight),
    diversity: text(diversity),
    hops: text(hops),
    user: text(user),
    groups: text(groups),
  };
}

/** Omits defaults from the URL. */
export function settingsFrom(draft: SettingsDraft): Settings {
  const mode = oneOfParam(draft.mode, modes);
  return {
    mode: mode === "hybrid" ? undefined : mode,
    limit: numberOf(draft.limit),
    min: numberOf(draft.min),
    filter: textParam(draft.filter.trim()),
    asof: textParam(draft.asof.trim()),
    fusion: oneOfParam(draft.fusion, fusions),
    weight: numberOf(draft.weight),
    diversity: numberOf(draft.diversity),
    hops: numberOf(draft.hops),
    user: textParam(draft.user.trim()),
    groups: textParam(draft.groups.trim()),
  };
}

function numberOf(text: string): number | undefined {
  return text.trim() === "" ? undefined : numberParam(text);
}
