import { Page } from "../../ui/panel.tsx";

export function TrashPage() {
  return <Page title="TrashPage">…</Page>;
}
