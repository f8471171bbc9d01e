import { itemStoreSuite } from "../../testing/item-store-suite.ts";
import { openMemoryItems } from "./index.ts";

itemStoreSuite({ name: "memory", open: ({ clock }) => openMemoryItems({ clock }) });
