/** A Pinakes with a scripted chat model and a collection about a pump, on the stores that people run. */
import { startPostgres } from "../../../src/drivers/postgres/test-server.ts";
import type { AskInput } from "../../../src/knowledge/index.ts";
import { startChatServer, type ChatServer } from "../../graph-retrieval/support/chat-server.ts";
import {
  newPlace,
  openTestPinakes,
  uploaded,
  type Place,
  type TestPinakes,
} from "../../knowledge/support/test-pinakes.ts";

export const pumpText = [
  "# The Harwell pump",
  "",
  "The Harwell pump starts at a pressure of 4.2 bar. It does not run below 5 °C, because the seals harden.",
  "",
  "Maintenance of the pump is due every 2,000 hours. The technician on duty replaces the filter.",
].join("\n");

export interface AnswerWorld extends AsyncDisposable {
  readonly test: TestPinakes;
  readonly model: ChatServer;
  readonly place: Place;
  readonly documentId: string;
  /** About the collection. */
  input(question: string, more?: Partial<AskInput>): AskInput;
}

export async function openAnswerWorld(engine: "memory" | "sqlite" | "postgres", models = true): Promise<AnswerWorld> {
  await using undo = new AsyncDisposableStack();
  const model = undo.use(await startChatServer());
  const chatModels = models
    ? { chatModels: [{ id: "writer", provider: "ollama", model: "test-1", baseUrl: model.url }] }
    : {};
  let items = {};
  if (engine === "postgres") {
    const server = await startPostgres();
    undo.defer(() => server.stop());
    items = { items: server.url };
  }
  const test = undo.use(
    await openTestPinakes(engine === "postgres" ? "elsewhere" : engine, { ...items, ...chatModels }),
  );
  const place = await newPlace(test);
  const { document_id: documentId } = await uploaded(place, "pump.md", pumpText);
  const opened = undo.move();
  return {
    test,
    model,
    place,
    documentId,
    input: (question, more = {}) => ({
      question,
      collections: [{ repository: place.repository, collection: place.collection }],
      ...more,
    }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
