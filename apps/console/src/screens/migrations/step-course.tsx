import type { MigrationState } from "@pinakes/client";
import { CircleCheck, CircleDashed, LoaderCircle } from "lucide-react";
import { migrationStrings as s } from "../../strings/migrations.ts";
import { placesOf, type Place } from "./steps.ts";

const icons = { done: CircleCheck, now: LoaderCircle, next: CircleDashed };
const looks: Readonly<Record<Place, string>> = { done: "text-good", now: "text-brand font-medium", next: "text-soft" };

/** The five steps in order. A rollback has none. */
export function StepCourse({ state }: { readonly state: MigrationState }) {
  const places = placesOf(state);
  if (places === undefined) return <p className="text-sm font-medium">{s.states[state]}</p>;
  return (
    <ol className="flex flex-wrap gap-x-6 gap-y-2 text-sm">
      {places.map((place, index) => {
        const Icon = icons[place];
        return (
          <li
            key={s.order[index]}
            aria-current={place === "now" ? "step" : undefined}
            className={`flex items-center gap-1.5 ${looks[place]}`}
          >
            <Icon className={place === "now" ? "size-4 animate-spin" : "size-4"} aria-hidden />
            {s.order[index]} <span className="sr-only">({s[place]})</span>
          </li>
        );
      })}
    </ol>
  );
}
