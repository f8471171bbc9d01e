import { expect, it } from "vitest";
import {
  eventually,
  expectAccessible,
  expectNoSidewaysScroll,
  phone,
  screenshot,
  scrollUntil,
} from "./support/browser.ts";
import type { ConsoleServer } from "./support/server.ts";
import { consoleSuite } from "./support/console-suite.ts";

const hostile = "<b>bold</b><img src=x onerror='document.title=1'>";
const messages = 400;

async function seed(server: ConsoleServer): Promise<void> {
  const say = (session_id: string, index: number) => ({
    id: `${session_id}-${index}`,
    session_id,
    message_type: index % 2 === 0 ? "user" : "assistant",
    content: index === 1 ? hostile : `Message ${index} about clause ${index}`,
    token_count: 10,
    parent_message_id: index === 0 ? null : `${session_id}-${index - 1}`,
    timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString(),
  });
  for (let start = 0; start < messages; start += 20) {
    await server.api("POST", "/v1/agents/support/memories", {
      messages: Array.from({ length: 20 }, (_, index) => say("long", start + index)),
    });
  }
  await server.api("POST", "/v1/agents/support/memories", { messages: [say("short", 0), say("short", 1)] });
  await server.api("POST", "/v1/agents/billing/memories", {
    messages: [{ session_id: "one", message_type: "user", content: "Where is my refund?" }],
  });
}

consoleSuite("memories", { seed }, ({ server, open }) => {
  it("from agents to a long conversation: token counts, and which messages fit into a context", async () => {
    const { page, close } = await open("/memories");
    await page.getByRole("cell", { name: "billing" }).waitFor();
    await expectAccessible(page);
    await page.getByRole("cell", { name: "support" }).click();
    await page.getByRole("cell", { name: "long" }).click();
    await page.getByText("4,000", { exact: true }).waitFor();
    const feed = page.getByRole("feed", { name: "Conversation" });
    await feed.getByText("Message 0 about clause 0").waitFor();
    await feed.getByText(hostile).waitFor();
    await page.getByLabel("Max tokens").fill("100");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByText("10 messages included (100 tokens), 390 omitted.").waitFor();
    await feed.getByText("not in the context").first().waitFor();
    await expectAccessible(page);
    await screenshot(page, "memories-session");
    await scrollUntil(feed, feed.getByText(`Message ${messages - 1} about`));
    await feed.getByText("in the context", { exact: true }).last().waitFor();
    expect(await feed.getByRole("article").count()).toBeLessThan(60);
    await eventually(() => page.title()).toBe("Memories · Pinakes");
    await close();
  });

  it("a found message opens with its thread", async () => {
    const { page, close } = await open("/memories");
    await page.getByLabel("Search messages").fill("refund");
    await page.getByLabel("Mode", { exact: true }).selectOption({ label: "Keyword" });
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("cell", { name: "Where is my refund?" }).click();
    const thread = page.getByRole("dialog", { name: "Thread" });
    await thread.getByText("No parent.").waitFor();
    await thread.getByText("Where is my refund?").waitFor();
    await expectAccessible(page);
    await close();
  });

  it("a session is forked up to a message, and deleted only when its name is typed; on a phone", async () => {
    const { page, close } = await open("/memories?agent=support&session=short", phone);
    const first = page.getByRole("article").filter({ hasText: "Message 0" });
    await first.getByRole("button", { name: "Fork here" }).click();
    const fork = page.getByRole("dialog", { name: "Fork this session" });
    await fork.getByLabel("New session id").fill("branch");
    await expectAccessible(page);
    await fork.getByRole("button", { name: "Fork" }).click();
    await page.waitForURL(/session=branch/);
    await fork.waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "branch", exact: true }).waitFor();
    await page.getByText("short", { exact: true }).waitFor();
    expect(await server.api("GET", "/v1/agents/support/sessions/branch")).toMatchObject({
      message_count: 1,
      forked_from: "short",
    });
    await expectNoSidewaysScroll(page);
    await page.getByRole("button", { name: "Delete session" }).click();
    const confirm = page.getByRole("dialog", { name: "Delete session branch?" });
    const button = confirm.getByRole("button", { name: "Delete session" });
    expect(await button.isDisabled()).toBe(true);
    await confirm.getByLabel("Type branch to confirm").fill("branch");
    await button.click();
    await page.getByText("1 message deleted").waitFor();
    await page.getByRole("cell", { name: "long" }).waitFor();
    await page.getByRole("cell", { name: "branch" }).waitFor({ state: "detached" });
    await expectAccessible(page);
    await close();
  });
});
