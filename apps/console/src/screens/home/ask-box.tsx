import { getRouteApi } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useState, type ReactNode } from "react";
import { homeStrings } from "../../strings/home.ts";
import { Button } from "../../ui/button.tsx";
import { inputClass } from "../../ui/field.tsx";
import { cx } from "../../lib/class-names.ts";

const s = homeStrings.ask;
const route = getRouteApi("/shell/");

/** Puts the query into the URL, where the answers read it. */
export function AskBox({
  questions = [],
  children,
}: {
  readonly questions?: readonly string[];
  readonly children?: ReactNode;
}) {
  const { q = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const [typed, setTyped] = useState(q);
  const [asked, setAsked] = useState(q);
  // Changed from outside: an example, or browser navigation.
  if (asked !== q) {
    setAsked(q);
    setTyped(q);
  }
  const ask = (question: string) =>
    void navigate({ search: { q: question.trim() === "" ? undefined : question.trim() } });
  return (
    <div className="flex flex-col gap-2">
      <form
        role="search"
        className="flex gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          ask(typed);
        }}
      >
        <input
          type="search"
          aria-label={s.label}
          placeholder={s.placeholder}
          className={cx(inputClass, "h-11 text-base")}
          value={typed}
          maxLength={questionCharsMax}
          onChange={({ target }) => setTyped(target.value)}
        />
        <Button type="submit" look="main" className="h-11" disabled={typed.trim() === ""}>
          <Search aria-hidden />
          {s.submit}
        </Button>
      </form>
      {questions.length > 0 && (
        <div className="flex flex-wrap items-center gap-2">
          <span className="text-xs text-soft">{s.examples}</span>
          {questions.map((question) => (
            <Button
              key={question}
              size="small"
              className="h-auto min-h-7 max-w-full py-1 text-left whitespace-normal"
              onClick={() => ask(question)}
            >
              {question}
            </Button>
          ))}
        </div>
      )}
      {children}
    </div>
  );
}

/** Longer than any question, within URL limits. */
const questionCharsMax = 1_000;
