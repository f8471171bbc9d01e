import { Link } from "@tanstack/react-router";
import { shellStrings } from "../strings/shell.ts";
import { buttonClass } from "../ui/button.tsx";
import { Empty } from "../ui/states.tsx";

const { title, back } = shellStrings.notFound;

export function NotFound() {
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
