import { Page } from "../../ui/panel.tsx";

export function HomePage() {
  return <Page title="HomePage">…</Page>;
}
