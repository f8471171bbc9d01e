import { Link } from "@tanstack/react-router";
import { shellStrings } from "../strings/shell.ts";
import { buttonClass } from "../ui/button.tsx";
import { Empty } from "../ui/states.tsx";
import { useWindowTitle } from "../ui/window-title.ts";

const { title, back } = shellStrings.notFound;

export function NotFound() {
  useWindowTitle(title);
  return (
    <Empty
      title={title}
      action={
        <Link to="/" className={buttonClass()}>
          {back}
        </Link>
      }
    />
  );
}
