import { nameParts } from "../lib/shown-name.ts";
import { cx } from "../lib/class-names.ts";

/** A user-chosen name: isolates its text direction and shows invisible characters. */
export function ShownName({ of, className }: { readonly of: string; readonly className?: string }) {
  return (
    <bdi className={cx(className)}>
      {nameParts(of).map(({ text, control }, index) =>
        control ? (
          <span key={index} className="mx-0.5 rounded-sm border border-warn px-0.5 font-mono text-[0.75em] text-warn">
            {text}
          </span>
        ) : (
          text
        ),
      )}
    </bdi>
  );
}
